"""The embedded model (C05): deterministic rules, no network; must not pretend to be more than it is."""

import re
from collections.abc import Callable, Iterator

from llm.client import ChatRequest, Chunk, Completion, ModelError, ToolCall, Usage
from llm.offline_rules import clock, extract, reply

MODEL_NAME = "offline-rules-1"

# What a schema's name asks for -> the rules that answer it with JSON text, given the last user message.
ANSWERERS: dict[str, Callable[[str], str]] = {"fact_candidates": extract.answer}


class OfflineModel:
    """A ChatModel made of rules: the same request always gets the same answer. Usage counts words, not tokens."""

    def complete(self, request: ChatRequest) -> Completion:
        """Return the answer; raise ModelError("refused_request") for a schema that no rules know."""
        if calls := _calls(request):
            return Completion("", "tool_calls", _usage(request, ""), MODEL_NAME, calls)
        text = self._answer(request)
        return Completion(text=text, usage=_usage(request, text), model=MODEL_NAME)

    def stream(self, request: ChatRequest) -> Iterator[Chunk]:
        """Yield the answer word by word, then the reason of its end with the usage."""
        if calls := _calls(request):
            yield Chunk(finish_reason="tool_calls", usage=_usage(request, ""), tool_calls=calls)
            return
        text = self._answer(request)
        for piece in re.findall(r"\s*\S+|\s+$", text):
            yield Chunk(text=piece)
        yield Chunk(finish_reason="stop", usage=_usage(request, text))

    def _answer(self, request: ChatRequest) -> str:
        last = next((message.content for message in reversed(request.messages) if message.role == "user"), "")
        if request.schema is None:
            if request.options.get("response_format", {}).get("type", "text") != "text":
                raise ModelError("refused_request", retryable=False)  # rules write prose; JSON would be a pretense
            if request.messages and request.messages[-1].role == "tool":
                return clock.tell(request.messages[-1].content)
            return reply.answer(request.messages)
        answerer = ANSWERERS.get(request.schema.name)
        if answerer is None:
            raise ModelError("refused_request", retryable=False)
        return answerer(last)


def _calls(request: ChatRequest) -> tuple[ToolCall, ...]:
    """Return the one tool call that the rules know: the time, when the last word is a member's who asks for it."""
    offered = request.may_call and any(tool.name == clock.TOOL for tool in request.tools)
    last = request.messages[-1] if request.messages else None
    if offered and last is not None and last.role == "user" and clock.asks_for_time(last.content):
        return (ToolCall("call_0", clock.TOOL, "{}"),)
    return ()


def _usage(request: ChatRequest, text: str) -> Usage:
    return Usage(
        prompt_tokens=sum(len(message.content.split()) for message in request.messages),
        completion_tokens=len(text.split()),
    )
