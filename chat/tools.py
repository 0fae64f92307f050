"""The tools that an agent may use in a turn (C08), each with the rights of whoever speaks; must raise nothing.

A result goes to the model and is stored nowhere: it is no message, so it is never evidence for a fact.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import structlog

from accounts.models import User
from agents.models import Agent
from llm.client import ToolCall, ToolSpec

log = structlog.get_logger(__name__)

MAX_RESULT: Final = 8_000  # characters of one result
TYPES: Final[dict[str, type]] = {"string": str, "boolean": bool, "integer": int, "array": list, "object": dict}


class ToolRefused(Exception):
    """The tool cannot do what was asked; the text tells the model why."""


@dataclass(frozen=True, slots=True)
class Caller:
    """With whose rights a tool acts: `speaker` is None for somebody from outside, who has none."""

    agent: Agent
    speaker: User | None
    clock: Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: what the model is told of it, and the function that does it. `run` may raise ToolRefused."""

    spec: ToolSpec
    run: Callable[[Caller, Mapping[str, Any]], str]


def offered(agent: Agent) -> tuple[ToolSpec, ...]:
    """Return the tools that the agent's model is told of."""
    return tuple(tool.spec for tool in REGISTRY.values()) if agent.tools_enabled else ()


def use(call: ToolCall, caller: Caller) -> str:
    """Use a tool and return its result for the model; whatever goes wrong is a result too, beginning with "Error"."""
    tool = REGISTRY.get(call.name) if caller.agent.tools_enabled else None
    try:
        if tool is None:
            raise ToolRefused(f"there is no such tool; there are: {', '.join(REGISTRY)}.")
        result = tool.run(caller, _arguments(call.arguments, tool.spec.parameters))
    except ToolRefused as error:
        return f"Error: {error}"
    except Exception as error:
        log.error("tool_failed", tool=call.name, agent_id=str(caller.agent.pk), exc_info=error)
        return "Error: the tool failed. Go on without it."
    return result if len(result) <= MAX_RESULT else result[:MAX_RESULT] + " […]"


def _arguments(text: str, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments that the model wrote, checked against the tool's schema. Raises ToolRefused."""
    try:
        arguments = json.loads(text or "{}")
    except (ValueError, RecursionError):
        raise ToolRefused("the arguments are not valid JSON.") from None
    if not isinstance(arguments, dict):
        raise ToolRefused("the arguments must be one JSON object.")
    known: Mapping[str, Any] = parameters.get("properties", {})
    for name, value in arguments.items():
        if name not in known:
            raise ToolRefused(f"there is no argument of that name; there are: {', '.join(known) or 'none'}.")
        wanted = known[name].get("type")
        if wanted in TYPES and (type(value) is not TYPES[wanted]):
            raise ToolRefused(f"the argument {name} must be a JSON {wanted}.")
    for name in parameters.get("required", ()):
        if name not in arguments:
            raise ToolRefused(f"the argument {name} is missing.")
    return arguments


def current_time(caller: Caller, arguments: Mapping[str, Any]) -> str:
    """Return date and time in the speaker's zone, or in the one that is asked for."""
    name = arguments.get("time_zone") or (caller.speaker.time_zone if caller.speaker else "UTC")
    try:
        zone: tzinfo = ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        if "time_zone" in arguments:
            raise ToolRefused("that is no time zone; use a name like Europe/Berlin.") from None
        name, zone = "UTC", UTC
    now = caller.clock().astimezone(zone)
    return f"{now:%A}, {now.day} {now:%B %Y, %H:%M} in the time zone {name} (UTC{now:%z})"


REGISTRY: Final[dict[str, Tool]] = {
    "current_time": Tool(
        ToolSpec(
            "current_time",
            "Tells the current date and time, in the time zone of the person who asks unless another one is named.",
            {
                "type": "object",
                "properties": {"time_zone": {"type": "string", "description": "An IANA name such as Europe/Berlin."}},
                "additionalProperties": False,
            },
        ),
        current_time,
    ),
}
