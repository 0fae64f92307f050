"""C08: tools in a turn: used with the speaker's rights, bounded, never a failed turn, never evidence."""

import json
from collections.abc import Generator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from agents.models import Agent
from agents.services import set_tools_enabled
from chat import rounds, services, stops, tools
from conversations.models import Message, Session, Turn
from conversations.services import Said, request_stop
from llm.client import ChatMessage, ChatRequest, Chunk, Completion, ToolCall, Usage
from tests import factories
from tests.stub_server import Script

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def made(name: str = "current_time", arguments: str = "{}", *, said: str | None = None) -> dict[str, Any]:
    """A scripted answer that calls a tool."""
    call = {"id": "a", "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"message": {"content": said, "tool_calls": [call]}, "finish_reason": "tool_calls"}


@pytest.fixture
def session(talker: Agent, owner: User) -> Session:
    return factories.make_session(talker, owner)


def start(session: Session, said: str = "What time is it?") -> services.Started:
    now = timezone.now()
    return services.start_turn(session=session, speaker=session.created_by, said=[Said("user", said, now)], now=now)


def results(server: Script) -> list[str]:
    return [message["content"] for message in server.chats()[-1]["messages"] if message["role"] == "tool"]


def test_c08_a_tool_is_used_and_its_result_is_stored_nowhere(session: Session, model_server: Script) -> None:
    model_server.answers = [made(said="Let me look."), "It is noon."]
    completion = services.complete(start(session), clock=lambda: NOON)
    assert completion.text == "Let me look.\n\nIt is noon."
    assert (completion.finish_reason, completion.usage) == ("stop", Usage(14, 6))  # of both rounds
    assert results(model_server) == ["Monday, 30 November 2026, 12:00 in the time zone UTC (UTC+0000)"]
    turn = Turn.objects.get()
    assert (turn.status, turn.prompt_tokens, turn.completion_tokens) == ("completed", 14, 6)
    assert list(Message.objects.order_by("position").values_list("role", "content")) == [
        ("user", "What time is it?"),
        ("assistant", "Let me look.\n\nIt is noon."),
    ]


def test_c08_the_offline_model_tells_the_time_in_the_members_zone(agent: Agent, owner: User) -> None:
    owner.time_zone = "Asia/Kolkata"
    owner.save()
    turn = start(factories.make_session(agent, owner))
    text = "".join(chunk.text for chunk in services.stream(turn, clock=lambda: NOON))
    assert text == "It is Monday, 30 November 2026, 17:30 in the time zone Asia/Kolkata (UTC+0530)."
    assert Message.objects.get(role="assistant").content == text


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (made("launch_rockets"), "there is no such tool"),
        (made(arguments="{nonsense"), "not valid JSON"),
        (made(arguments="[1]"), "one JSON object"),
        (made(arguments='{"time_zone": 3}'), "must be a JSON string"),
        (made(arguments='{"where": "here"}'), "no argument of that name"),
        (made(arguments='{"time_zone": "Mars/Olympus"}'), "no time zone"),
        (made(arguments='{"time_zone": "../../etc/passwd"}'), "no time zone"),
    ],
)
def test_c08_trouble_with_a_tool_is_its_result_and_no_failed_turn(
    session: Session, model_server: Script, answer: dict[str, Any], said: str
) -> None:
    model_server.answers = [answer, "I do not know."]
    assert services.complete(start(session), clock=timezone.now).text == "I do not know."
    (result,) = results(model_server)
    assert result.startswith("Error: ")
    assert said in result
    assert Turn.objects.get().status == "completed"


def test_c08_a_tool_that_crashes_tells_neither_model_nor_log_what_was_said(
    session: Session, model_server: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(caller: tools.Caller, arguments: Any) -> str:
        raise RuntimeError("a secret word")

    monkeypatch.setitem(tools.REGISTRY, "current_time", replace(tools.REGISTRY["current_time"], run=crash))
    model_server.answers = [made(), "Never mind."]
    services.complete(start(session), clock=timezone.now)
    assert results(model_server) == ["Error: the tool failed. Go on without it."]


def test_a_long_result_is_cut(talker: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    long = replace(tools.REGISTRY["current_time"], run=lambda caller, arguments: "x" * 50_000)
    monkeypatch.setitem(tools.REGISTRY, "current_time", long)
    result = tools.use(ToolCall("a", "current_time", "{}"), tools.Caller(talker, None, timezone.now))
    assert len(result) == tools.MAX_RESULT + 4


def test_c08_a_model_that_only_calls_tools_is_stopped_after_the_rounds(session: Session, model_server: Script) -> None:
    model_server.answers = [made(said="Again.")]
    completion = services.complete(start(session), clock=timezone.now)
    asked = model_server.chats()
    assert len(asked) == rounds.MAX_ROUNDS
    assert [request.get("tool_choice") for request in asked] == [None, None, None, "none"]
    assert completion.text.startswith("Again.\n\nAgain.")


def test_c08_tools_can_be_switched_off(session: Session, owner: User, model_server: Script) -> None:
    set_tools_enabled(agent=session.agent, enabled=False, actor=owner)
    session.agent.refresh_from_db()
    services.complete(start(session), clock=timezone.now)
    assert "tools" not in model_server.chats()[0]
    assert tools.use(ToolCall("a", "current_time", "{}"), tools.Caller(session.agent, owner, timezone.now)).startswith(
        "Error"
    )


class Talking:
    """A model that calls the tool in every round, in pieces."""

    def __init__(self) -> None:
        self.requests: list[ChatRequest] = []

    def complete(self, request: ChatRequest) -> Completion:
        raise NotImplementedError

    def stream(self, request: ChatRequest) -> Any:
        self.requests.append(request)
        yield Chunk("Round.")
        yield Chunk(finish_reason="tool_calls", usage=Usage(5, 2))
        if request.may_call:
            yield Chunk(tool_calls=(ToolCall("a", "current_time", "{}"),))


def test_c08_a_stop_between_rounds_is_heeded(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stops, "STOP_CHECK_SECONDS", 0.0)
    turn, model = start(session), Talking()
    pieces = services.stream(turn, clock=timezone.now, model=model)
    assert next(pieces).text == "Round."
    request_stop(turn_id=turn.turn.pk, session=session, now=timezone.now())
    list(pieces)
    turn.turn.refresh_from_db()
    assert (turn.turn.status, turn.turn.error_code, len(model.requests)) == ("stopped", "asked", 1)


def test_c08_a_stop_between_rounds_that_are_read_whole_is_heeded(
    session: Session, model_server: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stops, "STOP_CHECK_SECONDS", 0.0)
    turn = start(session)

    def stop(caller: tools.Caller, arguments: Any) -> str:
        request_stop(turn_id=turn.turn.pk, session=session, now=timezone.now())
        return "noon"

    monkeypatch.setitem(tools.REGISTRY, "current_time", replace(tools.REGISTRY["current_time"], run=stop))
    model_server.answers = [made(said="Let me look."), "It is noon."]
    completion = services.complete(turn, clock=timezone.now)
    assert (completion.text, completion.usage) == ("Let me look.", Usage(7, 3))
    turn.turn.refresh_from_db()
    assert (turn.turn.status, turn.turn.error_code, len(model_server.chats())) == ("stopped", "asked", 1)


def test_streamed_rounds_are_one_answer_with_the_usage_of_all(session: Session) -> None:
    turn, model = start(session), Talking()
    chunks = list(services.stream(turn, clock=timezone.now, model=model))
    assert "".join(chunk.text for chunk in chunks) == "\n\n".join(["Round."] * rounds.MAX_ROUNDS)
    assert (chunks[-1].finish_reason, chunks[-1].usage) == ("stop", Usage(20, 8))
    assert len(model.requests[-1].messages) == len(model.requests[0].messages) + 2 * (rounds.MAX_ROUNDS - 1)


def test_somebody_from_outside_is_told_the_time_of_no_member(talker: Agent) -> None:
    result = tools.current_time(tools.Caller(talker, None, lambda: NOON), {})
    assert "12:00 in the time zone UTC" in result


def test_rounds_know_no_tools_when_none_are_offered() -> None:
    def pieces(request: ChatRequest) -> Generator[Chunk | None]:
        yield Chunk("Done.", tool_calls=(ToolCall("a", "x", "{}"),))

    asked = ChatRequest("m", (ChatMessage("user", "Hi"),))
    assert list(rounds.stream(pieces, asked, lambda call: json.dumps(call.name))) == [Chunk("Done.", None, None)]
