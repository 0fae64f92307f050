"""C05: whatever a provider does, the client gets a clear error, the turn is failed, and what was said is kept."""

import json
from functools import partial
from typing import Any

import pytest

from agents.models import Agent, ProviderState
from agents.providers import model_for
from chat import services
from consent.scope import Scope
from conversations.models import Message, Turn
from extraction.models import Run
from extraction.services import extract
from llm import openai
from llm.client import ChatModel
from tests.chat.conftest import Ask
from tests.stub_server import Script, facts

pytestmark = pytest.mark.django_db
SAID = "I moved to Rome."
HTML = {"Content-Type": "text/html"}
SSE = {"Content-Type": "text/event-stream"}
CALL = [{"index": 0, "id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}]


def event(**choice: Any) -> str:
    base = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "stub-1"}
    return f"data: {json.dumps({**base, 'choices': [{'index': 0, 'finish_reason': None, **choice}]})}\n\n"


def word(text: str) -> str:
    return event(delta={"content": text})


END = event(delta={}, finish_reason="stop") + "data: [DONE]\n\n"
CALLED = event(delta={"tool_calls": CALL}) + event(delta={}, finish_reason="tool_calls") + "data: [DONE]\n\n"
OVERLOADED = 'data: {"error": {"message": "planted: Rome", "type": "server_error"}}\n\n'


def sse(text: str) -> dict[str, Any]:
    return {"body": text, "headers": SSE}


@pytest.fixture(autouse=True)
def _without_tools(talker: Agent) -> None:
    """Offer the model no tools, so that a call of one is a fault."""
    Agent.objects.filter(pk=talker.pk).update(tools_enabled=False)


# Of both kinds of request: what the provider does, the status of our answer, and the code in it and in the turn.
REFUSALS: dict[str, tuple[Any, int, str]] = {
    "hangs": ({"text": "late", "delay": 2}, 504, "timeout"),
    "drops": ({"drop": True}, 502, "unreachable"),
    "401": (401, 502, "unauthorized"),
    "403": (403, 502, "unauthorized"),
    "404": (404, 400, "refused_request"),
    "429": ({"status": 429, "headers": {"Retry-After": "30"}}, 429, "rate_limited"),
    "500": (500, 502, "server_error"),
    "502 garbage": ({"status": 502, "body": "<<<", "headers": HTML}, 502, "server_error"),
    "HTML": ({"body": "<html>Welcome!</html>", "headers": HTML}, 502, "bad_answer"),
    "no content type": ({"body": "hm", "headers": {"Content-Type": ""}}, 502, "bad_answer"),
    "10 MB": ({"body": "x" * 10_000_000}, 502, "too_big"),
    "packed": ({"body": "x", "headers": {"Content-Encoding": "gzip"}}, 502, "too_big"),
}
WHOLE: dict[str, tuple[Any, int, str]] = {
    "trickles": ({"text": "word " * 100, "trickle": 0.05}, 504, "timeout"),
    "empty choices": ({"body": {"choices": []}}, 502, "bad_answer"),
    "no choices": ({"body": {"object": "chat.completion"}}, 502, "bad_answer"),
    "a list": ({"body": "[1, 2]"}, 502, "bad_answer"),
    "no message": ({"body": {"choices": [{"index": 0, "finish_reason": "stop", "message": None}]}}, 502, "bad_answer"),
    "tool calls": ({"message": {"content": None, "tool_calls": CALL}}, 502, "bad_answer"),
    "a stream": (sse(word("Hi") + END), 502, "bad_answer"),
}
# Of a stream: what it sends, what had arrived, and the code of the error that ends it.
BROKEN: dict[str, tuple[Any, str, str]] = {
    "ends early": (sse(word("one ") + word("two")), "one two", "cut_off"),
    "ends in a line": (sse(word("one") + word("two")[:40]), "one", "cut_off"),
    "error object": (sse(word("one") + OVERLOADED + END), "one", "server_error"),
    "garbage in the middle": (sse(word("one") + "data: {oops\n\n" + END), "one", "bad_answer"),
    "too long": (sse(word("x" * 1_000_000) * 5 + END), "", "too_big"),
}


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Short waits, and short time-outs where the fault is a wait."""
    name = str(request.node.callspec.params.get("name", "")) if hasattr(request.node, "callspec") else ""
    longest = 0.4 if name in ("hangs", "trickles") else 600.0
    monkeypatch.setattr(openai, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(services, "model_for", partial(model_for, attempts=2, longest=longest))


def assert_kept(code: str, reply: str = "") -> None:
    """The turn failed with this code, nothing is extracted from it, and the message is there for another try."""
    turn = Turn.objects.get()
    assert (turn.status, turn.error_code) == ("failed", code)
    said = Message.objects.get(role="user")
    assert (said.content, said.passed_at) == (SAID, None)
    assert "".join(Message.objects.filter(role="assistant").values_list("content", flat=True)) == reply
    assert not Run.objects.exists()


def assert_says_nothing_of_the_provider(text: str) -> None:
    assert not any(word in text for word in ("scripted", "Welcome", "<<<", "planted", "xxxx", "Traceback"))


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("name", REFUSALS)
def test_c05_a_refusal_is_an_error_status_with_a_code(ask: Ask, model_server: Script, name: str, stream: bool) -> None:
    scripted, status, code = REFUSALS[name]
    model_server.answers = [scripted]
    answer = ask(SAID, stream=stream)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert answer.get("Retry-After") == ("30" if name == "429" else None)
    assert_says_nothing_of_the_provider(answer.content.decode())
    assert_kept(code)


@pytest.mark.parametrize("name", WHOLE)
def test_c05_a_whole_answer_that_is_no_reply_is_an_error(ask: Ask, model_server: Script, name: str) -> None:
    scripted, status, code = WHOLE[name]
    model_server.answers = [scripted]
    answer = ask(SAID)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert_kept(code)


@pytest.mark.parametrize("name", BROKEN)
def test_c05_a_broken_stream_keeps_what_came_and_ends_with_an_error_event(
    ask: Ask, model_server: Script, name: str
) -> None:
    scripted, reply, code = BROKEN[name]
    model_server.answers = [scripted]
    answer = ask(SAID, stream=True)
    text = answer.getvalue().decode() if answer.streaming else answer.content.decode()
    assert f'"code": "{code}"' in text or f'"code":"{code}"' in text
    assert "[DONE]" not in text
    assert Turn.objects.get().error_code == code
    if name != "too long":  # where four megabytes of reply are kept
        assert_says_nothing_of_the_provider(text)
        assert_kept(code, reply)


@pytest.mark.parametrize("body", [CALLED, word("") + CALLED], ids=["at once", "after nothing"])
def test_c05_a_stream_of_tool_calls_that_nobody_offered_is_no_reply(ask: Ask, model_server: Script, body: str) -> None:
    model_server.answers = [sse(body)]
    answer = ask(SAID, stream=True)
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "bad_answer")
    assert_kept("bad_answer")
    assert len(model_server.requests) == 1


def test_c05_comments_and_pieces_without_choices_are_skipped(ask: Ask, model_server: Script) -> None:
    silent = ": keep-alive\n\n" + 'data: {"id": "x", "choices": []}\n\n' + event(delta={"content": None})
    model_server.answers = [sse(silent + word("Good ") + silent + word("day.") + silent + END)]
    assert "[DONE]" in ask(SAID, stream=True).getvalue().decode()
    assert Message.objects.get(role="assistant").content == "Good day."
    assert Turn.objects.get().status == "completed"


@pytest.mark.parametrize("stream", [False, True])
def test_c05_null_content_is_an_empty_reply(ask: Ask, model_server: Script, stream: bool) -> None:
    whole = {"message": {"content": None}}
    model_server.answers = [sse(event(delta={"content": None}) + END) if stream else whole]
    answer = ask(SAID, stream=stream)
    assert answer.status_code == 200
    assert b"error" not in (answer.getvalue() if stream else answer.content)
    turn = Turn.objects.get()
    assert (turn.status, Message.objects.get(role="assistant").content) == ("completed", "")


def test_c05_a_short_retry_after_is_waited_for_and_the_call_repeated(
    ask: Ask, model_server: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []

    def patient(agent: Agent) -> ChatModel:
        model = model_for(agent, attempts=2)
        monkeypatch.setattr(model, "_sleep", waited.append)
        return model

    monkeypatch.setattr(services, "model_for", patient)
    model_server.answers = [{"status": 429, "headers": {"Retry-After": "3"}}, "Good day."]
    assert ask(SAID).json()["choices"][0]["message"]["content"] == "Good day."
    assert [round(seconds) for seconds in waited] == [3]
    assert not ProviderState.objects.filter(failures__gt=0).exists()


def test_c05_what_was_said_to_a_provider_in_trouble_is_learned_with_the_next_try(
    ask: Ask, talker_scope: Scope, model_server: Script
) -> None:
    model_server.answers = [500, 500, "Good day."]
    assert ask(SAID).status_code == 502
    assert not Run.objects.exists()
    assert ask(SAID).status_code == 200
    model_server.extraction = [facts({"key": "home.city", "content": "Lives in Rome."})]
    run = Run.objects.get()
    extract(run.pk, clock=lambda: run.due_at)
    run.refresh_from_db()
    assert (run.state, run.outcomes) == ("done", {"active": 1})
    assert SAID in json.dumps(model_server.extractions()[0])


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_c05_what_no_database_takes_is_replaced_in_a_reply(ask: Ask, model_server: Script, stream: bool) -> None:
    model_server.answers = ["Good\x00 day\ud800."]
    answer = ask(SAID, stream=stream)
    assert answer.status_code == 200
    if stream:
        assert "[DONE]" in answer.getvalue().decode()
    assert Message.objects.get(role="assistant").content == "Good\ufffd day\ufffd."
    assert Turn.objects.get().status == "completed"
