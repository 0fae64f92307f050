"""C04: connectors enter through one address; threads become sessions, people are mapped or not, memory rests."""

import functools
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Organization, User
from accounts.services import create_api_key, remove_member
from agents.models import Agent, Provider
from chat import services, stops
from chat.guardrails import Policy, Rule
from chat.policies import save_policy
from consent.scope import Scope
from conversations.access import read_by_others
from conversations.connectors import open_thread
from conversations.models import Message, Outsider, Participant, Session, Turn
from conversations.services import Said, begin_turn
from conversations.sharing import delete_session
from conversations.surfaces import TRIGGERED, USES_FACTS, Surface
from extraction.models import Run
from tests import factories
from tests.stub_server import Script
from tests.threads import together

pytestmark = pytest.mark.django_db
type Trigger = Callable[..., Any]


@pytest.fixture
def connector_key(organization: Organization, owner: User) -> str:
    return create_api_key(organization=organization, user=owner, name="Slack", scope="triggers").secret


@pytest.fixture
def trigger(connector_key: str, agent: Agent) -> Trigger:
    def post(
        surface: str = "slack", *, secret: str = connector_key, body: Any = None, idempotent: str = "", **more: Any
    ) -> Any:
        plain = {"agent": "acme/guide", "text": "Hello there", "thread": "C1/17", "external_user": "U7"}
        return Client(raise_request_exception=False).post(
            f"/v1/triggers/{surface}",
            data=json.dumps(plain | more if body is None else body),
            content_type="application/json",
            headers={"Authorization": f"Bearer {secret}"} | ({"Idempotency-Key": idempotent} if idempotent else {}),
        )

    return post


def refusal(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


@pytest.mark.parametrize("surface", TRIGGERED)
def test_c04_every_connectors_surface_runs_turns_and_uses_no_memory(
    trigger: Trigger, consented: Scope, surface: Surface
) -> None:
    factories.make_fact(consented, body="Lives in Porto.")
    response = trigger(surface, text="Where do I live?", email="ana@acme.example")
    assert response.status_code == 200, response.json()
    answer = response.json()
    session = Session.objects.get()
    assert (str(session.pk), session.surface) == (answer["session_id"], surface)
    assert answer["reply"] == Message.objects.get(role="assistant").content
    assert "Porto" not in answer["reply"]
    assert (answer["memory"], response["X-Memory"]) == ("surface", "surface")
    turn = Turn.objects.get(pk=answer["turn_id"])
    assert (turn.status, turn.fact_ids, turn.memory_state) == ("completed", [], "surface")
    assert not Run.objects.exists()


def test_c04_the_table_of_surfaces_decides() -> None:
    assert set(USES_FACTS) == set(Surface)
    assert {surface for surface, uses in USES_FACTS.items() if uses} == set(Surface) - set(TRIGGERED)


@pytest.mark.parametrize(
    ("surface", "expected"),
    [
        ("studio", (400, "surface_not_triggered")),
        ("dashboardChat", (400, "surface_not_triggered")),
        ("api", (400, "surface_not_triggered")),
        ("Slack", (404, "unknown_surface")),
        ("carrierPigeon", (404, "unknown_surface")),
    ],
)
def test_c04_other_surfaces_are_refused(trigger: Trigger, surface: str, expected: tuple[int, str]) -> None:
    assert refusal(trigger(surface)) == expected
    assert not Session.objects.exists()


def test_c04_a_thread_is_one_session_and_the_model_sees_its_past(
    trigger: Trigger, talker: Agent, model_server: Script
) -> None:
    first = trigger(agent="acme/talker", text="One").json()
    second = trigger(agent="acme/talker", text="Two").json()
    elsewhere = trigger(agent="acme/talker", thread="C1/18").json()
    other_place = trigger("teams", agent="acme/talker").json()
    without = [trigger(agent="acme/talker", thread="").json() for _ in range(2)]
    assert first["session_id"] == second["session_id"]
    assert len({answer["session_id"] for answer in (first, elsewhere, other_place, *without)}) == 5
    assert [message["content"] for message in model_server.chats()[1]["messages"][1:]] == ["One", "Hello.", "Two"]


def test_c04_a_thread_is_unique_by_constraint_until_its_session_is_deleted(agent: Agent, owner: User) -> None:
    now = timezone.now()
    place: dict[str, Any] = {"agent": agent, "owner": owner, "surface": Surface.SLACK, "thread_id": "T"}
    session = open_thread(**place, now=now)
    assert open_thread(**place, now=now) == session
    with pytest.raises(IntegrityError, match="session_thread_once"), transaction.atomic():
        Session.objects.create(
            organization=agent.organization,
            agent=agent,
            created_by=owner,
            surface="slack",
            external_thread_id="T",
            last_activity_at=now,
        )
    delete_session(session=session, actor=owner, now=now)
    assert open_thread(**place, now=now) != session


def test_two_peoples_connectors_never_meet_in_a_thread(
    trigger: Trigger, organization: Organization, colleague: User
) -> None:
    theirs = create_api_key(organization=organization, user=colleague, name="Slack 2", scope="triggers").secret
    assert trigger().json()["session_id"] != trigger(secret=theirs).json()["session_id"]


def test_c04_a_mapped_member_speaks_for_herself_and_reads_the_session(
    trigger: Trigger, colleague: User, client_for: Callable[..., Client]
) -> None:
    answer = trigger(email="BEN@acme.example").json()
    assert answer["mapped"] is True
    assert trigger(text="Again").json()["mapped"] is True  # remembered
    session = Session.objects.get()
    assert Participant.objects.get(session=session).user == colleague
    assert set(Turn.objects.values_list("speaker", "external_speaker_id")) == {(colleague.pk, "")}
    page = client_for(colleague).get(reverse("chat-session", args=["acme", "guide", session.pk]))
    assert "Hello there" in page.content.decode()


@pytest.mark.parametrize("email", ["", "sam@other.example", "nobody@acme.example", "removed@acme.example"])
def test_c04_whoever_is_no_live_member_stays_outside(
    trigger: Trigger, stranger: User, organization: Organization, agent: Agent, email: str
) -> None:
    removed = factories.make_member(organization, agent, "removed@acme.example")
    remove_member(organization=organization, user=removed)
    assert trigger(email=email).json()["mapped"] is False
    session = Session.objects.get()
    assert Outsider.objects.get(session=session).user is None
    assert not Participant.objects.exists()
    assert Message.objects.get(role="user").speaker is None
    assert Turn.objects.get().external_speaker_id == "U7"
    assert read_by_others(session)


def test_c04_a_connectors_user_is_one_member_in_a_thread(trigger: Trigger, colleague: User) -> None:
    trigger(email="ben@acme.example", public=False)
    assert refusal(trigger(email="ana@acme.example", public=True)) == (409, "mapped_to_another")
    assert not Session.objects.get().is_public
    assert Turn.objects.count() == 1


def test_a_connector_marks_a_session_public_and_private(trigger: Trigger) -> None:
    for public, expected in ((None, False), (True, True), (None, True), (False, False)):
        trigger(public=public)
        assert Session.objects.get().is_public is expected


def test_c04_a_key_opens_what_its_scope_says(trigger: Trigger, key: str, connector_key: str) -> None:
    assert refusal(trigger(secret=key)) == (403, "wrong_key_scope")
    bearer = {"Authorization": f"Bearer {connector_key}"}
    chat = Client().post(
        "/v1/chat/completions", data={"model": "acme/guide"}, content_type="application/json", headers=bearer
    )
    assert refusal(chat) == (403, "wrong_key_scope")
    assert "scope 'chat'" in chat.json()["error"]["message"]
    assert Client().get("/v1/models", headers=bearer).status_code == 403
    assert not Session.objects.exists()


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"text": " "}, (400, "missing_required_parameter")),
        ({"text": None}, (400, "missing_required_parameter")),
        ({"text": ["x"]}, (400, "invalid_type")),
        ({"text": "a\x00b"}, (400, "nul")),
        ({"external_user": ""}, (400, "missing_required_parameter")),
        ({"external_user": "x" * 201}, (400, "too_long")),
        ({"thread": "a\nb"}, (400, "line_break")),
        ({"thread": 7}, (400, "invalid_type")),
        ({"public": "yes"}, (400, "invalid_type")),
        ({"surprise": 1}, (400, "unknown_parameter")),
        ({"event_id": 7}, (400, "invalid_type")),
        ({"event_id": ""}, (400, "invalid_value")),
        ({"event_id": "Ev 7"}, (400, "invalid_value")),
        ({"event_id": "Ev7", "idempotent": "Ev8"}, (400, "invalid_value")),
        ({"agent": "guide"}, (404, "agent_not_found")),
        ({"agent": "other/guide"}, (404, "agent_not_found")),
        ({"agent": "acme/nothing"}, (404, "agent_not_found")),
        ({"body": []}, (400, "invalid_type")),
    ],
)
def test_bad_triggers_say_what_is_wrong(
    trigger: Trigger, stranger: User, more: dict[str, Any], expected: tuple[int, str]
) -> None:
    assert refusal(trigger(**more)) == expected
    assert not Session.objects.exists()


def test_a_busy_thread_says_so(trigger: Trigger, owner: User) -> None:
    trigger()
    session, now = Session.objects.get(), timezone.now()
    begin_turn(session=session, speaker=owner, said=[Said("user", "Wait", now)], now=now)
    answer = trigger()
    assert refusal(answer) == (409, "session_busy")
    assert answer["Retry-After"] == "1"


def test_a_failing_model_is_an_error_with_its_status(trigger: Trigger, talker: Agent, model_server: Script) -> None:
    model_server.answers = [401]
    response = trigger(agent="acme/talker")
    assert response.status_code == 502
    assert response.json()["error"]["code"] == "unauthorized"
    assert Turn.objects.get().status == "failed"


def test_c04_an_event_that_comes_again_runs_once_and_gets_the_first_answer(
    trigger: Trigger, talker: Agent, model_server: Script
) -> None:
    model_server.answers = [{"text": "Good day.", "finish_reason": "length"}, "Another."]
    event = {"agent": "acme/talker", "event_id": "Ev08MFMKH6", "thread": ""}
    first, second = trigger(**event, email="ben@acme.example"), trigger(**event, email="ben@acme.example")
    assert second.status_code == 200
    assert second.json() == first.json()
    assert (first.json()["reply"], first.json()["status"], first.json()["finish_reason"]) == (
        "Good day.",
        "completed",
        "length",
    )
    assert (second["Idempotent-Replayed"], second["X-Session-Id"]) == ("true", first["X-Session-Id"])
    assert "Idempotent-Replayed" not in first
    assert len(model_server.chats()) == Session.objects.count() == Turn.objects.count() == 1


def test_c04_the_header_and_the_field_name_the_same_event(trigger: Trigger) -> None:
    trigger(event_id="Ev7")
    for again in ({"idempotent": "Ev7"}, {"idempotent": "Ev7", "event_id": "Ev7"}):
        assert trigger(**again)["Idempotent-Replayed"] == "true"
    assert Turn.objects.count() == 1


@pytest.mark.parametrize("more", [{"text": "Something else"}, {"surface": "teams"}, {"thread": "C1/18"}])
def test_c04_another_message_under_the_same_event_is_refused(trigger: Trigger, more: dict[str, str]) -> None:
    trigger(event_id="Ev7")
    response = trigger(**more, event_id="Ev7")
    assert refusal(response) == (422, "idempotency_key_reused")
    assert response.json()["error"]["param"] == "event_id"
    assert Turn.objects.count() == 1


def test_c04_each_key_has_events_of_its_own(trigger: Trigger, organization: Organization, colleague: User) -> None:
    theirs = create_api_key(organization=organization, user=colleague, name="Slack 2", scope="triggers").secret
    trigger(event_id="Ev7")
    assert "Idempotent-Replayed" not in trigger(event_id="Ev7", secret=theirs)
    assert Turn.objects.count() == 2


def test_c04_an_event_whose_turn_failed_or_never_began_runs_when_it_comes_again(
    trigger: Trigger, talker: Agent, owner: User, model_server: Script
) -> None:
    model_server.answers = [401, "Hello."]
    event = {"agent": "acme/talker", "event_id": "Ev7"}
    assert trigger(**event).status_code == 502
    assert trigger(**event).json()["reply"] == "Hello."
    session, now = Session.objects.get(), timezone.now()
    waiting = begin_turn(session=session, speaker=owner, said=[Said("user", "Wait", now)], now=now)
    busy = trigger(**event | {"event_id": "Ev8"})
    assert (refusal(busy), busy["Retry-After"]) == ((409, "session_busy"), "1")
    Turn.objects.filter(pk=waiting.pk).update(status="stopped")
    assert trigger(**event | {"event_id": "Ev8"}).status_code == 200


def test_c04_a_blocked_message_is_not_judged_twice_for_one_event(
    trigger: Trigger, organization: Organization, owner: User
) -> None:
    rule = Rule("00000000-0000-4000-8000-000000000001", "phrases", "owl")
    policy = Policy((rule,), (), "We do not talk about that.", "")
    save_policy(organization=organization, policy=policy, enabled=True, read_version=0, actor=owner, now=timezone.now())
    answers = [trigger(text="An owl!", event_id="Ev7") for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    assert answers[0].json()["status"] == "input_blocked"
    assert answers[0].json()["reply"] == policy.refusal
    assert Turn.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_c04_of_an_event_that_comes_four_times_at_once_one_runs(
    trigger: Trigger, talker: Agent, model_server: Script
) -> None:
    model_server.answers = [{"text": "Good day.", "delay": 0.3}]
    event = functools.partial(trigger, agent="acme/talker", event_id="Ev7", thread="")
    answers = together(*[event] * 4)
    codes = sorted(getattr(answer, "status_code", 0) for answer in answers)
    assert codes[0] == 200
    assert set(codes) <= {200, 409}
    assert len(model_server.chats()) == Session.objects.count() == Turn.objects.count() == 1
    assert event()["Idempotent-Replayed"] == "true"


@pytest.mark.django_db(transaction=True)
def test_c03_the_owner_of_a_connector_stops_a_reply_that_is_read_whole(
    trigger: Trigger,
    talker: Agent,
    owner: User,
    colleague: User,
    client_for: Callable[..., Client],
    model_server: Script,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(services, "KEEP_ALIVE_SECONDS", 0.1)
    monkeypatch.setattr(stops, "STOP_CHECK_SECONDS", 0.0)
    model_server.answers = [{"text": "late", "delay": 20}]

    def stop() -> Any:
        deadline = time.monotonic() + 10
        while not model_server.requests and time.monotonic() < deadline:
            time.sleep(0.02)
        turn = Turn.objects.select_related("session").get()
        address = reverse("chat-stop", args=["acme", "talker", turn.session_id])
        assert client_for(colleague).post(address, {"turn": turn.pk}).status_code in (403, 404)
        page = client_for(owner).get(reverse("chat-session", args=["acme", "talker", turn.session_id]))
        assert address in page.content.decode()
        return client_for(owner).post(address, {"turn": turn.pk}).status_code

    outcomes: list[Any] = together(functools.partial(trigger, agent="acme/talker"), stop)
    answer, code = outcomes
    assert code == 303
    assert (answer.json()["status"], answer.json()["reply"]) == ("stopped", "")
    assert Turn.objects.get().error_code == "asked"


def test_a_provider_in_trouble_tells_when_to_come_back(trigger: Trigger, talker: Agent, model_server: Script) -> None:
    model_server.answers = [{"status": 429, "headers": {"Retry-After": "30"}}]
    answer = trigger(agent="acme/talker")
    assert (answer.status_code, answer["Retry-After"]) == (429, "30")
    Provider.objects.filter(pk=talker.provider_id).update(base_url="not a URL")
    answer = trigger(agent="acme/talker")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")


@pytest.mark.parametrize("field", ["text", "external_user"])
def test_what_shows_nothing_is_as_good_as_missing(trigger: Trigger, field: str) -> None:
    assert refusal(trigger(**{field: "\u200b"})) == (400, "missing_required_parameter")


def test_anonymous_callers_and_wrong_methods_are_refused(trigger: Trigger, connector_key: str) -> None:
    assert trigger(secret="wrong").status_code == 401
    headers = {"Authorization": f"Bearer {connector_key}"}
    assert Client().get("/v1/triggers/slack", headers=headers).status_code == 405


def test_c04_a_trigger_key_is_made_on_the_command_line(
    trigger: Trigger, owner: User, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("create_api_key", "ana@acme.example", "acme", "--name", "Slack", "--scope", "triggers")
    assert trigger(secret=capsys.readouterr().out.strip()).status_code == 200
