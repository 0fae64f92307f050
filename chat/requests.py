"""Reads a chat-completions request into plain values, or says what is wrong with it (C01). No database."""

import math
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from chat.openai_format import BadParameter
from chat.services import Asked
from screening.text import UnacceptableText, clean_text

MAX_MESSAGES: Final = 2_000
MAX_MESSAGE: Final = 200_000  # characters of one message
MAX_CHARACTERS: Final = 1_000_000  # of all messages; more than any model reads
# Passed to the provider as they are.
NUMBERS: Final = ("temperature", "top_p", "presence_penalty", "frequency_penalty")
WHOLE: Final = ("max_tokens", "max_completion_tokens", "seed")
OBJECTS: Final = ("response_format", "logit_bias")
# Ignoring these would mislead the caller about what she got.
REFUSED: Final = ("tools", "functions", "tool_choice", "function_call", "audio", "modalities", "web_search_options")
REFUSED_TOO: Final = ("logprobs", "top_logprobs", "prediction")
NAME: Final = re.compile(r"[-a-zA-Z0-9_]{1,63}")


@dataclass(frozen=True, slots=True)
class ChatCall:
    """One request: `session_id` is the explicit handle, if any."""

    organization: str
    agent: str
    asked: Asked
    stream: bool
    include_usage: bool
    end_user_id: str
    session_id: uuid.UUID | None
    options: dict[str, Any] = field(default_factory=dict)


def read_call(data: Any, session_header: str | None) -> ChatCall:
    """Return the call, or raise BadParameter with the name of what is wrong."""
    if not isinstance(data, dict):
        raise BadParameter("Send a JSON object with 'model' and 'messages'.", code="invalid_type")
    for name in (*REFUSED, *REFUSED_TOO):
        if data.get(name) not in (None, False, [], "none", ["text"]):
            raise BadParameter(f"'{name}' is not supported here.", param=name, code="unsupported_parameter")
    if data.get("n") not in (None, 1):
        raise BadParameter("Only n=1 is supported.", param="n", code="unsupported_value")
    organization, agent = _model(data.get("model"))
    stream_options = data.get("stream_options") or {}
    if not isinstance(stream_options, dict):
        raise BadParameter("'stream_options' must be an object.", param="stream_options", code="invalid_type")
    return ChatCall(
        organization=organization,
        agent=agent,
        asked=read_messages(data.get("messages")),
        stream=_boolean(data, "stream"),
        include_usage=bool(stream_options.get("include_usage")),
        end_user_id=_text(data.get("user") or "", "user", limit=512),
        session_id=_session_id(data.get("metadata"), session_header),
        options=_options(data),
    )


def _options(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are passed to the provider, each of the right kind."""
    kinds: dict[str, Callable[[Any], bool]] = {
        **dict.fromkeys(NUMBERS, _is_number),
        **dict.fromkeys(WHOLE, lambda value: isinstance(value, int) and not isinstance(value, bool)),
        **dict.fromkeys(OBJECTS, lambda value: isinstance(value, dict)),
        "reasoning_effort": lambda value: isinstance(value, str),
        "stop": _is_stop,
    }
    options = {name: data[name] for name in kinds if data.get(name) is not None}
    for name, value in options.items():
        if not kinds[name](value):
            raise BadParameter(f"'{name}' has a value of the wrong kind.", param=name, code="invalid_type")
    return options


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_stop(value: Any) -> bool:
    texts = [value] if isinstance(value, str) else value
    return isinstance(texts, list) and len(texts) <= 4 and all(isinstance(text, str) for text in texts)


def _boolean(data: Mapping[str, Any], name: str) -> bool:
    value = data.get(name)
    if value is None or isinstance(value, bool):
        return bool(value)
    raise BadParameter(f"'{name}' must be true or false.", param=name, code="invalid_type")


def _model(value: Any) -> tuple[str, str]:
    if not isinstance(value, str) or not value:
        raise BadParameter(
            "'model' is missing; use ORGANIZATION/AGENT.", param="model", code="missing_required_parameter"
        )
    organization, slash, agent = value.partition("/")
    if not slash or not NAME.fullmatch(organization) or not NAME.fullmatch(agent):
        raise unknown_model(value)
    return organization, agent


def unknown_model(name: str) -> BadParameter:
    shown = name[:120].encode("utf-8", "replace").decode()
    return BadParameter(
        f"The model '{shown}' does not exist or this key may not use it. GET /v1/models lists what it may use.",
        param="model",
        code="model_not_found",
        status=404,
    )


def _text(value: Any, name: str, *, limit: int) -> str:
    if not isinstance(value, str):
        raise BadParameter(f"'{name}' must be text.", param=name, code="invalid_type")
    try:
        return clean_text(value, max_length=limit, allow_empty=True)
    except UnacceptableText as error:
        raise BadParameter(str(error), param=name, code=error.code) from None


def _session_id(metadata: Any, header: str | None) -> uuid.UUID | None:
    if metadata is not None and not isinstance(metadata, dict):
        raise BadParameter("'metadata' must be an object.", param="metadata", code="invalid_type")
    value = (metadata or {}).get("session_id", header)
    if value is None:
        return None
    try:
        return uuid.UUID(value)
    except (ValueError, AttributeError, TypeError):
        raise BadParameter("'session_id' is no UUID.", param="metadata.session_id") from None


def read_messages(value: Any) -> Asked:
    """Split messages into system, history (up to the last assistant message) and new ones; the last is the user's."""
    if not isinstance(value, list) or not value:
        raise BadParameter("'messages' must be a list with at least one message.", param="messages")
    if len(value) > MAX_MESSAGES:
        raise BadParameter(f"At most {MAX_MESSAGES} messages are accepted.", param="messages", code="too_many")
    system, spoken = [], []
    for position, message in enumerate(value):
        role, text = _message(message, f"messages[{position}]")
        if role in ("system", "developer"):
            system.append(text)
        else:
            spoken.append((role, text))
    if sum(len(text) for _role, text in spoken) + sum(map(len, system)) > MAX_CHARACTERS:
        raise BadParameter(
            f"The messages have more than {MAX_CHARACTERS} characters together. Send fewer.",
            param="messages",
            code="too_long",
        )
    if not spoken or spoken[-1][0] != "user":
        raise BadParameter("The last message must be the user's.", param="messages")
    if not any(text.strip() for role, text in spoken[-1:]):
        raise BadParameter("The last message is empty.", param="messages", code="empty")
    start = max((at + 1 for at, (role, _text) in enumerate(spoken) if role == "assistant"), default=0)
    return Asked(tuple(system), tuple(spoken[:start]), tuple(spoken[start:]))


def _message(message: Any, name: str) -> tuple[str, str]:
    if not isinstance(message, dict):
        raise BadParameter(f"'{name}' must be an object with role and content.", param=name, code="invalid_type")
    role = message.get("role")
    if role not in ("system", "developer", "user", "assistant"):
        raise BadParameter(
            f"'{name}.role' must be system, developer, user or assistant.",
            param=f"{name}.role",
            code="unsupported_value",
        )
    return role, _text(_content(message.get("content"), role, name), f"{name}.content", limit=MAX_MESSAGE)


def _content(content: Any, role: str, name: str) -> str:
    if content is None and role == "assistant":
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise BadParameter(
            f"'{name}.content' must be text or a list of parts.", param=f"{name}.content", code="invalid_type"
        )
    texts = []
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind not in ("text", "input_text") or not isinstance(part.get("text"), str):
            raise BadParameter("Only text parts are supported.", param=f"{name}.content", code="unsupported_content")
        texts.append(part["text"])
    return "\n".join(texts)
