"""C04, T02, C10: what connectors, owners and turns do to one session at the same moment."""

from collections.abc import Sequence

import pytest
from django.utils import timezone

from accounts.models import Organization, User
from agents.models import Agent
from conversations import sharing
from conversations.connectors import hear, open_thread
from conversations.models import Message, Outsider, Participant, Session, Turn
from conversations.services import Said, begin_turn
from conversations.surfaces import Surface
from tests import factories
from tests.threads import together

pytestmark = pytest.mark.django_db(transaction=True)


def kinds(outcomes: Sequence[object]) -> list[str]:
    return sorted(type(outcome).__name__ for outcome in outcomes)


def test_c04_of_many_first_messages_one_opens_the_thread(agent: Agent, owner: User) -> None:
    now = timezone.now()
    outcomes = together(
        *[lambda: open_thread(agent=agent, owner=owner, surface=Surface.SLACK, thread_id="T", now=now)] * 6
    )
    assert kinds(outcomes) == ["Session"] * 6
    session = Session.objects.get()
    together(*[lambda: hear(session=session, external_user_id="U", email="", public=True)] * 4)
    assert Outsider.objects.get().user is None


def test_the_cap_of_participants_holds_at_once(
    agent: Agent, owner: User, organization: Organization, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharing, "MAX_PARTICIPANTS", 2)
    session = factories.make_session(agent, owner)
    people = [factories.make_member(organization, agent, f"p{number}@acme.example") for number in range(5)]
    outcomes = together(
        *[lambda who=who: sharing.add_participant(session=session, user=who, actor=owner) for who in people]
    )
    assert kinds(outcomes) == ["TooManyParticipants"] * 3 + ["bool"] * 2
    assert Participant.objects.count() == 2


def test_t02_a_turn_and_the_deletion_of_its_session_never_both_win(agent: Agent, owner: User) -> None:
    for _ in range(4):
        session, now = factories.make_session(agent, owner), timezone.now()
        outcomes = together(
            lambda session=session, now=now: begin_turn(  # type: ignore[misc]
                session=session, speaker=owner, said=[Said("user", "Hi", now)], now=now
            ),
            lambda session=session, now=now: sharing.delete_session(session=session, actor=owner, now=now),  # type: ignore[misc]
        )
        assert kinds(outcomes) in (["SessionBusy", "Turn"], ["NoneType", "SessionGone"])
        session.refresh_from_db()
        gone = session.deleted_at is not None
        assert Turn.objects.filter(session=session).exists() is not gone
        assert Message.objects.filter(session=session).exists() is not gone
