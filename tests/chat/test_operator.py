"""C03: an operator starts a session that belongs to a member; her words are nobody's memory, and she sees no memory."""

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
    assert "Send your message again" in text(client.get(response["Location"]))
    now, session = timezone.now(), Session.objects.get()
    operator = Turn.objects.get().speaker
    begin_turn(session=session, speaker=operator, said=[Said("user", "Wait", now)], now=now)
    busy = client.post(response["Location"], {"message": "Again"})
    assert busy.status_code == 409
    assert "Again" in text(busy)


def test_an_operator_finds_only_what_she_started(
    client: Client, client_for: ClientFor, agent: Agent, owner: User, organization: Organization
) -> None:
    session = factories.make_session(agent, owner)
    factories.make_turn(session, "Private")
    for found in (session.pk, uuid.uuid4()):
        assert client.get(f"{START}{found}/").status_code == 404
        assert client.post(f"{START}{found}/", {"message": "Hi"}).status_code == 404
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
