"""I03, I04: only a grant together with a membership opens an agent; whoever may not see it learns nothing."""

import uuid
from collections.abc import Callable

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.utils import timezone
from guardian.models import UserObjectPermission
from pytest_django import DjangoAssertNumQueries

from accounts.models import Organization, User
from accounts.services import remove_member, set_membership
from agents.access import agent_for, agents_for
from agents.models import Agent
from agents.permissions import (
    CODENAMES,
    PUBLIC_NAMES,
    UnknownPermission,
    grant,
    granted_codenames,
    revoke,
)
from audit.models import AuditEvent
from tests.factories import make_agent, make_member, make_organization

pytestmark = pytest.mark.django_db


def answer(user: User, permission: str = "agent:read", *, organization: str = "acme", agent: str = "guide") -> str:
    """Return what a door would answer."""
    try:
        access = agent_for(user, organization, agent, permission)
    except Http404:
        return "404"
    except PermissionDenied:
        return "403"
    assert access.may(permission)
    return "200"


def test_i03_one_table_names_every_permission_of_an_agent() -> None:
    assert set(CODENAMES) == {
        "agent:read",
        "agent:update",
        "agent:manage",
        "preference:view",
        "preference:manage",
        "memory:view",
        "memory:manage",
    }
    assert {PUBLIC_NAMES[codename]: codename for codename in PUBLIC_NAMES} == CODENAMES
    declared = {codename: name for codename, name in Agent._meta.permissions if codename != "operate"}
    assert declared == PUBLIC_NAMES


@pytest.mark.parametrize("held", CODENAMES)
def test_i03_a_grant_gives_itself_and_nothing_else(organization: Organization, agent: Agent, held: str) -> None:
    user = make_member(organization, agent, "una@acme.example", permissions=(held,))
    assert {name for name in CODENAMES if answer(user, name) == "200"} == {held}
    assert {name for name in CODENAMES if answer(user, name) == "403"} == set(CODENAMES) - {held}
    assert agent_for(user, "acme", "guide", held).permissions == {held}
    assert [agents_for(user, name).count() for name in CODENAMES] == [int(name == held) for name in CODENAMES]


@pytest.mark.parametrize("role", ["owner", "admin", "member"])
def test_i03_no_role_implies_a_permission(organization: Organization, agent: Agent, role: str) -> None:
    user = make_member(organization, agent, "una@acme.example", role=role, permissions=())
    assert answer(user) == "404"
    assert not agents_for(user).exists()


def test_i03_no_superuser_flag_implies_a_permission(organization: Organization, agent: Agent) -> None:
    root = User.objects.create_superuser("root@acme.example", "x" * 20)
    assert answer(root) == "404"
    set_membership(organization=organization, user=root, role="owner")
    assert answer(root) == "404"
    assert not agents_for(root).exists()
    grant(agent=agent, user=root, permission="agent:read", actor=None)
    assert answer(root) == "200"
    assert answer(root, "agent:update") == "403"


def test_i03_a_grant_counts_only_together_with_a_membership(
    organization: Organization, agent: Agent, owner: User
) -> None:
    remove_member(organization=organization, user=owner)
    assert answer(owner) == "404"
    assert not agents_for(owner).exists()
    set_membership(organization=organization, user=owner, role="member")
    assert answer(owner) == "200"


def test_i03_a_membership_elsewhere_does_not_help(agent: Agent, stranger: User) -> None:
    for name in CODENAMES:
        grant(agent=agent, user=stranger, permission=name, actor=None)
    assert answer(stranger) == "404"
    assert agents_for(stranger).get().organization.slug == "other"


@pytest.mark.parametrize("change", [{"deleted_at": timezone.now()}, {"is_active": False}])
def test_i01_a_deleted_or_suspended_user_is_served_no_agent(
    owner: User, agent: Agent, change: dict[str, object]
) -> None:
    User.objects.filter(pk=owner.pk).update(**change)
    owner.refresh_from_db()
    assert answer(owner) == "404"
    assert not agents_for(owner).exists()


def test_i04_a_stranger_and_a_wrong_address_get_the_same_answer(owner: User, agent: Agent, stranger: User) -> None:
    assert answer(stranger) == answer(owner, agent="absent") == answer(owner, organization="absent") == "404"
    assert answer(owner, agent="GUIDE") == answer(owner, agent="gui%") == "404"


def test_i04_who_may_see_but_not_do_is_told_so(owner: User, agent: Agent) -> None:
    assert answer(owner, "agent:update") == "200"
    assert answer(owner, "agent:manage") == "403"


def test_i04_absent_and_foreign_agents_cost_the_same_queries(
    owner: User, agent: Agent, stranger: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for user, slug in ((stranger, "guide"), (owner, "absent"), (owner, "guide")):
        with django_assert_num_queries(1):
            answer(user, agent=slug)


def test_i04_an_agent_of_the_same_name_in_another_organization_is_another(
    owner: User, agent: Agent, stranger: User
) -> None:
    other = Agent.objects.exclude(pk=agent.pk).get()
    assert other.slug == agent.slug
    assert agent_for(owner, "acme", "guide", "agent:read").agent == agent
    assert agent_for(stranger, "other", "guide", "agent:read").agent == other
    assert answer(owner, organization="other") == answer(stranger) == "404"


def test_i05_an_api_key_reaches_the_agents_of_its_own_organization_only(
    owner: User, organization: Organization, agent: Agent
) -> None:
    second = make_organization("second")
    other = make_agent(second, "guide")
    set_membership(organization=second, user=owner, role="member")
    grant(agent=other, user=owner, permission="agent:read", actor=None)
    assert answer(owner, organization="second") == "200"
    found = agent_for(owner, "acme", "guide", "agent:read", organization_id=organization.pk)
    assert found.agent == agent
    with pytest.raises(Http404):
        agent_for(owner, "second", "guide", "agent:read", organization_id=organization.pk)


def delete_agent(agent: Agent) -> None:
    Agent.objects.filter(pk=agent.pk).update(deleted_at=timezone.now())


def delete_organization(agent: Agent) -> None:
    Organization.objects.filter(pk=agent.organization_id).update(deleted_at=timezone.now())


@pytest.mark.parametrize("delete", [delete_agent, delete_organization])
def test_i04_a_deleted_agent_is_gone_for_everybody(owner: User, agent: Agent, delete: Callable[[Agent], None]) -> None:
    delete(agent)
    assert answer(owner) == "404"
    assert not agents_for(owner).exists()


def test_i04_a_new_agent_with_a_deleted_agents_name_inherits_no_grants(
    owner: User, organization: Organization, agent: Agent
) -> None:
    delete_agent(agent)
    make_agent(organization, agent.slug)
    assert answer(owner) == "404"


def test_i03_granting_and_revoking_are_audited_once(agent: Agent, owner: User, colleague: User) -> None:
    for _ in range(2):
        grant(agent=agent, user=colleague, permission="agent:manage", actor=owner)
    assert answer(colleague, "agent:manage") == "200"
    for _ in range(2):
        revoke(agent=agent, user=colleague, permission="agent:manage", actor=owner)
    assert answer(colleague, "agent:manage") == "403"
    events = AuditEvent.objects.filter(actor_id=owner.pk, subject_user_id=colleague.pk).order_by("id")
    assert [(event.action, event.agent_id, event.details) for event in events] == [
        ("permission.grant", agent.pk, {"permission": "agent:manage"}),
        ("permission.revoke", agent.pk, {"permission": "agent:manage"}),
    ]


@pytest.mark.parametrize("name", ["", "agent:delete", "read_agent", "agents.operate", "AGENT:READ", "folder:read"])
def test_i03_an_unknown_permission_is_refused(agent: Agent, owner: User, name: str) -> None:
    before = UserObjectPermission.objects.count()
    with pytest.raises(UnknownPermission, match="agent:read"):
        grant(agent=agent, user=owner, permission=name, actor=None)
    with pytest.raises(UnknownPermission):
        revoke(agent=agent, user=owner, permission=name, actor=None)
    assert UserObjectPermission.objects.count() == before


def test_i03_nobody_holds_anything_on_an_absent_agent(owner: User) -> None:
    assert granted_codenames(owner.pk, uuid.UUID(int=0)) == frozenset()
