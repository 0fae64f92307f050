"""The shapes of OpenAI's chat-completions protocol (C01): strict JSON in, answers and errors out."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final, NoReturn
from uuid import UUID

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework import exceptions
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.mediatypes import media_type_matches

from llm.client import Completion, Usage

MAX_DEPTH: Final = 32
MAX_DIGITS: Final = 308  # of a whole number: what has more may be larger than any float
# JSON lets them stand; clients that split a stream by `str.splitlines` would cut an event in two there.
_LINE_ENDS: Final = {ord(sign): f"\\u{ord(sign):04x}" for sign in "\x85\u2028\u2029"}
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_TYPES: Final = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


class BadParameter(exceptions.APIException):
    """A request that cannot be served as it is; names the parameter. `wait` (seconds) becomes `Retry-After`."""

    status_code = 400

    def __init__(
        self,
        message: str,
        *,
        param: str | None = None,
        code: str = "invalid_value",
        status: int = 400,
        wait: int | None = None,
    ):
        super().__init__(message, code)
        self.wait = wait
        self.param = param
        self.error_code = code
        self.status_code = status


def error_body(message: str, *, status: int, code: str | None = None, param: str | None = None) -> dict[str, Any]:
    """Return an error in OpenAI's shape."""
    kind = _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def exception_handler(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """Turn what a view raised into OpenAI's error shape; unknown errors go on to the 500 handler."""
    # Not at import: that module reads the setting that names this one.
    from rest_framework.views import exception_handler as drf_exception_handler

    if isinstance(error, Http404):
        error = exceptions.NotFound("It does not exist, or this key may not see it.")
    elif isinstance(error, PermissionDenied):
        error = exceptions.PermissionDenied("This key may see the agent but not use it this way.")
    response = drf_exception_handler(error, dict(context))
    if response is None or not isinstance(error, exceptions.APIException):
        return response
    codes = error.get_codes()
    response.data = error_body(
        _sentence(error.detail),
        status=response.status_code,
        code=codes if isinstance(codes, str) else None,
        param=getattr(error, "param", None),
    )
    return response


def _sentence(detail: Any) -> str:
    return str(detail) if isinstance(detail, str) else json.dumps(detail, default=str)


class OneFormat(BaseContentNegotiation):
    """Answers in JSON whatever `Accept` says: those who stream ask for event streams and get errors as JSON."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        return next((one for one in parsers if media_type_matches(one.media_type, request.content_type)), None)

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        renderer = next(iter(renderers))
        return renderer, str(renderer.media_type)


def body_of(request: Request) -> Any:
    """Return the parsed body. One without a stated length would be read as an empty one, so it is refused by 411."""
    if "chunked" in request.headers.get("Transfer-Encoding", "").lower():
        raise BadParameter(
            "Send the body with a Content-Length, not in chunks of unknown number.", code="length_required", status=411
        )
    return request.data


class StrictJSONParser(BaseParser):
    """JSON without NaN, numbers beyond a float's or lone surrogates in names, at most 32 deep; else a 400 says why."""

    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> Any:
        body = _read_bounded(stream)
        try:
            value = json.loads(body, parse_constant=_refuse_constant, parse_float=_finite, parse_int=_whole)
        except RecursionError:
            raise exceptions.ParseError("The JSON is nested too deeply.") from None
        except UnicodeDecodeError:
            raise exceptions.ParseError("The body is not UTF-8.") from None
        except ValueError as error:
            where = f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
            raise exceptions.ParseError(f"The body is not valid JSON{where}.") from None
        _check_inside(value)
        return value


def _read_bounded(stream: Any) -> bytes:
    """Return the body; one that is too large is refused before it is held in memory."""
    limit: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    body: bytes = stream.read(limit + 1)
    if len(body) > limit:
        raise BadParameter(
            f"The body has more than {limit // 1024 // 1024} MiB. Send less of the history.",
            code="request_too_large",
            status=413,
        )
    return body


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise exceptions.ParseError("The JSON has a number that is too large.")
    return value


def _whole(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise exceptions.ParseError("The JSON has a number that is too large.")
    return int(text)


def _check_inside(value: Any) -> None:
    """Raise ParseError for what is nested too deeply, and for a name that could not be told in an answer."""
    level = [value]
    for _depth in range(MAX_DEPTH + 1):
        if any(_LONE_SURROGATE.search(name) for outer in level if isinstance(outer, dict) for name in outer):
            raise exceptions.ParseError("The JSON has half of a character (a lone surrogate) in the name of a field.")
        level = [
            inner
            for outer in level
            if isinstance(outer, (dict, list))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return
    raise exceptions.ParseError(f"The JSON is nested more than {MAX_DEPTH} deep.")


def _usage(usage: Usage) -> dict[str, int]:
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.total_tokens,
    }


def completion_id(turn_id: UUID) -> str:
    return f"chatcmpl-{turn_id.hex}"


def completion_body(
    completion: Completion, *, turn_id: UUID, session_id: UUID, model: str, created: datetime
) -> dict[str, Any]:
    """Return a whole answer; `session_id` is ours and comes as metadata."""
    return {
        "id": completion_id(turn_id),
        "object": "chat.completion",
        "created": int(created.timestamp()),
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": completion.text, "refusal": None},
                "logprobs": None,
                "finish_reason": completion.finish_reason,
            }
        ],
        "usage": _usage(completion.usage),
        "metadata": {"session_id": str(session_id)},
    }


class ChunkWriter:
    """Writes the server-sent events of one streamed answer."""

    def __init__(self, *, turn_id: UUID, session_id: UUID, model: str, created: datetime, include_usage: bool) -> None:
        self._base = {
            "id": completion_id(turn_id),
            "object": "chat.completion.chunk",
            "created": int(created.timestamp()),
            "model": model,
            "metadata": {"session_id": str(session_id)},
        }
        self._include_usage = include_usage

    def _event(self, body: Mapping[str, Any]) -> bytes:
        text = json.dumps(body, ensure_ascii=False)
        if not text.isascii():
            text = text.translate(_LINE_ENDS)
        return f"data: {text}\n\n".encode()

    def _chunk(self, delta: Mapping[str, str], finish_reason: str | None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        usage = {"usage": None} if self._include_usage else {}
        return self._event({**self._base, "choices": [choice], **usage})

    def first(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""}, None)

    def text(self, text: str) -> bytes:
        return self._chunk({"content": text}, None)

    def last(self, finish_reason: str, usage: Usage) -> bytes:
        end = self._chunk({}, finish_reason)
        if self._include_usage:
            end += self._event({**self._base, "choices": [], "usage": _usage(usage)})
        return end + b"data: [DONE]\n\n"

    def error(self, message: str, *, status: int, code: str) -> bytes:
        return self._event(error_body(message, status=status, code=code))
