"""A session is read by its creator and its participants, as long as they may use the agent; for others it is absent."""

import uuid
from collections.abc import Callable

import pytest
from django.http import Http404
from django.utils import timezone

from accounts.models import Organization, User
from accounts.services import remove_member, set_membership
from agents.models import Agent
from agents.permissions import grant, revoke
from conversations.access import read_by_others, session_for, sessions_for
from conversations.models import Participant, Session
from tests.factories import make_agent, make_organization, make_session, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(agent: Agent, owner: User) -> Session:
    return make_session(agent, owner)


def reads(user: User, session: Session) -> bool:
    try:
        return session_for(user, session.pk) == session
    except Http404:
        return False


def add(session: Session, user: User) -> None:
    Participant.objects.create(organization_id=session.organization_id, session=session, user=user)


def test_i04_the_creator_reads_a_session_and_nobody_else(
    session: Session, agent: Agent, owner: User, colleague: User, stranger: User
) -> None:
    assert reads(owner, session)
    assert sessions_for(owner, agent).get() == session
    for other in (colleague, stranger, User.objects.create_superuser("root@acme.example", "x" * 20)):
        assert not reads(other, session)
        assert not sessions_for(other, agent).exists()
    with pytest.raises(Http404):
        session_for(owner, uuid.UUID(int=0))


def test_i04_a_participant_reads_the_session_that_she_was_added_to(
    session: Session, agent: Agent, owner: User, colleague: User
) -> None:
    other = make_session(agent, owner)
    add(session, colleague)
    assert reads(colleague, session)
    assert not reads(colleague, other)
    assert sessions_for(colleague, agent).get() == session


def no_membership(user: User, agent: Agent) -> None:
    remove_member(organization=agent.organization, user=user)


def no_permission(user: User, agent: Agent) -> None:
    for permission in ("agent:read", "agent:update"):
        revoke(agent=agent, user=user, permission=permission, actor=None)


def no_reading(user: User, agent: Agent) -> None:
    revoke(agent=agent, user=user, permission="agent:read", actor=None)


def no_agent(user: User, agent: Agent) -> None:
    Agent.objects.filter(pk=agent.pk).update(deleted_at=timezone.now())


def no_organization(user: User, agent: Agent) -> None:
    Organization.objects.filter(pk=agent.organization_id).update(deleted_at=timezone.now())


def no_user(user: User, agent: Agent) -> None:
    User.objects.filter(pk=user.pk).update(deleted_at=timezone.now())
    user.refresh_from_db()


def no_session(user: User, agent: Agent) -> None:
    Session.objects.update(deleted_at=timezone.now())


LOSSES = [no_membership, no_permission, no_reading, no_agent, no_organization, no_user, no_session]


@pytest.mark.parametrize("lose", LOSSES, ids=lambda lose: lose.__name__)
def test_i04_who_lost_the_agent_finds_no_session(
    session: Session, agent: Agent, owner: User, colleague: User, lose: Callable[[User, Agent], None]
) -> None:
    add(session, colleague)
    for user in (owner, colleague):
        assert reads(user, session)
        lose(user, agent)
        assert not reads(user, session)
        Session.objects.update(deleted_at=None)
        Agent.objects.update(deleted_at=None)
        Organization.objects.update(deleted_at=None)


def test_i04_a_new_agent_with_a_deleted_agents_name_opens_no_old_session(
    session: Session, agent: Agent, owner: User
) -> None:
    no_agent(owner, agent)
    successor = make_agent(agent.organization, agent.slug)
    grant(agent=successor, user=owner, permission="agent:read", actor=None)
    assert not reads(owner, session)
    assert not sessions_for(owner, successor).exists()


def test_i04_a_new_organization_with_a_deleted_ones_name_opens_no_old_session(
    session: Session, agent: Agent, owner: User
) -> None:
    no_organization(owner, agent)
    again = make_organization(agent.organization.slug)
    set_membership(organization=again, user=owner, role="member")
    grant(agent=make_agent(again, agent.slug), user=owner, permission="agent:read", actor=None)
    assert not reads(owner, session)


def test_c10_a_session_is_read_by_others_when_it_is_public_or_shared(session: Session, owner: User) -> None:
    assert not read_by_others(session)
    add(session, owner)  # the creator herself does not count
    assert not read_by_others(session)
    add(session, make_user("una@acme.example"))
    assert read_by_others(session)


def test_c10_a_public_session_is_read_by_others(session: Session) -> None:
    session.is_public = True
    assert read_by_others(session)
