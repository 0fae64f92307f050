"""The chat page through HTTP: sessions, sending with and without a stream, stopping, and who may (C03, C09, C10)."""

import json
import threading
import uuid
from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Organization, User
from agents.models import Agent
from chat import leftover, stops
from consent.scope import Scope
from conversations.models import Message, Participant, Session, Turn
from conversations.services import Reply, Said, begin_turn, finish_turn
from conversations.surfaces import Surface
from tests import factories
from tests.stub_server import Script

pytestmark = pytest.mark.django_db
type ClientFor = Callable[..., Client]
NAMES = ["acme", "guide"]
STREAM = {"Accept": "text/event-stream"}


def url(name: str = "chat", session: Session | uuid.UUID | None = None, agent: str = "guide") -> str:
    found = [session.pk if isinstance(session, Session) else session] if session else []
    return reverse(name, args=["acme", agent, *found])


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def leave(response: Any) -> None:
    """Close an answer as a server does when its client has gone, and keep the test's database connection."""
    with mock.patch.object(connection, "close_if_unusable_or_obsolete"):
        response.close()


def read(response: Any) -> list[tuple[str, Any]]:
    """Return the (event, data) pairs of a streamed answer."""
    pairs = []
    for block in b"".join(response.streaming_content).decode().split("\n\n"):
        lines = block.split("\n")
        kind = next((line[7:] for line in lines if line.startswith("event: ")), "text")
        pairs += [(kind, json.loads(line[6:])) for line in lines if line.startswith("data: ")]
    return pairs


@pytest.fixture
def client(owner: User, client_for: ClientFor) -> Client:
    return client_for(owner)


@pytest.fixture
def session(agent: Agent, owner: User) -> Session:
    return factories.make_session(agent, owner)


def test_c03_the_first_message_opens_a_session_and_leads_to_its_reply(client: Client, owner: User) -> None:
    assert "New conversation" in text(client.get(url()))
    response = client.post(url("chat-send-first"), {"message": "Hello there"})
    session = Session.objects.get()
    reply = Message.objects.get(role="assistant")
    assert response.status_code == 303
    assert response["Location"] == f"{url('chat-session', session)}#message-{reply.pk}"
    assert (session.surface, session.created_by_id) == (Surface.DASHBOARD_CHAT, owner.pk)
    page = text(client.get(url("chat-session", session)))
    assert "Hello there" in page
    assert f'id="message-{reply.pk}"' in page
    assert reply.content.split("\n")[0] in page


def test_c03_a_reply_is_streamed_and_stored(client: Client, session: Session) -> None:
    response = client.post(url("chat-send", session), {"message": "Hello there"}, headers=STREAM)
    assert response["Content-Type"] == "text/event-stream"
    assert response["Cache-Control"] == "no-store"
    events = read(response)
    turn = Turn.objects.get()
    assert events[0][0] == "session"
    assert events[0][1]["url"] == url("chat-session", session)
    assert events[0][1]["turn"] == str(turn.pk)
    assert events[-1][0] == "done"
    assert (events[-1][1]["status"], events[-1][1]["memory"]) == ("completed", "no_consent")
    said = "".join(data for kind, data in events if kind == "text")
    assert said == Message.objects.get(role="assistant").content
    assert f'id="turn-{turn.pk}"' in events[-1][1]["turn"]
    assert turn.status == Turn.Status.COMPLETED


def test_a_stream_that_nobody_reads_leaves_the_turn_stopped(client: Client, session: Session) -> None:
    response: Any = client.post(url("chat-send", session), {"message": "Hello there"}, headers=STREAM)
    leave(response)
    turn = Turn.objects.get()
    assert (turn.status, turn.error_code) == (Turn.Status.STOPPED, "client_gone")
    assert "Try again" in text(client.get(url("chat-session", session)))


def left_half_way(client: Client, session: Session) -> None:
    response: Any = client.post(url("chat-send", session), {"message": "Hello there"}, headers=STREAM)
    pieces = iter(response.streaming_content)
    next(pieces), next(pieces)
    leave(response)


def test_c03_a_reply_that_is_left_half_way_is_there_when_she_comes_back(
    client: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leftover, "_start", lambda work: work())  # in this thread, which sees the test's transaction
    left_half_way(client, session)
    turn, reply = Turn.objects.get(), Message.objects.get(role="assistant")
    assert turn.status == Turn.Status.COMPLETED
    assert reply.content.split("\n")[0] in text(client.get(url("chat-session", session)))


def test_no_more_replies_go_on_alone_than_there_is_room_for(
    client: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leftover, "_room", threading.BoundedSemaphore(1))
    leftover._room.acquire()
    left_half_way(client, session)
    assert Turn.objects.get().status == Turn.Status.STOPPED


def test_c03_a_reply_that_goes_on_alone_is_stopped_when_asked(
    client: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stops, "STOP_CHECK_SECONDS", 0.0)

    def stop_first(work: Callable[[], None]) -> None:
        client.post(url("chat-stop", session), {"turn": str(Turn.objects.get().pk)})
        work()

    monkeypatch.setattr(leftover, "_start", stop_first)
    left_half_way(client, session)
    turn = Turn.objects.get()
    assert (turn.status, turn.error_code) == (Turn.Status.STOPPED, "asked")


def test_c03_a_running_turn_asks_for_itself_until_its_reply_is_there(
    client: Client, client_for: ClientFor, session: Session, owner: User, colleague: User
) -> None:
    now = timezone.now()
    turn = begin_turn(session=session, speaker=owner, said=[Said("user", "First", now)], now=now)
    piece = reverse("chat-turn", args=[*NAMES, session.pk, turn.pk])
    assert f'hx-get="{piece}?looked=1"' in text(client.get(url("chat-session", session)))
    answer = client.get(piece, {"looked": "7"})
    assert f'hx-get="{piece}?looked=8" hx-trigger="load delay:2s"' in text(answer)
    assert (answer["HX-Retarget"], answer["HX-Reswap"]) == (f"#turn-{turn.pk}", "outerHTML")
    tired = text(client.get(piece, {"looked": "9999"}))
    assert "hx-get" not in tired
    assert "Reload the page" in tired
    finish_turn(turn=turn, status=Turn.Status.COMPLETED, reply=Reply("There."), at=now, now=now)
    ended = text(client.get(piece))
    assert "There." in ended
    assert "hx-get" not in ended
    assert client.get(reverse("chat-turn", args=[*NAMES, session.pk, uuid.uuid4()])).status_code == 404
    assert client_for(colleague).get(piece).status_code == 404


def test_a_stream_names_the_turn_before_so_that_another_tab_is_noticed(client: Client, session: Session) -> None:
    earlier, _message = factories.make_turn(session, "Earlier")
    events = read(client.post(url("chat-send", session), {"message": "Hello there"}, headers=STREAM))
    assert events[0][1]["before"] == str(earlier.pk)


def test_c09_what_the_agent_knew_is_shown_to_the_creator_alone(
    client: Client, client_for: ClientFor, session: Session, consented: Scope, colleague: User
) -> None:
    fact = factories.make_fact(consented, body="Lives in Porto.", key="home.city")
    gone = factories.make_fact(consented, body="Likes tea.", key="drink")
    client.post(url("chat-send", session), {"message": "Hello there"})
    gone.status, gone.deleted_at = "deleted", timezone.now()
    gone.save()
    page = text(client.get(url("chat-session", session)))
    assert "The agent knew 2 facts about you" in page
    assert "Lives in Porto." in page
    assert "1 is no longer listed" in page
    assert f"{reverse('memory', args=NAMES)}#fact-{fact.pk}" in page
    Participant.objects.create(organization_id=session.organization_id, session=session, user=colleague)
    others = text(client_for(colleague).get(url("chat-session", session)))
    assert "Hello there" in others
    assert "The agent knew" not in others
    assert "Lives in Porto." not in others


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("no_consent", "you have not turned it on"),
        ("withdrawn", "you turned it off"),
        ("kill_switch", "whole deployment"),
        ("read_failed", "could not be read"),
        ("shared_session", "others can read this conversation"),
        ("key_switch", "this API key"),
        ("empty", "no fact was stored"),
    ],
)
def test_the_page_says_why_memory_did_not_act(client: Client, session: Session, state: str, said: str) -> None:
    turn, _message = factories.make_turn(session, "Hello")
    Turn.objects.filter(pk=turn.pk).update(memory_state=state)
    assert said in text(client.get(url("chat-session", session)))


def test_c10_a_participant_reads_and_does_not_write(
    client_for: ClientFor, session: Session, colleague: User, owner: User
) -> None:
    assert client_for(colleague).get(url("chat-session", session)).status_code == 404
    Participant.objects.create(organization_id=session.organization_id, session=session, user=colleague)
    page = text(client_for(colleague).get(url("chat-session", session)))
    assert "Only Ana can write in it" in page
    assert 'id="composer"' not in page
    assert client_for(colleague).post(url("chat-send", session), {"message": "Hi"}).status_code == 403
    assert not Turn.objects.exists()
    assert "memory is neither used nor written" in text(client_for(owner).get(url("chat-session", session)))


def test_a_session_of_the_api_is_listed_and_read_only(client: Client, agent: Agent, owner: User) -> None:
    session = factories.make_session(agent, owner, surface=Surface.API)
    factories.make_turn(session, "Asked by a program")
    assert url("chat-session", session) in text(client.get(url()))
    page = text(client.get(url("chat-session", session)))
    assert "Asked by a program" in page
    assert 'id="composer"' not in page
    assert client.post(url("chat-send", session), {"message": "Hi"}).status_code == 403


def test_a_session_is_reached_through_its_own_agent_only(
    client: Client, session: Session, organization: Organization, owner: User
) -> None:
    from agents.permissions import grant

    other = factories.make_agent(organization, "second")
    grant(agent=other, user=owner, permission="agent:read", actor=None)
    assert client.get(url("chat-session", session, agent="second")).status_code == 404
    assert client.post(url("chat-send", session, agent="second"), {"message": "Hi"}).status_code == 404


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("x" * 32_001, "at most 32000 are allowed"),
        ("a\x00b", "NUL character"),
        ("a\ufffdb", "half of a character"),
        ("  \n ", "The text is empty"),
    ],
)
def test_a_refused_message_stays_in_the_box(client: Client, session: Session, message: str, said: str) -> None:
    for address in (url("chat-send", session), url("chat-send-first")):
        response = client.post(address, {"message": message})
        assert response.status_code == 400
        assert said in text(response)
        assert message in response.content.decode()
        streamed = client.post(address, {"message": message}, headers=STREAM)
        assert streamed.status_code == 400
        assert said in streamed.json()["problem"]
    assert not Turn.objects.exists()
    assert Session.objects.count() == 1


def test_a_busy_session_is_told_so_and_keeps_the_text(client: Client, session: Session, owner: User) -> None:
    now = timezone.now()
    turn = begin_turn(session=session, speaker=owner, said=[Said("user", "First", now)], now=now)
    response = client.post(url("chat-send", session), {"message": "Second"})
    assert response.status_code == 409
    assert "still answering" in text(response)
    assert "Second" in text(response)
    assert client.post(url("chat-send", session), {"message": "Second"}, headers=STREAM).status_code == 409
    assert str(turn.pk) in text(client.get(url("chat-session", session)))  # its stop form


def test_stop_marks_the_running_turn(client: Client, session: Session, owner: User) -> None:
    now = timezone.now()
    turn = begin_turn(session=session, speaker=owner, said=[Said("user", "First", now)], now=now)
    assert client.post(url("chat-stop", session), {"turn": str(turn.pk)}, headers=STREAM).status_code == 204
    turn.refresh_from_db()
    assert turn.stop_requested_at is not None
    assert client.post(url("chat-stop", session), {"turn": str(uuid.uuid4())}).status_code == 303
    assert client.post(url("chat-stop", session), {"turn": "nonsense"}).status_code == 400
    assert client.get(url("chat-stop", session)).status_code == 405


def test_a_failed_turn_says_why_and_can_be_sent_again(
    client: Client, talker: Agent, owner: User, model_server: Script
) -> None:
    broken = factories.make_agent(talker.organization, "talker", base_url="http://127.0.0.1:9/v1")
    session = factories.make_session(broken, owner)
    response = client.post(url("chat-send", session, "talker"), {"message": "Hello there"})
    assert response.status_code == 303
    page = text(client.get(url("chat-session", session, "talker")))
    assert "Failed" in page
    assert "could not be reached" in page
    assert "Try again" in page
    events = read(client.post(url("chat-send", session, "talker"), {"message": "Hello there"}, headers=STREAM))
    assert events[-1][0] == "failed"
    assert "could not be reached" in events[-1][1]["problem"]
    assert "Try again" in events[-1][1]["turn"]


def test_what_model_and_member_say_is_shown_as_text(client: Client, session: Session) -> None:
    factories.make_turn(session, "<b>bold</b>", "<script>alert(1)</script><img src=https://evil.example/x>")
    page = text(client.get(url("chat-session", session)))
    assert "<b>bold" not in page
    assert "<script>alert" not in page
    assert "<img" not in page


def test_a_long_transcript_is_paged_and_its_page_takes_a_constant_number_of_queries(
    client: Client, session: Session, django_assert_max_num_queries: Any
) -> None:
    turn, first = factories.make_turn(session, "The very first")
    Message.objects.bulk_create(
        Message(
            organization_id=session.organization_id,
            session=session,
            turn=turn,
            position=position,
            role="user",
            content=f"Line {position}",
            at=timezone.now(),
        )
        for position in range(2, 450)
    )
    with django_assert_max_num_queries(14):
        page = text(client.get(url("chat-session", session)))
    assert "Line 449" in page
    assert f"message-{first.pk}" not in page
    assert "?before=50" in page
    assert f"message-{first.pk}" in text(client.get(url("chat-session", session), {"before": "50"}))
    assert client.get(url("chat-session", session), {"before": "x"}).status_code == 200


@pytest.fixture(params=["chat", "chat-session", "chat-send-first", "chat-send", "chat-stop"])
def door(request: pytest.FixtureRequest, session: Session) -> tuple[str, str]:
    """The method and the address of every door in turn."""
    method = "get" if request.param in ("chat", "chat-session") else "post"
    return method, url(request.param, None if request.param in ("chat", "chat-send-first") else session)


def test_anonymous_people_are_sent_to_sign_in(door: tuple[str, str]) -> None:
    method, address = door
    response = getattr(Client(), method)(address)
    assert (response.status_code, response["Location"].split("?")[0]) == (302, reverse("login"))


def test_i04_a_stranger_gets_404_and_a_member_without_read_403(
    client_for: ClientFor, door: tuple[str, str], stranger: User, agent: Agent
) -> None:
    method, address = door
    updater = factories.make_member(agent.organization, agent, "u@acme.example", permissions=("agent:update",))
    assert getattr(client_for(stranger), method)(address).status_code == 404
    assert getattr(client_for(updater), method)(address).status_code == 403


def test_wrong_methods_and_posts_without_the_csrf_token_are_refused(
    client: Client, client_for: ClientFor, door: tuple[str, str], owner: User
) -> None:
    method, address = door
    assert client.put(address).status_code == 405
    assert getattr(client, "post" if method == "get" else "get")(address).status_code == 405
    strict = client_for(owner, enforce_csrf_checks=True)
    assert strict.post(address, {"message": "Hi"}).status_code == 403
    assert not Turn.objects.exists()


def test_a_colleagues_session_and_one_that_never_was_are_both_absent(
    client_for: ClientFor, session: Session, colleague: User
) -> None:
    for address in (url("chat-session", session), url("chat-session", uuid.uuid4())):
        assert client_for(colleague).get(address).status_code == 404
    assert client_for(colleague).post(url("chat-send", session), {"message": "Hi"}).status_code == 404
