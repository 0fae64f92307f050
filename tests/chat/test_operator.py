"""C03: an operator starts a session that belongs to a member; her words are nobody's memory, and she sees no memory."""

import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Organization, User
from accounts.services import remove_member
from agents.models import Agent
from audit.models import AuditEvent
from consent.scope import Scope
from conversations.models import Message, Session, Turn
from conversations.services import Said, begin_turn
from conversations.sharing import delete_session
from extraction import runs
from extraction.models import Run
from tests import factories
from tests.stub_server import Script

pytestmark = pytest.mark.django_db
type ClientFor = Callable[..., Client]
START = "/operator/sessions/"
STREAM = {"Accept": "text/event-stream"}


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


@pytest.fixture
def operator(db: None) -> User:
    user = factories.make_user("olga@ops.example", name="Olga", staff=True)
    user.user_permissions.add(Permission.objects.get(codename="operate"))
    return user


@pytest.fixture
def client(operator: User, client_for: ClientFor) -> Client:
    return client_for(operator)


def begin(client: Client, **more: str) -> Any:
    data = {"agent": "acme/guide", "email": "ana@acme.example", "message": "Ana asks: I live in Porto."}
    return client.post(START, data | more)


def test_c03_the_session_is_the_members_and_the_operators_turn_uses_no_memory(
    client: Client, client_for: ClientFor, operator: User, owner: User, consented: Scope
) -> None:
    factories.make_fact(consented, body="Plays the cello.")
    response = begin(client)
    session = Session.objects.get()
    assert (response.status_code, response["Location"]) == (303, f"{START}{session.pk}/")
    assert (session.created_by, session.surface) == (owner, "dashboardChat")
    turn = Turn.objects.get()
    assert (turn.speaker, turn.memory_state, turn.fact_ids, turn.uses_memory) == (operator, "other_speaker", [], False)
    assert not Run.objects.exists()
    page = text(client.get(response["Location"]))
    assert "I live in Porto." in page
    assert "The agent knew" not in page
    assert "Memory" not in page
    theirs = text(client_for(owner).get(reverse("chat-session", args=["acme", "guide", session.pk])))
    assert "Olga" in theirs
    assert "somebody else wrote this message" in theirs
    (event,) = AuditEvent.objects.filter(action="session.operator_turn")
    assert (event.actor_id, event.subject_user_id, event.object_id) == (operator.pk, owner.pk, session.pk)


def test_c03_what_an_operator_typed_is_no_evidence_when_the_member_goes_on(
    client: Client, client_for: ClientFor, owner: User, consented: Scope
) -> None:
    from extraction.services import extract

    begin(client)
    session = Session.objects.get()
    client_for(owner).post(reverse("chat-send", args=["acme", "guide", session.pk]), {"message": "I play chess."})
    extract(Run.objects.get().pk, clock=timezone.now)
    passed = Message.objects.filter(passed_at__isnull=False, role="user")
    assert list(passed.values_list("content", flat=True)) == ["I play chess."]


def test_c03_once_the_member_writes_the_operator_neither_writes_nor_reads_on(
    client: Client, client_for: ClientFor, owner: User
) -> None:
    begin(client)
    session = Session.objects.get()
    page = f"{START}{session.pk}/"
    assert client.post(page, {"message": "One more thing."}).status_code == 303
    factories.make_turn(session, "My secret is a violin.")
    shown = text(client.get(page))
    assert "One more thing." in shown
    assert "violin" not in shown
    assert "You cannot write in it any more" in shown
    assert client.post(page, {"message": "And?"}).status_code == 409
    assert Message.objects.filter(role="user").count() == 3


def test_c03_the_model_never_tells_an_operator_what_the_member_said(
    client: Client, talker: Agent, owner: User, operator: User, model_server: Script
) -> None:
    from chat import services

    begin(client, agent="acme/talker")
    session = Session.objects.get()
    factories.make_turn(session, "My secret is a violin.")
    now = timezone.now()
    services.start_turn(session=session, speaker=operator, said=[Said("user", "And?", now)], now=now)
    started = Turn.objects.latest("created_at")
    assert started.speaker == operator
    # However it came about that she writes again, the model is shown her own turns alone.
    from conversations.services import transcript

    assert "violin" not in " ".join(message.content for message in transcript(session, operator))
    assert "violin" in " ".join(message.content for message in transcript(session, owner))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"agent": "acme/nothing"}, "There is no such agent"),
        ({"agent": "a\x00/b"}, "There is no such agent"),
        ({"email": "nobody@acme.example"}, "No member with this address"),
        ({"email": "sam@other.example"}, "No member with this address"),
        ({"email": "OLGA@ops.example"}, "This is your own address"),
        ({"message": "  "}, "The text is empty"),
        ({"message": "x" * 32_001}, "at most 32000"),
    ],
)
def test_what_is_refused_stays_in_the_form(
    client: Client, owner: User, stranger: User, more: dict[str, str], said: str
) -> None:
    response = begin(client, **more)
    assert response.status_code == 400
    assert said in text(response)
    assert 'value="acme' in text(response) or "agent" in more
    assert not Session.objects.exists()


def test_a_failed_and_a_busy_turn_are_told(client: Client, talker: Agent, owner: User, model_server: Script) -> None:
    model_server.answers = [401]
    response = begin(client, agent="acme/talker")
    assert response.status_code == 303
    shown = text(client.get(response["Location"]))
    assert "refused the deployment" in shown
    assert "Try again" in shown
    now, session = timezone.now(), Session.objects.get()
    operator = Turn.objects.get().speaker
    begin_turn(session=session, speaker=operator, said=[Said("user", "Wait", now)], now=now)
    busy = client.post(response["Location"], {"message": "Again"})
    assert busy.status_code == 409
    assert "Again" in text(busy)


def read(response: Any) -> list[tuple[str, Any]]:
    """Return the events of a stream as (name, data)."""
    found = []
    for block in response.getvalue().decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "data" in fields:
            found.append((fields.get("event", "text"), json.loads(fields["data"])))
    return found


def test_c03_an_operators_first_message_and_the_next_are_streamed(
    client: Client, talker: Agent, owner: User, consented: Scope, model_server: Script
) -> None:
    model_server.answers = ["Good day to you.", "And again."]
    fields = {"agent": "acme/talker", "email": "ana@acme.example", "message": "Hello"}
    first, *pieces, (kind, last) = read(client.post(START, fields, headers=STREAM))
    session = Session.objects.get()
    page = f"{START}{session.pk}/"
    assert first[0] == "session"
    assert (first[1]["url"], first[1]["send"], first[1]["stop"]) == (page, page, f"{page}stop/")
    assert (first[1]["before"], first[1]["agent"], first[1]["title"]) == ("", "Talker", f"Started for {owner}")
    assert "".join(data for _kind, data in pieces) == "Good day to you."
    assert (kind, last["status"], last["problem"]) == ("done", "completed", "")
    assert "Good day to you." in last["turn"]
    assert set(last) == {"status", "problem", "turn"}
    assert "emory" not in last["turn"]
    second = read(client.post(page, {"message": "More"}, headers=STREAM))
    assert second[0][1]["before"] == first[1]["turn"]
    assert "And again." in second[-1][1]["turn"]
    assert "Hello" not in second[-1][1]["turn"]
    assert list(Turn.objects.values_list("status", flat=True)) == ["completed", "completed"]


@pytest.mark.parametrize(
    ("more", "field"),
    [({"agent": "acme/nothing"}, "agent"), ({"email": "nobody@acme.example"}, "email"), ({"message": " "}, "message")],
)
def test_the_script_is_told_which_field_is_refused(
    client: Client, agent: Agent, owner: User, more: dict[str, str], field: str
) -> None:
    data = {"agent": "acme/guide", "email": "ana@acme.example", "message": "Hello"} | more
    response = client.post(START, data, headers=STREAM)
    assert (response.status_code, response.json()["field"]) == (400, field)
    assert response.json()["problem"]


def test_c03_an_operator_stops_her_own_turn_and_never_the_members(
    client: Client, operator: User, owner: User, agent: Agent
) -> None:
    begin(client)
    session, now = Session.objects.get(), timezone.now()
    mine = begin_turn(session=session, speaker=operator, said=[Said("user", "Wait", now)], now=now)
    page = f"{START}{session.pk}/"
    piece = client.get(f"{page}turns/{mine.pk}/")
    assert f'hx-get="{page}turns/{mine.pk}/?looked=1"' in text(piece)
    assert f'action="{page}stop/"' in text(piece)
    assert client.post(page, {"message": "And?"}, headers=STREAM).json()["problem"].startswith("The agent is still")
    assert client.post(f"{page}stop/", {"turn": mine.pk}, headers=STREAM).status_code == 204
    mine.refresh_from_db()
    assert mine.stop_requested_at is not None
    Turn.objects.filter(pk=mine.pk).update(status="stopped")
    assert "hx-get" not in text(client.get(f"{page}turns/{mine.pk}/"))
    theirs = begin_turn(session=session, speaker=owner, said=[Said("user", "Hi", now)], now=now)
    assert client.post(f"{page}stop/", {"turn": theirs.pk}).status_code == 404
    assert client.get(f"{page}turns/{theirs.pk}/").status_code == 404
    assert client.post(f"{page}stop/", {"turn": "x"}).status_code == 400
    theirs.refresh_from_db()
    assert theirs.stop_requested_at is None
    assert "Try again" not in text(client.get(page))


def test_an_operator_finds_only_what_she_started(
    client: Client, client_for: ClientFor, agent: Agent, owner: User, organization: Organization
) -> None:
    session = factories.make_session(agent, owner)
    factories.make_turn(session, "Private")
    for found in (session.pk, uuid.uuid4()):
        assert client.get(f"{START}{found}/").status_code == 404
        assert client.post(f"{START}{found}/", {"message": "Hi"}).status_code == 404
        assert client.post(f"{START}{found}/stop/", {"turn": found}).status_code == 404
    begin(client)
    mine = Session.objects.exclude(pk=session.pk).get()
    assert f"{START}{mine.pk}/" in text(client.get(START))
    other = factories.make_user("otto@ops.example", staff=True)
    other.user_permissions.add(Permission.objects.get(codename="operate"))
    assert client_for(other).get(f"{START}{mine.pk}/").status_code == 404
    remove_member(organization=organization, user=owner)
    assert "You cannot write in it any more" in text(client.get(f"{START}{mine.pk}/"))
    delete_session(session=mine, actor=owner, now=timezone.now())
    assert client.get(f"{START}{mine.pk}/").status_code == 404


def test_members_and_other_staff_find_nothing_and_anonymous_people_sign_in(client_for: ClientFor, owner: User) -> None:
    staff = factories.make_user("tom@ops.example", staff=True)
    for user in (owner, staff):
        assert client_for(user).get(START).status_code == 404
        assert begin(client_for(user)).status_code == 404
    assert Client().get(START).status_code == 302
    assert not Session.objects.exists()


def test_nothing_of_an_operators_turn_is_scheduled(agent: Agent, owner: User, operator: User, consented: Scope) -> None:
    session, now = factories.make_session(agent, owner), timezone.now()
    turn = begin_turn(session=session, speaker=operator, said=[Said("user", "I live in Porto.", now)], now=now)
    turn.status = Turn.Status.COMPLETED
    assert runs.schedule(turn, now=now) is None
