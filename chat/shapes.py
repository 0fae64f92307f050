"""The API as OpenAPI (C01): what each address takes and answers, from the bounds that the reader uses. No views."""

from typing import Any, Final

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from chat.requests import (
    FORMATS,
    IDEMPOTENCY_KEY,
    IGNORED,
    MAX_BIASES,
    MAX_EMAIL,
    MAX_ID,
    MAX_MESSAGE,
    MAX_MESSAGES,
    MAX_STOPS,
    NUMBERS,
    REFUSED,
    WHOLE,
    WORDS,
)
from conversations.surfaces import TRIGGERED

type Shape = dict[str, Any]

TEXT: Final[Shape] = {"type": "string"}
# What `clean_text` takes: no control characters but tab, line breaks and next line.
CLEAN: Final[Shape] = {**TEXT, "pattern": r"^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f]*$"}
COUNT: Final[Shape] = {"type": "integer", "minimum": 0}


def _object(properties: Shape, *, required: tuple[str, ...] | None = None, **more: Any) -> Shape:
    names = list(properties if required is None else required)
    return {"type": "object", "properties": properties, **({"required": names} if names else {}), **more}


def _or_null(shape: Shape) -> Shape:
    return {"anyOf": [shape, {"type": "null"}]}


# --- what is taken ----------------------------------------------------------------------------------------------------


def _part(kind: str, field: str) -> Shape:
    return _object({"type": {"const": kind}, field: {**CLEAN, "maxLength": MAX_MESSAGE}})


def _message(*roles: str) -> Shape:
    parts = [_part("text", "text"), _part("input_text", "text")]
    if "assistant" in roles:
        parts.append(_part("refusal", "refusal"))
    content: Shape = {"anyOf": [{**CLEAN, "maxLength": MAX_MESSAGE}, {"type": "array", "items": {"anyOf": parts}}]}
    properties = {"role": {"enum": list(roles)}, "content": content, "name": {}}
    nothing: Shape = {"enum": [None, []], "description": "Tools of the client are refused."}
    properties |= {"tool_calls": nothing, "function_call": {"enum": [None]}}
    if "assistant" in roles:
        properties["content"] = _or_null(content)
        return _object(properties, required=("role",))
    return _object(properties, required=("role", "content"))


def _options() -> Shape:
    options: Shape = {}
    for name, (smallest, largest) in NUMBERS.items():
        options[name] = {"type": ["number", "null"], "minimum": smallest, "maximum": largest}
    for name, (smallest, largest) in WHOLE.items():
        options[name] = {"type": ["integer", "null"], "minimum": smallest, "maximum": largest}
    for name in WORDS:
        options[name] = {"type": ["string", "null"], "minLength": 1, "maxLength": 32}
    for name, harmless in REFUSED.items():
        options[name] = {"enum": [None, *harmless], "description": "Refused, but for values that ask for nothing."}
    for name in IGNORED:
        options[name] = {"description": "Ignored."}
    bias: Shape = {"type": "number", "minimum": -100, "maximum": 100}
    json_schema = _object({"type": {"const": "json_schema"}, "json_schema": {"type": "object"}})
    plain = _object({"type": {"enum": [name for name in FORMATS if name != "json_schema"]}})
    return options | {
        "stop": _or_null({"anyOf": [TEXT, {"type": "array", "maxItems": MAX_STOPS, "items": TEXT}]}),
        "response_format": _or_null({"anyOf": [plain, json_schema]}),
        "logit_bias": _or_null({"type": "object", "maxProperties": MAX_BIASES, "additionalProperties": bias}),
    }


def _call() -> Shape:
    messages = [_message("system", "developer", "user"), _message("assistant")]
    flag: Shape = {"type": ["boolean", "null"]}
    session: Shape = {**TEXT, "format": "uuid", "description": "Goes on with this session."}
    properties: Shape = {
        "model": {**TEXT, "minLength": 1, "description": "ORGANIZATION/AGENT, as GET /v1/models lists them."},
        "messages": {
            "type": "array",
            "minItems": 1,
            "maxItems": MAX_MESSAGES,
            "items": {"anyOf": messages},
            "description": "The last one that is no system message must be the user's and must not be empty.",
        },
        "stream": flag,
        "stream_options": _or_null(_object({"include_usage": flag}, required=())),
        "user": _or_null({**CLEAN, "maxLength": 512, "description": "Your end user; never splits memory."}),
        "metadata": _or_null(_object({"session_id": _or_null(session)}, required=())),
    }
    return _object(properties | _options(), required=("model", "messages"))


CALL: Final = _call()
LINE: Final[Shape] = {**TEXT, "pattern": r"^[^\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029]*$"}
TRIGGER_CALL: Final = _object(
    {
        "agent": {**LINE, "maxLength": MAX_ID, "description": "ORGANIZATION/AGENT."},
        "text": {**CLEAN, "minLength": 1, "maxLength": MAX_MESSAGE},
        "external_user": {**LINE, "minLength": 1, "maxLength": MAX_ID, "description": "The speaker's name there."},
        "thread": _or_null({**LINE, "maxLength": MAX_ID, "description": "The same thread is the same session."}),
        "email": _or_null({**LINE, "maxLength": MAX_EMAIL, "description": "Maps the speaker to a member."}),
        "public": {"type": ["boolean", "null"], "description": "Whether everybody there can read the thread."},
        "event_id": _or_null(
            {**TEXT, "pattern": IDEMPOTENCY_KEY, "description": "The event's name there; the same as Idempotency-Key."}
        ),
    },
    required=("agent", "text", "external_user"),
    additionalProperties=False,
)
CALL_HEADERS: Final = (
    OpenApiParameter(
        "Idempotency-Key",
        {**TEXT, "pattern": IDEMPOTENCY_KEY},
        OpenApiParameter.HEADER,
        description="The same request with the same key runs once in 24 hours and is then answered from the store.",
    ),
    OpenApiParameter(
        "X-Session-Id",
        {**TEXT, "format": "uuid"},
        OpenApiParameter.HEADER,
        description="Goes on with this session; metadata.session_id wins.",
    ),
)

# --- what is answered -------------------------------------------------------------------------------------------------

_USAGE: Final = _object({"prompt_tokens": COUNT, "completion_tokens": COUNT, "total_tokens": COUNT})
_CHOICE: Final = _object(
    {
        "index": {"const": 0},
        "message": _object({"role": {"const": "assistant"}, "content": TEXT, "refusal": {"type": "null"}}),
        "logprobs": {"type": "null"},
        "finish_reason": TEXT,
    }
)
COMPLETION: Final = _object(
    {
        "id": {**TEXT, "pattern": "^chatcmpl-[0-9a-f]{32}$"},
        "object": {"const": "chat.completion"},
        "created": COUNT,
        "model": TEXT,
        "choices": {"type": "array", "minItems": 1, "maxItems": 1, "items": _CHOICE},
        "usage": _USAGE,
        "metadata": _object({"session_id": {**TEXT, "format": "uuid"}}),
    },
    additionalProperties=False,
)
TRIGGER_REPLY: Final = _object(
    {
        "session_id": {**TEXT, "format": "uuid"},
        "turn_id": {**TEXT, "format": "uuid"},
        "status": {**TEXT, "description": "completed, output_restricted, input_blocked or stopped."},
        "reply": {**TEXT, "description": "What to show there; of a stopped turn what had come, or nothing."},
        "finish_reason": TEXT,
        "memory": TEXT,
        "mapped": {"type": "boolean", "description": "Whether the speaker is a member of the organization."},
        "usage": _USAGE,
    },
    additionalProperties=False,
)
STREAM: Final[Shape] = {**TEXT, "description": "Events `data: {chat.completion.chunk}`, comments, `data: [DONE]`."}
ERROR: Final = _object(
    {
        "error": _object(
            {
                "message": TEXT,
                "type": TEXT,
                "param": {"type": ["string", "null"]},
                "code": {"type": ["string", "null"]},
            },
            additionalProperties=False,
        )
    },
    additionalProperties=False,
)


def _ref(name: str) -> Shape:
    return {"$ref": f"#/components/schemas/{name}"}


_EVERYWHERE: Final = {
    401: "No key, or one that is wrong, expired or revoked.",
    403: "The key's scope is another: `chat`, or `triggers`.",
    429: "Too many requests; Retry-After says when to come back.",
    500: "A fault of the server; logged without any text.",
    503: "The database, or the model's provider, cannot be reached.",
}
_OF_CHAT: Final = {
    400: "A parameter cannot be served as it is; `param` names it.",
    404: "The agent or the session does not exist, or this key may not see it.",
    409: "The session is busy, or the first request of this Idempotency-Key still runs.",
    411: "The body has no Content-Length.",
    413: "The body is too large.",
    415: "The body is no application/json.",
    422: "The Idempotency-Key came with another body, or its conversation was deleted.",
    502: "The model's provider failed.",
    504: "The model's provider did not answer in time.",
}
_HEADERS: Final[Shape] = {
    "X-Request-Id": {"schema": {**TEXT, "format": "uuid"}, "description": "The id of its lines in the log."},
    "x-ratelimit-limit-requests": {"schema": TEXT, "description": "Requests a minute."},
    "x-ratelimit-remaining-requests": {"schema": TEXT, "description": "How many are left."},
    "x-ratelimit-reset-requests": {"schema": TEXT, "description": "When all are back, for example 1m30s."},
}

CHAT: Final[Shape] = {
    "operation_id": "create_chat_completion",
    "summary": "One turn with an agent, whole or streamed.",
    "parameters": list(CALL_HEADERS),
    "request": {"application/json": _ref("ChatCompletionRequest")},
    "responses": {
        (200, "application/json"): _ref("ChatCompletion"),
        (200, "text/event-stream"): STREAM,
        **{
            (code, "application/json"): OpenApiResponse(_ref("Error"), description)
            for code, description in _OF_CHAT.items()
        },
    },
}
TRIGGER: Final[Shape] = {
    "operation_id": "create_trigger_turn",
    "summary": "One turn for somebody who speaks through a connector; memory never acts there.",
    "parameters": [OpenApiParameter("surface", {"enum": list(TRIGGERED)}, OpenApiParameter.PATH), CALL_HEADERS[0]],
    "request": {"application/json": _ref("TriggerRequest")},
    "responses": {
        (200, "application/json"): _ref("TriggerReply"),
        **{
            (code, "application/json"): OpenApiResponse(_ref("Error"), _OF_CHAT[code])
            for code in (400, 404, 409, 411, 413, 415, 422, 502, 504)
        },
    },
}
SCHEMA: Final[Shape] = {
    "operation_id": "schema",
    "summary": "This description.",
    "responses": {(200, "application/json"): {"type": "object", "additionalProperties": True}},
}


def complete(result: Shape, **_more: Any) -> Shape:
    """Add to a generated schema what holds at every address: errors, and headers of the answers."""
    result["components"]["schemas"] = {
        "Error": ERROR,
        "ChatCompletionRequest": CALL,
        "ChatCompletion": COMPLETION,
        "TriggerRequest": TRIGGER_CALL,
        "TriggerReply": TRIGGER_REPLY,
    }
    for operations in result["paths"].values():
        for operation in operations.values():
            if "requestBody" in operation:
                operation["requestBody"]["required"] = True
            responses = operation["responses"]
            responses["200"]["description"] = operation["summary"]
            for code, description in _EVERYWHERE.items():
                content = {"application/json": {"schema": _ref("Error")}}
                responses[str(code)] = {"description": description, "content": content}
            for response in responses.values():
                response["headers"] = _HEADERS
            operation["responses"] = dict(sorted(responses.items()))
    return result


class ApiKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How a key is sent."""

    target_class = "accounts.authentication.ApiKeyAuthentication"
    name = "apiKey"

    def get_security_definition(self, auto_schema: Any) -> Shape:
        return {"type": "http", "scheme": "bearer", "description": "An API key."}
