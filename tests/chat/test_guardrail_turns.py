"""Guardrails in a turn, through the API and the chat page (C06): what is stored, sent, counted, and never asked."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from accounts.models import Organization, User
from agents.models import Agent
from audit.models import AuditEvent
from chat.guardrails import Policy, Rule
from chat.models import GuardrailCount, GuardrailPolicy
from chat.policies import ChangedMeanwhile, TooManyRules, count_hits, hits_by_rule, policy_for, save_policy
from chat.services import start_turn, stream
from consent.scope import Scope
from conversations.models import Message, Session, Turn
from conversations.services import Said
from extraction.models import Run
from tests import factories
from tests.chat.conftest import Ask
from tests.chat.test_pages import leave, read
from tests.stub_server import Script

pytestmark = pytest.mark.django_db

INPUT = Rule("00000000-0000-4000-8000-000000000001", "phrases", "falcon")
OUTPUT = Rule("00000000-0000-4000-8000-000000000002", "pattern", "(?i)owl")
NAMES = Rule("00000000-0000-4000-8000-000000000003", "phrases", "eagle", "replace", "[bird]")


@pytest.fixture
def guarded(organization: Organization, owner: User) -> Policy:
    policy = Policy((INPUT,), (OUTPUT, NAMES), "We do not talk about that.", "This reply is withheld.")
    save_policy(organization=organization, policy=policy, enabled=True, read_version=0, actor=owner, now=timezone.now())
    return policy


def streamed(answer: Any) -> tuple[str, str]:
    """Return the text and the finish reason of a streamed API answer."""
    lines = b"".join(answer.streaming_content).decode().split("\n")
    chunks = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
    choices = [chunk["choices"][0] for chunk in chunks if chunk["choices"]]
    return "".join(choice["delta"].get("content", "") for choice in choices), choices[-1]["finish_reason"]


@pytest.mark.parametrize("streaming", [False, True])
def test_c06_a_blocked_message_is_stored_and_refused_and_the_model_is_not_called(
    ask: Ask, model_server: Script, guarded: Policy, talker_scope: Scope, streaming: bool
) -> None:
    answer = ask("Tell me of the FALCON", stream=streaming)
    if streaming:
        assert streamed(answer) == (guarded.refusal, "content_filter")
    else:
        choice = answer.json()["choices"][0]
        assert (choice["message"]["content"], choice["finish_reason"]) == (guarded.refusal, "content_filter")
    assert answer.status_code == 200
    assert answer["X-Memory"] == "input_blocked"
    assert not model_server.requests
    turn = Turn.objects.get()
    assert (turn.status, turn.error_code, turn.memory_state) == (Turn.Status.INPUT_BLOCKED, "", "input_blocked")
    assert [m.content for m in Message.objects.order_by("position")] == ["Tell me of the FALCON", guarded.refusal]
    assert not Run.objects.exists()
    count = GuardrailCount.objects.get()
    assert (str(count.rule_id), count.hits) == (INPUT.id, 1)


@pytest.mark.parametrize("streaming", [False, True])
def test_c06_a_reply_with_blocked_text_is_withheld(
    ask: Ask, model_server: Script, guarded: Policy, talker_scope: Scope, streaming: bool
) -> None:
    model_server.answers = ["A fine long beginning of a reply, and then an Owl comes and more."]
    answer = ask("Hello", stream=streaming)
    if streaming:
        text, reason = streamed(answer)
        assert text == f"A fine long beginning of a reply, and then an \n\n{guarded.restriction}"
    else:
        text, reason = (answer.json()["choices"][0][key] for key in ("message", "finish_reason"))
        assert text["content"] == guarded.restriction
    assert reason == "content_filter"
    turn = Turn.objects.get()
    assert turn.status == Turn.Status.OUTPUT_RESTRICTED
    assert Message.objects.get(role="assistant").content == guarded.restriction
    assert not Run.objects.exists()
    assert GuardrailCount.objects.get().hits == 1


@pytest.mark.parametrize("streaming", [False, True])
def test_c06_replaced_text_lets_the_turn_complete_and_is_never_stored(
    ask: Ask, model_server: Script, guarded: Policy, talker_scope: Scope, streaming: bool
) -> None:
    model_server.answers = ["Look, an Eagle and an eagle!"]
    answer = ask("Hello", stream=streaming)
    text = streamed(answer)[0] if streaming else answer.json()["choices"][0]["message"]["content"]
    assert text == "Look, an [bird] and an [bird]!"
    assert Turn.objects.get().status == Turn.Status.COMPLETED
    assert Message.objects.get(role="assistant").content == text
    assert Run.objects.count() == 1
    assert GuardrailCount.objects.get().hits == 2


def test_c06_the_memory_block_and_system_prompts_are_not_screened(
    ask: Ask, model_server: Script, guarded: Policy, talker_scope: Scope
) -> None:
    factories.make_fact(talker_scope, body="Keeps a falcon.", key="pet")
    asked = [{"role": "system", "content": "You know falcon lore."}, {"role": "user", "content": "Hello"}]
    assert ask(asked).json()["choices"][0]["finish_reason"] == "stop"
    sent = json.dumps(model_server.chats()[0]["messages"])
    assert "Keeps a falcon." in sent
    assert "falcon lore" in sent


def test_c06_a_blocked_message_of_a_resent_history_does_not_reach_the_model(
    ask: Ask, model_server: Script, guarded: Policy
) -> None:
    ask(
        [
            {"role": "user", "content": "The falcon, please"},
            {"role": "assistant", "content": guarded.refusal},
            {"role": "user", "content": "Then something else"},
        ]
    )
    sent = json.dumps(model_server.chats()[0]["messages"])
    assert "falcon" not in sent
    assert "Then something else" in sent


def test_c06_a_stopped_reply_keeps_its_clean_part(
    talker: Agent, owner: User, model_server: Script, guarded: Policy
) -> None:
    model_server.answers = [{"text": "One eagle and two " + "plain words " * 20 + "owl", "cut_after": 30}]
    session = factories.make_session(talker, owner)
    now = timezone.now()
    started = start_turn(session=session, speaker=owner, said=[Said("user", "Hello", now)], now=now)
    chunks = stream(started, clock=timezone.now)
    sent = ""
    while "words" not in sent:
        sent += next(chunks).text
    chunks.close()
    stored = Message.objects.get(role="assistant").content
    assert Turn.objects.get().status == Turn.Status.STOPPED
    assert stored.startswith(sent)
    assert "One [bird] and two plain" in stored
    assert "owl" not in stored


def test_c06_the_chat_page_says_what_was_stopped_and_offers_another_try_of_a_withheld_reply(
    talker: Agent, owner: User, client_for: Callable[..., Client], model_server: Script, guarded: Policy
) -> None:
    client, session = client_for(owner), factories.make_session(talker, owner)
    send = reverse("chat-send", args=["acme", "talker", session.pk])
    page = reverse("chat-session", args=["acme", "talker", session.pk])
    events = read(client.post(send, {"message": "A falcon"}, headers={"Accept": "text/event-stream"}))
    assert [data for kind, data in events if kind == "text"] == [guarded.refusal]
    assert (events[-1][0], events[-1][1]["status"]) == ("done", "input_blocked")
    shown = client.get(page).content.decode()
    assert "stopped this message" in shown
    assert "Try again" not in shown
    model_server.answers = ["An owl."]
    client.post(send, {"message": "Hello"})
    shown = client.get(page).content.decode()
    assert "withheld the agent" in shown
    assert guarded.restriction in shown
    assert "Try again" in shown
    assert "An owl" not in shown


def test_a_blocked_stream_that_nobody_reads_stays_blocked(
    talker: Agent, owner: User, client_for: Callable[..., Client], guarded: Policy
) -> None:
    session = factories.make_session(talker, owner)
    send = reverse("chat-send", args=["acme", "talker", session.pk])
    leave(client_for(owner).post(send, {"message": "A falcon"}, headers={"Accept": "text/event-stream"}))
    assert Turn.objects.get().status == Turn.Status.INPUT_BLOCKED


def test_a_policy_that_is_off_does_nothing(ask: Ask, guarded: Policy) -> None:
    GuardrailPolicy.objects.update(enabled=False)
    assert ask("The falcon").json()["choices"][0]["finish_reason"] == "stop"


def test_guardrails_of_another_organization_do_not_act(
    guarded: Policy, stranger: User, client_for: Callable[..., Client]
) -> None:
    client_for(stranger).post(reverse("chat-send-first", args=["other", "guide"]), {"message": "A falcon"})
    assert Turn.objects.get().status == Turn.Status.COMPLETED


def test_without_a_policy_a_turn_asks_for_it_once(agent: Agent, owner: User) -> None:
    session = factories.make_session(agent, owner)
    now = timezone.now()
    with CaptureQueriesContext(
        connection,
    ) as seen:
        start_turn(session=session, speaker=owner, said=[Said("user", "Hello", now)], now=now)
    assert sum("guardrail" in query["sql"] for query in seen.captured_queries) == 1


def test_saving_is_audited_by_counts_and_never_by_text(organization: Organization, guarded: Policy) -> None:
    event = AuditEvent.objects.get(action="guardrail.update")
    assert event.details == {"enabled": True, "input_rules": 1, "output_rules": 2}
    assert policy_for(organization.pk) == guarded


def test_two_administrators_do_not_overwrite_each_other(
    organization: Organization, owner: User, guarded: Policy
) -> None:
    with pytest.raises(ChangedMeanwhile):
        save_policy(
            organization=organization, policy=Policy(), enabled=True, read_version=0, actor=owner, now=timezone.now()
        )
    many = Policy(input_rules=(INPUT,) * 41)
    with pytest.raises(TooManyRules):
        save_policy(
            organization=organization, policy=many, enabled=True, read_version=1, actor=owner, now=timezone.now()
        )


def test_counts_add_up_by_day_and_go_with_their_rule(organization: Organization, owner: User, guarded: Policy) -> None:
    now = timezone.now()
    for hits in ({INPUT.id: 2, OUTPUT.id: 1}, {INPUT.id: 3}):
        count_hits(organization_id=organization.pk, hits=hits, day=now.date())
    assert hits_by_rule(organization.pk, since=now.date()) == {INPUT.id: 5, OUTPUT.id: 1}
    save_policy(organization=organization, policy=Policy((INPUT,)), enabled=True, read_version=1, actor=owner, now=now)
    assert hits_by_rule(organization.pk, since=now.date()) == {INPUT.id: 5}


def test_the_log_of_a_turn_holds_no_text(
    ask: Ask, model_server: Script, guarded: Policy, capsys: pytest.CaptureFixture[str]
) -> None:
    model_server.answers = ["An owl with planted-word."]
    ask("The falcon planted-word")
    ask("Hello planted-word")
    captured = capsys.readouterr()
    assert "planted-word" not in captured.out + captured.err
    assert Session.objects.count() == 2
