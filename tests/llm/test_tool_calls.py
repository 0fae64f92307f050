"""C08: tool calls over the wire: offered, put together from pieces, bounded, and left out where they are refused."""

import json
from typing import Any

import pytest

from llm.client import ChatMessage, ChatRequest, Chunk, ToolCall, ToolSpec
from llm.offline import OfflineModel
from llm.openai import NO_TOOLS, OpenAIModel
from llm.tool_calls import MAX_ARGUMENTS, MAX_CALLS
from tests.stub_server import Script

TIME = ToolSpec("current_time", "Tells the time.", {"type": "object", "properties": {}})
ASKED = (ChatMessage("system", "Be brief."), ChatMessage("user", "What time is it?"))
WITH_TOOLS = ChatRequest("stub-1", ASKED, tools=(TIME,))


def model(server: Script, **more: Any) -> OpenAIModel:
    return OpenAIModel(**{"base_url": server.url, "api_key": "k", "timeout": 5.0, "sleep": lambda _: None, **more})


def delta(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": None}]}


def streamed(*deltas: dict[str, Any], finish: str = "tool_calls") -> dict[str, Any]:
    """A scripted stream whose pieces are tool calls."""
    base = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "stub-1"}
    events = [*deltas, {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}]
    body = "".join(f"data: {json.dumps({**base, **event})}\n\n" for event in events) + "data: [DONE]\n\n"
    return {"body": body, "headers": {"Content-Type": "text/event-stream"}}


def call(**fields: Any) -> dict[str, Any]:
    return {"type": "function", **fields}


def test_c08_tools_are_offered_and_a_call_comes_back(model_server: Script) -> None:
    made = call(id="a", function={"name": "current_time", "arguments": "{}"})
    model_server.answers = [{"message": {"content": None, "tool_calls": [made]}, "finish_reason": "tool_calls"}]
    completion = model(model_server).complete(WITH_TOOLS)
    assert completion.tool_calls == (ToolCall("a", "current_time", "{}"),)
    (request,) = model_server.requests
    assert request["tools"][0]["function"]["name"] == "current_time"
    assert "tool_choice" not in request


def test_c08_a_result_is_sent_as_the_protocol_wants_it(model_server: Script) -> None:
    made = ToolCall("a", "current_time", "{}")
    messages = (*ASKED, ChatMessage("assistant", "", tool_calls=(made,)), ChatMessage("tool", "Noon", tool_call_id="a"))
    model(model_server).complete(ChatRequest("stub-1", messages, tools=(TIME,), may_call=False))
    (request,) = model_server.requests
    assert request["messages"][2]["tool_calls"][0]["function"] == {"name": "current_time", "arguments": "{}"}
    assert request["messages"][3] == {"role": "tool", "content": "Noon", "tool_call_id": "a"}
    assert request["tool_choice"] == "none"


@pytest.mark.parametrize(
    "pieces",
    [
        [
            delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "current_time", "arguments": ""}}]),
            delta(tool_calls=[{"index": 0, "function": {"arguments": '{"time_'}}]),
            delta(tool_calls=[{"index": 0, "function": {"arguments": 'zone": "UTC"}'}}]),
        ],
        [
            delta(tool_calls=[{"id": "a", "function": {"name": "current_time", "arguments": '{"time_zone"'}}]),
            delta(tool_calls=[{"function": {"arguments": ': "UTC"}'}}]),
        ],
    ],
    ids=["by index", "without index"],
)
def test_c08_a_streamed_call_is_put_together(model_server: Script, pieces: list[dict[str, Any]]) -> None:
    model_server.answers = [streamed(delta(content="Let me look."), *pieces)]
    chunks = list(model(model_server).stream(WITH_TOOLS))
    assert "".join(chunk.text for chunk in chunks) == "Let me look."
    assert chunks[-1].tool_calls == (ToolCall("a", "current_time", '{"time_zone": "UTC"}'),)


def test_two_streamed_calls_stay_apart_and_too_many_are_bounded(model_server: Script) -> None:
    both = [{"index": at, "id": f"c{at}", "function": {"name": "current_time", "arguments": "{}"}} for at in range(20)]
    model_server.answers = [streamed(delta(tool_calls=both))]
    made = list(model(model_server).stream(WITH_TOOLS))[-1].tool_calls
    assert [one.id for one in made] == [f"c{at}" for at in range(MAX_CALLS)]


def test_huge_arguments_are_cut(model_server: Script) -> None:
    huge = [{"index": 0, "id": "a", "function": {"name": "current_time", "arguments": "x" * 9_000}}] * 2
    model_server.answers = [streamed(*(delta(tool_calls=[piece]) for piece in huge))]
    (made,) = list(model(model_server).stream(WITH_TOOLS))[-1].tool_calls
    assert len(made.arguments) == MAX_ARGUMENTS


@pytest.mark.parametrize("status", [400, 404, 422])
def test_c08_a_provider_that_refuses_tools_is_asked_without_and_remembered(model_server: Script, status: int) -> None:
    body = {"error": {"message": "this model does not support tools", "type": "invalid_request_error"}}
    model_server.answers = [{"status": status, "body": body}, "I cannot know."]
    learned: list[str] = []
    assert model(model_server, learn=learned.append).complete(WITH_TOOLS).text == "I cannot know."
    assert "tools" not in model_server.requests[1]
    assert learned == [NO_TOOLS]
    model(model_server, quirks=frozenset(learned)).complete(WITH_TOOLS)
    assert "tools" not in model_server.requests[2]


def test_another_refusal_is_not_laid_to_the_tools(model_server: Script) -> None:
    model_server.answers = [400]
    with pytest.raises(Exception, match="refused_request"):
        model(model_server).complete(WITH_TOOLS)
    assert len(model_server.requests) == 1


def test_calls_that_nobody_offered_are_left_alone(model_server: Script) -> None:
    made = call(id="a", function={"name": "current_time", "arguments": "{}"})
    model_server.answers = [{"message": {"content": "Hm.", "tool_calls": [made]}}]
    assert model(model_server).complete(ChatRequest("stub-1", ASKED)).tool_calls == ()


@pytest.mark.parametrize("said", ["What time is it?", "what's the time", "Tell me the time, please", "What day is it?"])
def test_c08_the_offline_model_asks_the_tool_for_the_time(said: str) -> None:
    request = ChatRequest("offline", (ChatMessage("user", said),), tools=(TIME,))
    completion = OfflineModel().complete(request)
    assert [made.name for made in completion.tool_calls] == ["current_time"]
    assert [chunk for chunk in OfflineModel().stream(request) if chunk.tool_calls] == [
        Chunk(finish_reason="tool_calls", usage=completion.usage, tool_calls=completion.tool_calls)
    ]


@pytest.mark.parametrize(
    "said", ["What time is my standup?", "What's the time of my flight?", "I like this time of year"]
)
def test_the_offline_model_leaves_other_times_to_memory(said: str) -> None:
    request = ChatRequest("offline", (ChatMessage("user", said),), tools=(TIME,))
    assert OfflineModel().complete(request).tool_calls == ()


def test_without_tools_the_offline_model_calls_none() -> None:
    assert OfflineModel().complete(ChatRequest("offline", ASKED)).tool_calls == ()
