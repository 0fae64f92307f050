"""The pages of sessions through HTTP: list, settings, participants and deletion, and who may (C10, T02, I04)."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Organization, User
from agents.models import Agent
from audit.models import AuditEvent
from consent.scope import Scope
from conversations import sharing
from conversations.models import Message, Participant, Session, Turn
from conversations.services import Said, SessionGone, begin_turn
from conversations.surfaces import Surface
from extraction import runs
from extraction.models import Run
from extraction.services import extract
from facts.models import Fact
from tests import factories

pytestmark = pytest.mark.django_db
type ClientFor = Callable[..., Client]


def url(name: str, session: Session | uuid.UUID | None = None) -> str:
    found = [session.pk if isinstance(session, Session) else session] if session else []
    return reverse(name, args=["acme", "guide", *found])


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def events(action: str) -> list[Any]:
    return list(AuditEvent.objects.filter(action=action))


@pytest.fixture
def client(owner: User, client_for: ClientFor) -> Client:
    return client_for(owner)


@pytest.fixture
def session(agent: Agent, owner: User) -> Session:
    session = factories.make_session(agent, owner)
    factories.make_turn(session, "Where is the harbor?")
    session.refresh_from_db()
    return session


@pytest.fixture
def shared(session: Session, owner: User, colleague: User) -> Session:
    sharing.add_participant(session=session, user=colleague, actor=owner)
    return session


# --- the list ---------------------------------------------------------------------------------------------------------


def test_the_list_says_title_surface_visibility_and_whether_memory_was_used(
    client: Client, session: Session, agent: Agent, owner: User
) -> None:
    page = text(client.get(url("sessions")))
    assert "Where is the harbor?" in page
    assert all(word in page for word in ("Dashboard chat", "private", "memory was not used", "1 conversation"))
    Turn.objects.update(fact_ids=[uuid.uuid4()])
    sharing.set_public(session=session, public=True, actor=owner)
    factories.make_session(agent, owner, surface=Surface.SLACK)
    page = text(client.get(url("sessions")))
    assert all(word in page for word in ("public", "memory was used", "memory is not used here (Slack)"))


def test_the_list_is_searched_by_title_and_paged(client: Client, agent: Agent, owner: User) -> None:
    for number in range(30):
        session = factories.make_session(agent, owner)
        sharing.rename_session(session=session, title=f"Harbor 100% {number}" if number % 2 else f"Mill {number}")
    first, second = text(client.get(url("sessions"))), text(client.get(url("sessions"), {"page": "2"}))
    assert "Page 1 of 2" in first
    assert (first.count("session-row"), second.count("session-row")) == (25, 5)
    found = text(client.get(url("sessions"), {"q": "harbor 100%"}))
    assert found.count("session-row") == 15
    assert "Mill" not in found
    assert "No conversation has “nonsense”" in text(client.get(url("sessions"), {"q": "nonsense"}))
    assert client.get(url("sessions"), {"q": "a\x00b", "page": "x"}).status_code == 200


def test_the_list_takes_a_constant_number_of_queries(
    client: Client, agent: Agent, owner: User, django_assert_max_num_queries: Any
) -> None:
    for _ in range(20):
        factories.make_session(agent, owner)
    with django_assert_max_num_queries(10):
        client.get(url("sessions"))


def test_a_colleagues_sessions_are_listed_when_shared_and_say_nothing_of_her_memory(
    client_for: ClientFor, session: Session, owner: User, colleague: User
) -> None:
    Turn.objects.update(fact_ids=[uuid.uuid4()])
    assert "harbor" not in text(client_for(colleague).get(url("sessions")))
    sharing.add_participant(session=session, user=colleague, actor=owner)
    page = text(client_for(colleague).get(url("sessions")))
    assert "shared by Ana" in page
    assert "memory was" not in page


# --- settings ---------------------------------------------------------------------------------------------------------


def test_a_session_is_renamed_and_a_bad_title_stays_in_the_field(client: Client, session: Session) -> None:
    assert client.post(url("session-rename", session), {"title": " The harbor "}).status_code == 303
    session.refresh_from_db()
    assert session.title == "The harbor"
    for bad, said in (("x" * 121, "at most 120"), ("  ", "empty"), ("a\nb", "one line"), ("a\x00", "NUL")):
        response = client.post(url("session-rename", session), {"title": bad})
        assert response.status_code == 400
        assert said in text(response)
        assert f'value="{bad}"' in response.content.decode()
    session.refresh_from_db()
    assert session.title == "The harbor"


def test_c10_making_a_session_public_says_that_memory_rests(client: Client, session: Session) -> None:
    page = text(client.post(url("session-visibility", session), {"public": "yes"}, follow=True))
    assert "Memory no longer acts on it" in page
    assert "the conversation is public" in page
    client.post(url("session-visibility", session), {"public": "yes"})
    assert "private now" in text(client.post(url("session-visibility", session), {"public": "no"}, follow=True))
    assert client.post(url("session-visibility", session), {"public": "maybe"}).status_code == 400
    assert [event.details["public"] for event in events("session.visibility")] in ([True, False], [False, True])


def test_c10_adding_a_member_says_that_memory_no_longer_acts(
    client: Client, client_for: ClientFor, session: Session, colleague: User
) -> None:
    page = text(client.get(url("session", session)))
    assert "From then on memory is neither used nor written" in page
    assert "Memory acts here if you turned it on" in page
    page = text(client.post(url("session-add", session), {"email": "BEN@acme.example"}, follow=True))
    assert "Ben can read this conversation now. Memory no longer acts on it." in page
    assert "others can read this conversation" in page
    assert "harbor" in text(client_for(colleague).get(url("chat-session", session)))
    assert "could already" in text(client.post(url("session-add", session), {"email": "ben@acme.example"}, follow=True))
    (event,) = events("session.add_participant")
    assert (event.subject_user_id, event.object_id) == (colleague.pk, session.pk)


def test_c10_a_shared_session_neither_reads_nor_writes_memory_and_does_again_when_private(
    client: Client, shared: Session, colleague: User, owner: User, consented: Scope
) -> None:
    factories.make_fact(consented)
    client.post(reverse("chat-send", args=["acme", "guide", shared.pk]), {"message": "I like figs."})
    turn = Turn.objects.latest("created_at")
    assert (turn.memory_state, turn.fact_ids, turn.uses_memory) == ("shared_session", [], False)
    assert not Run.objects.exists()
    sharing.remove_participant(session=shared, user_id=colleague.pk, actor=owner)
    client.post(reverse("chat-send", args=["acme", "guide", shared.pk]), {"message": "I play chess."})
    assert Turn.objects.latest("created_at").memory_state == "used"
    extract(Run.objects.get().pk, clock=timezone.now)
    # What was said while others listened stays out of memory for good.
    looked_at = Message.objects.filter(passed_at__isnull=False, role="user")
    assert list(looked_at.values_list("content", flat=True)) == ["I play chess."]


@pytest.mark.parametrize("email", ["nobody@acme.example", "sam@other.example", "reader@acme.example", "not an address"])
def test_only_members_who_may_use_the_agent_are_added(
    client: Client, session: Session, stranger: User, organization: Organization, email: str
) -> None:
    factories.make_member(organization, None, "reader@acme.example")
    response = client.post(url("session-add", session), {"email": email})
    assert response.status_code == 400
    assert "No member with this address may use this agent" in text(response)
    assert email in response.content.decode()
    assert not Participant.objects.exists()


def test_the_number_of_participants_is_bounded(
    client: Client, shared: Session, organization: Organization, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharing, "MAX_PARTICIPANTS", 1)
    factories.make_member(organization, agent, "eva@acme.example")
    response = client.post(url("session-add", shared), {"email": "eva@acme.example"})
    assert response.status_code == 400
    assert "At most 1 people" in text(response)


def test_a_participant_leaves_and_is_removed_and_does_nothing_else(
    client: Client, client_for: ClientFor, shared: Session, colleague: User
) -> None:
    theirs = client_for(colleague)
    page = text(theirs.get(url("session", shared)))
    assert "Leave" in page
    assert "Rename" not in page
    assert "Delete" not in page
    for name, data in (
        ("session-rename", {"title": "Mine"}),
        ("session-visibility", {"public": "yes"}),
        ("session-add", {"email": "ben@acme.example"}),
        ("session-remove", {"user": str(colleague.pk)}),
        ("session-delete", {}),
    ):
        assert theirs.post(url(name, shared), data).status_code == 403
    assert client.post(url("session-leave", shared)).status_code == 403
    assert "You left the conversation" in text(theirs.post(url("session-leave", shared), follow=True))
    assert theirs.get(url("session", shared)).status_code == 404
    client.post(url("session-add", shared), {"email": "ben@acme.example"})
    client.post(url("session-remove", shared), {"user": str(colleague.pk)})
    assert client.post(url("session-remove", shared), {"user": "x"}).status_code == 400
    assert theirs.get(url("chat-session", shared)).status_code == 404
    assert len(events("session.remove_participant")) == 2


def test_a_participant_who_loses_the_agent_reads_no_more(
    client_for: ClientFor, shared: Session, colleague: User, organization: Organization
) -> None:
    from accounts.services import remove_member

    remove_member(organization=organization, user=colleague)
    assert client_for(colleague).get(url("session", shared)).status_code == 404


# --- deletion ---------------------------------------------------------------------------------------------------------


def test_t02_deleting_a_session_removes_its_text_and_keeps_facts(
    client: Client, shared: Session, consented: Scope
) -> None:
    message = Message.objects.get(role="user")
    fact = factories.make_fact(consented, source_ids=(message.pk,))
    page = text(client.get(url("session-delete", shared)))
    assert "Not deleted: facts that were learned from it" in page
    assert "all messages, the title" in page
    response = client.post(url("session-delete", shared), follow=True)
    assert "The conversation is deleted" in text(response)
    assert not Message.objects.exists()
    assert not Participant.objects.exists()
    shared.refresh_from_db()
    assert (shared.title, shared.deleted_at is not None) == ("", True)
    assert Fact.objects.get(pk=fact.pk).status == "active"
    assert "removed" in text(client.get(reverse("memory", args=["acme", "guide"])))
    (event,) = events("session.delete")
    assert (event.object_id, event.details) == (shared.pk, {"messages": 2})
    assert client.get(url("chat-session", shared)).status_code == 404
    assert client.post(url("session-delete", shared)).status_code == 404
    assert "No conversations yet" in text(client.get(url("sessions")))


def test_t02_a_session_with_a_running_turn_is_not_deleted(client: Client, session: Session, owner: User) -> None:
    now = timezone.now()
    begin_turn(session=session, speaker=owner, said=[Said("user", "Wait", now)], now=now)
    response = client.post(url("session-delete", session))
    assert response.status_code == 409
    assert "still answering" in text(response)
    assert Message.objects.count() == 3


def test_t02_what_waits_for_extraction_is_not_learned_from_a_deleted_session(
    session: Session, owner: User, consented: Scope
) -> None:
    turn, _message = factories.make_turn(session, "I live in Porto.")
    run = runs.schedule(turn, now=timezone.now())
    assert run is not None
    sharing.delete_session(session=session, actor=owner, now=timezone.now())
    extract(run.pk, clock=timezone.now)
    run.refresh_from_db()
    assert (run.state, run.error_code) == ("skipped", "session_deleted")
    assert not Fact.objects.exists()


def test_nothing_is_written_to_a_deleted_session(session: Session, owner: User, colleague: User) -> None:
    now = timezone.now()
    sharing.delete_session(session=session, actor=owner, now=now)
    with pytest.raises(SessionGone):
        begin_turn(session=session, speaker=owner, said=[Said("user", "Hi", now)], now=now)
    with pytest.raises(SessionGone):
        sharing.add_participant(session=session, user=colleague, actor=owner)
    with pytest.raises(SessionGone):
        sharing.delete_session(session=session, actor=owner, now=now)


# --- who may ----------------------------------------------------------------------------------------------------------

DOORS = {
    "sessions": "get",
    "session": "get",
    "session-rename": "post",
    "session-visibility": "post",
    "session-add": "post",
    "session-remove": "post",
    "session-leave": "post",
    "session-delete": "post",
}


@pytest.mark.parametrize(("name", "method"), DOORS.items())
def test_i04_strangers_find_nothing_and_anonymous_people_sign_in(
    client_for: ClientFor, session: Session, stranger: User, colleague: User, name: str, method: str
) -> None:
    address = url(name, None if name == "sessions" else session)
    assert getattr(client_for(stranger), method)(address).status_code == 404
    assert getattr(Client(), method)(address).status_code == 302
    if name != "sessions":
        assert getattr(client_for(colleague), method)(address).status_code == 404
