"""Asks a model again with what its tools said, a bounded number of times (C08); knows no tool and no database."""

from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from dataclasses import replace
from typing import Final

from llm.client import ChatMessage, ChatRequest, Chunk, ToolCall, Usage

MAX_ROUNDS: Final = 4  # calls of the model in one turn; in the last one it must answer in words

type Use = Callable[[ToolCall], str]
type Pieces = Callable[[ChatRequest], Generator[Chunk | None]]


def stream(pieces: Pieces, request: ChatRequest, use: Use) -> Generator[Chunk | None]:
    """Yield the pieces of every round as one answer, and None while nothing comes and between rounds.

    Whoever does not want the answer any more closes the generator there. Usage is that of all rounds so far. Raises
    ModelError.
    """
    before, has_text = Usage(), False
    for asked in _rounds(request):
        said, spent, calls = list[str](), Usage(), tuple[ToolCall, ...]()
        with closing(pieces(asked.request)) as chunks:
            for chunk in chunks:
                if chunk is None:
                    yield None
                    continue
                calls, spent = chunk.tool_calls or calls, chunk.usage or spent
                gap = "\n\n" if chunk.text and has_text and not said else ""
                if chunk.text:
                    said.append(chunk.text)
                usage = before + spent if chunk.usage else None
                reason = chunk.finish_reason and _reason(chunk.finish_reason)
                yield Chunk(gap + chunk.text, reason, usage, model=chunk.model)
        before, has_text = before + spent, has_text or bool(said)
        if not asked.goes_on(calls):
            return
        asked.take("".join(said), calls, use)
        yield None


def _reason(finish_reason: str) -> str:
    return "stop" if finish_reason in ("tool_calls", "function_call") else finish_reason


class _Round:
    """One call of the model: its request, and how the next one follows from its answer."""

    def __init__(self, request: ChatRequest) -> None:
        self.request = request

    def goes_on(self, calls: tuple[ToolCall, ...]) -> bool:
        return bool(calls) and bool(self.request.tools) and self.request.may_call

    def take(self, said: str, calls: tuple[ToolCall, ...], use: Use) -> None:
        results = [ChatMessage("tool", use(call), tool_call_id=call.id) for call in calls]
        messages = (*self.request.messages, ChatMessage("assistant", said, tool_calls=calls), *results)
        self.request = replace(self.request, messages=messages)


def _rounds(request: ChatRequest) -> Iterable[_Round]:
    asked = _Round(request)
    for number in range(1, MAX_ROUNDS + 1):
        asked.request = replace(asked.request, may_call=number < MAX_ROUNDS)
        yield asked
