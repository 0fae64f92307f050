"""Query sets that are compiled once: they find what Django would find, whatever the values are."""

import uuid
from typing import Any

import pytest
from django.db.models import Exists, OuterRef
from django.db.models.functions import Upper

from accounts.models import Membership, Organization, User
from agents.models import Agent
from database.compiled import Compiled

pytestmark = pytest.mark.django_db


def make(*, slug: str, user_id: uuid.UUID) -> Any:
    member = Membership.objects.filter(user=user_id, organization=OuterRef("organization"))
    return Agent.objects.live().filter(Exists(member), slug=slug).annotate(shout=Upper("slug"))


EXAMPLES = {"slug": "an-agent", "user_id": uuid.UUID(int=1)}


def test_it_finds_the_row_with_what_comes_along(agent: Agent, owner: User, django_assert_num_queries: Any) -> None:
    compiled = Compiled(make, examples=EXAMPLES, related=["organization", "provider"], more=["shout"])
    for _ in range(7):  # the server prepares a statement at its sixth use
        with django_assert_num_queries(1):
            found: Any = compiled.first(slug=agent.slug, user_id=owner.pk)
            assert (found, found.organization, found.provider) == (agent, agent.organization, agent.provider)
            assert (found.shout, found.provider.kind) == ("GUIDE", agent.provider.kind)
    stored = Agent.objects.get(pk=agent.pk)
    assert [getattr(found, field.attname) for field in Agent._meta.concrete_fields] == [
        getattr(stored, field.attname) for field in Agent._meta.concrete_fields
    ]
    found.name = "Another"
    found.save(update_fields=["name"])
    assert Agent.objects.get(pk=agent.pk).name == "Another"


def test_other_values_find_other_rows_or_none(agent: Agent, owner: User, stranger: User) -> None:
    compiled = Compiled(make, examples=EXAMPLES)
    assert compiled.first(slug=agent.slug, user_id=owner.pk) == agent
    assert compiled.first(slug=agent.slug, user_id=uuid.uuid4()) is None
    assert compiled.first(slug="an-agent", user_id=owner.pk) is None


def test_a_value_that_the_statement_has_no_place_for_is_refused(organization: Organization) -> None:
    compiled = Compiled(lambda *, slug, more: Organization.objects.filter(slug=slug), examples={"slug": "a", "more": 5})
    with pytest.raises(ValueError, match="no place for more"):
        compiled.first(slug="acme", more=1)
