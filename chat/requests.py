"""Reads a chat-completions request into plain values, or says what is wrong with it (C01). No database."""

import json
import math
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from chat.openai_format import BadParameter
from chat.services import Asked
from screening.text import UnacceptableText, clean_text, one_line

MAX_MESSAGES: Final = 2_000
MAX_ID: Final = 200  # characters of a name that a connector uses, as the columns
MAX_EMAIL: Final = 254
MAX_MESSAGE: Final = 200_000  # characters of one message
MAX_CHARACTERS: Final = 1_000_000  # of all messages; more than any model reads
IDEMPOTENCY_KEY: Final = r"^[!-~]{1,255}$"  # ASCII without spaces: what every client and proxy leaves as it is
# Passed to the provider as they are: the smallest and the largest value.
NUMBERS: Final = {
    "temperature": (0, 2),
    "top_p": (0, 1),
    "presence_penalty": (-2, 2),
    "frequency_penalty": (-2, 2),
}
WHOLE: Final = {
    "max_tokens": (1, 2**31 - 1),
    "max_completion_tokens": (1, 2**31 - 1),
    "seed": (-(2**63), 2**63 - 1),
}
WORDS: Final = ("reasoning_effort", "verbosity")  # which words there are is the provider's business
FORMATS: Final = ("text", "json_object", "json_schema")
MAX_STOPS: Final = 4
MAX_BIASES: Final = 1024
# Ignoring these would mislead the caller about what she got. The values are those that ask for nothing.
REFUSED: Final[Mapping[str, tuple[Any, ...]]] = {
    "tools": ([],),
    "functions": ([],),
    "tool_choice": ("none", "auto"),
    "function_call": ("none", "auto"),
    "audio": (),
    "modalities": (["text"],),
    "web_search_options": (),
    "prediction": (),
    "moderation": (),
    "logprobs": (False,),
    "top_logprobs": (0,),
    "n": (1,),
}
# What these ask for is settled here (transcripts are always stored, the cache key is ours) or changes no answer.
IGNORED: Final = (
    "parallel_tool_calls",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
    "store",
)
ADVICE: Final = {
    "n": "Only n=1 is supported. Send one request for each answer.",
    "tools": "Tools of the client are not supported: the agent has its own. Leave 'tools' out.",
    "functions": "Functions of the client are not supported: the agent has its own tools. Leave 'functions' out.",
}
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

    @property
    def model(self) -> str:
        return f"{self.organization}/{self.agent}"


def read_call(data: Any, session_header: str | None) -> ChatCall:
    """Return the call, or raise BadParameter with the name of what is wrong."""
    if not isinstance(data, dict):
        raise BadParameter("Send a JSON object with 'model' and 'messages'.", code="invalid_type")
    for name, harmless in REFUSED.items():
        value = data.get(name)
        if value is not None and not any(type(value) is type(one) and value == one for one in harmless):
            raise BadParameter(
                ADVICE.get(name, f"'{name}' is not supported here. Leave it out."),
                param=name,
                code="unsupported_value" if name == "n" else "unsupported_parameter",
            )
    organization, agent = _model(data.get("model"))
    stream_options = data.get("stream_options")
    stream_options = {} if stream_options is None else stream_options
    if not isinstance(stream_options, dict):
        raise BadParameter("'stream_options' must be an object.", param="stream_options", code="invalid_type")
    return ChatCall(
        organization=organization,
        agent=agent,
        asked=read_messages(data.get("messages")),
        stream=_boolean(data, "stream"),
        include_usage=_boolean(stream_options, "include_usage", where="stream_options."),
        end_user_id=_text("" if data.get("user") is None else data["user"], "user", limit=512),
        session_id=_session_id(data.get("metadata"), session_header),
        options=_options(data),
    )


def read_idempotency_key(value: Any, name: str = "Idempotency-Key") -> str | None:
    """Return what names a request, or None; raises BadParameter for a name that cannot be kept apart from others."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise BadParameter(f"'{name}' must be text.", param=name, code="invalid_type")
    if not re.fullmatch(IDEMPOTENCY_KEY, value):
        raise BadParameter(
            f"'{name}' must have 1 to 255 ASCII characters without spaces, a UUID for example.", param=name
        )
    return value


def _options(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are passed to the provider, each of the right kind and within its bounds."""
    checks: dict[str, tuple[Callable[[Any], bool], str]] = {
        "response_format": (_is_format, f"an object whose 'type' is one of: {', '.join(FORMATS)}"),
        "logit_bias": (_is_bias, f"an object of at most {MAX_BIASES} numbers from -100 to 100"),
        "stop": (_is_stop, f"a text, or a list of at most {MAX_STOPS} texts"),
    }
    checks |= {name: (lambda value: isinstance(value, str) and 0 < len(value) <= 32, "a word") for name in WORDS}
    options = {name: data[name] for name in (*NUMBERS, *checks) if data.get(name) is not None}
    options |= {name: _whole(data[name]) for name in WHOLE if data.get(name) is not None}
    for name, value in options.items():
        if name in checks:
            fits, wanted = checks[name]
            if not fits(value):
                raise BadParameter(f"'{name}' must be {wanted}.", param=name, code="invalid_type")
            _check_sendable(name, value)
        elif name in NUMBERS:
            _check_number(name, value, *NUMBERS[name])
        else:
            _check_number(name, value, *WHOLE[name], whole=True)
    return options


def _check_sendable(name: str, value: Any) -> None:
    """Refuse what no request to a provider can carry: its failure would count as the provider's."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise BadParameter(
            f"'{name}' contains half of a character (a lone surrogate). Send it whole.", param=name, code="surrogate"
        ) from None


def _check_number(name: str, value: Any, smallest: int, largest: int, *, whole: bool = False) -> None:
    if not (isinstance(value, int) if whole else _is_number(value)) or isinstance(value, bool):
        kind = "a whole number" if whole else "a number"
        raise BadParameter(f"'{name}' must be {kind}.", param=name, code="invalid_type")
    if not smallest <= value <= largest:
        raise BadParameter(f"'{name}' must be from {smallest} to {largest}.", param=name, code="invalid_value")


def _whole(value: Any) -> Any:
    """Return 5 for 5.0, which JSON does not tell apart, and anything else as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_stop(value: Any) -> bool:
    texts = [value] if isinstance(value, str) else value
    return isinstance(texts, list) and len(texts) <= MAX_STOPS and all(isinstance(text, str) for text in texts)


def _is_format(value: Any) -> bool:
    if not isinstance(value, dict) or value.get("type") not in FORMATS:
        return False
    return value["type"] != "json_schema" or isinstance(value.get("json_schema"), dict)


def _is_bias(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and len(value) <= MAX_BIASES
        and all(_is_number(bias) and -100 <= bias <= 100 for bias in value.values())
    )


def _boolean(data: Mapping[str, Any], name: str, where: str = "") -> bool:
    value = data.get(name)
    if value is None or isinstance(value, bool):
        return bool(value)
    raise BadParameter(f"'{where}{name}' must be true or false.", param=f"{where}{name}", code="invalid_type")


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
    value = (metadata or {}).get("session_id")
    value = header if value is None else value
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
    if not one_line(spoken[-1][1]):  # nor is what shows nothing a message
        raise BadParameter("The last message is empty.", param="messages", code="empty")
    start = max((at + 1 for at, (role, _text) in enumerate(spoken) if role == "assistant"), default=0)
    return Asked(tuple(system), tuple(spoken[:start]), tuple(spoken[start:]))


def _message(message: Any, name: str) -> tuple[str, str]:
    if not isinstance(message, dict):
        raise BadParameter(f"'{name}' must be an object with role and content.", param=name, code="invalid_type")
    role = message.get("role")
    if role in ("tool", "function") or message.get("tool_calls") or message.get("function_call"):
        raise BadParameter(
            f"'{name}' belongs to a tool of the client, and those are not supported. Leave it out.",
            param=f"{name}.role" if role in ("tool", "function") else f"{name}.tool_calls",
            code="unsupported_value",
        )
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
    return "\n".join(_part(part, role, f"{name}.content") for part in content)


def _part(part: Any, role: str, name: str) -> str:
    """Return the text of a content part; a refusal is what the assistant said, too."""
    kind = part.get("type") if isinstance(part, dict) else None
    field_of_text = "refusal" if kind == "refusal" and role == "assistant" else "text"
    if kind not in ("text", "input_text", "refusal") or not isinstance(part.get(field_of_text), str):
        what = f"'{kind}' parts are" if isinstance(kind, str) and len(kind) <= 32 else "That part is"
        raise BadParameter(f"{what} not supported. Send text.", param=name, code="unsupported_content")
    text: str = part[field_of_text]
    return text
