"""The edit form may carry an expiry (F05)."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from consent.scope import Scope
from facts.models import Fact
from tests import factories
from tests.facts.page import ClientFor, bodies, url

pytestmark = pytest.mark.django_db


@pytest.fixture
def fact(consented: Scope) -> Fact:
    return factories.make_fact(consented)


def post(client: Any, fact: Fact, until: str) -> Any:
    return client.post(url("edit", fact), {"body": "Lives in Rome.", "expires_at": until})


def test_f05_an_edit_may_name_the_last_day_in_the_members_zone(client_for: ClientFor, owner: User, fact: Fact) -> None:
    User.objects.filter(pk=owner.pk).update(time_zone="Asia/Tokyo")
    day = timezone.localdate() + timedelta(days=12)
    assert post(client_for(owner), fact, day.isoformat()).status_code == 303
    successor = Fact.objects.get(supersedes_id=fact.pk)
    assert successor.expires_at.isoformat().startswith(f"{day}T14:59:59")


@pytest.mark.parametrize("until", ["2020-01-01", "2999-01-01", "tomorrow", "2026-13-40", "2026-02-30T10:00"])
def test_f05_a_past_far_or_unreadable_day_is_refused_and_what_was_typed_stays(
    client_for: ClientFor, owner: User, fact: Fact, consented: Scope, until: str
) -> None:
    answer = post(client_for(owner), fact, until)
    assert answer.status_code == 400
    assert "within the next 180 days" in answer.content.decode()
    assert "Lives in Rome." in answer.content.decode()
    assert bodies(consented) == {"Lives in Porto.": "active"}


def test_f05_without_a_choice_the_successor_lives_for_the_full_time(
    client_for: ClientFor, owner: User, fact: Fact
) -> None:
    assert post(client_for(owner), fact, "").status_code == 303
    successor = Fact.objects.get(supersedes_id=fact.pk)
    assert successor.expires_at - successor.created_at == timedelta(days=180)
