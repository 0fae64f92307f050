"""Tool calls as OpenAI-compatible servers take and give them, whole or in pieces; must not run any."""

from collections.abc import Iterable
from typing import Any, Final

from llm.client import ChatMessage, ChatRequest, ToolCall

MAX_CALLS: Final = 8  # of one answer; a model that wants more is going round in circles
MAX_ARGUMENTS: Final = 8_000  # characters of one call; what is cut off is no JSON any more, and refused as such


def tool_arguments(request: ChatRequest) -> dict[str, Any]:
    """Return what a request with tools says beside its messages."""
    if not request.tools:
        return {}
    tools = [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)},
        }
        for tool in request.tools
    ]
    return {"tools": tools} if request.may_call else {"tools": tools, "tool_choice": "none"}


def wire_message(message: ChatMessage) -> dict[str, Any]:
    """Return a message as it is sent."""
    wire: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_call_id:
        wire["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        wire["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    return wire


class Gathered:
    """Puts tool calls together from the pieces of a stream; a whole answer is one piece."""

    def __init__(self) -> None:
        self._parts: list[list[str]] = []  # id, name, arguments
        self._places: dict[int | str, int] = {}

    def add(self, deltas: Iterable[Any]) -> None:
        """Take pieces: they name a call by `index`, or, from servers that leave it out, by a new `id`."""
        for delta in deltas:
            function = getattr(delta, "function", None)
            index, given, name = getattr(delta, "index", None), _text(delta, "id"), _text(function, "name")
            if isinstance(index, int) or given:
                at = self._places.setdefault(index if isinstance(index, int) else given, len(self._parts))
            else:
                at = len(self._parts) if name else max(0, len(self._parts) - 1)
            if at == len(self._parts):
                self._parts.append(["", "", ""])
            part = self._parts[at]
            part[0] = part[0] or given
            part[1] = part[1] or name
            part[2] = (part[2] + _text(function, "arguments"))[:MAX_ARGUMENTS]

    def calls(self) -> tuple[ToolCall, ...]:
        """Return the calls that have a name, each with an id."""
        named = [part for part in self._parts if part[1]][:MAX_CALLS]
        return tuple(
            ToolCall(given or f"call_{at}", name[:200], arguments) for at, (given, name, arguments) in enumerate(named)
        )


def _text(holder: Any, name: str) -> str:
    value = getattr(holder, name, None)
    return value if isinstance(value, str) else ""
