"""A model behind any OpenAI-compatible server (C05); must not know who asks or what is remembered."""

import random
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from llm.client import ChatRequest, Chunk, Completion, ModelError, Usage

if TYPE_CHECKING:
    from openai import OpenAI

ATTEMPTS: Final = 3
FIRST_WAIT: Final = 0.5  # seconds, doubled and jittered
LONGEST_WAIT: Final = 8.0  # a longer Retry-After is the caller's to wait for


class OpenAIModel:
    """Chat completions over HTTP, with time-outs, retries with jitter, and errors that carry no text."""

    def __init__(self, *, base_url: str, api_key: str, timeout: float, sleep: Callable[[float], None] = time.sleep):
        self._base_url = base_url
        self._api_key = api_key
        self._timeout = timeout
        self._sleep = sleep

    def _client(self) -> "OpenAI":
        from openai import DefaultHttpxClient, OpenAI

        # No redirects: an address that was checked must not lead to one that was not.
        http = DefaultHttpxClient(follow_redirects=False)
        return OpenAI(
            base_url=self._base_url,
            api_key=self._api_key or "none",
            timeout=self._timeout,
            max_retries=0,
            http_client=http,
        )

    def _arguments(self, request: ChatRequest) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": request.model,
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
            **request.options,
        }
        if request.schema is not None:
            schema = {"name": request.schema.name, "schema": dict(request.schema.schema), "strict": True}
            arguments["response_format"] = {"type": "json_schema", "json_schema": schema}
        if request.cache_key:
            arguments["prompt_cache_key"] = request.cache_key
        return arguments

    def complete(self, request: ChatRequest) -> Completion:
        with self._client() as client:
            answer = self._with_retries(lambda: client.chat.completions.create(**self._arguments(request)))
        choices = getattr(answer, "choices", None)
        if not choices or choices[0].message is None:
            raise ModelError("bad_answer", retryable=True)
        return Completion(
            text=choices[0].message.content or "",
            finish_reason=choices[0].finish_reason or "stop",
            usage=_usage(answer.usage),
            model=answer.model or request.model,
        )

    def stream(self, request: ChatRequest) -> Iterator[Chunk]:
        from openai import OpenAIError

        arguments = self._arguments(request) | {"stream": True, "stream_options": {"include_usage": True}}
        with self._client() as client:
            answer = self._with_retries(lambda: client.chat.completions.create(**arguments))
            finished = False
            try:
                with answer:
                    for event in answer:
                        choice = event.choices[0] if event.choices else None
                        text = (choice.delta.content or "") if choice and choice.delta else ""
                        reason = choice.finish_reason if choice else None
                        finished = finished or reason is not None
                        usage = _usage(event.usage) if event.usage else None
                        if text or reason or usage:
                            yield Chunk(text, reason, usage)
            except OpenAIError as error:
                raise _model_error(error) from None
            except (OSError, ValueError, AttributeError, IndexError):
                raise ModelError("bad_answer", retryable=True) from None
            except Exception as error:
                raise _transport_error(error) from None
            if not finished:
                raise ModelError("cut_off", retryable=True)

    def _with_retries(self, call: Callable[[], Any]) -> Any:
        from openai import OpenAIError

        for attempt in range(1, ATTEMPTS + 1):
            try:
                return call()
            except OpenAIError as error:
                failure = _model_error(error)
            except ValueError:  # the body is no JSON
                failure = ModelError("bad_answer", retryable=True)
            wait = FIRST_WAIT * 2 ** (attempt - 1) * random.uniform(0.5, 1.5)  # noqa: S311 (jitter)
            wait = max(wait, failure.retry_after or 0)
            if not failure.retryable or attempt == ATTEMPTS or wait > LONGEST_WAIT:
                raise failure from None
            self._sleep(wait)
        raise AssertionError  # pragma: no cover


def _usage(usage: Any) -> Usage:
    if usage is None:
        return Usage()
    return Usage(usage.prompt_tokens or 0, usage.completion_tokens or 0)


def _model_error(error: Exception) -> ModelError:
    """Translate the client's error to a code; its text may quote the request and is left behind."""
    import openai

    if isinstance(error, openai.APITimeoutError):
        return ModelError("timeout", retryable=True)
    if isinstance(error, openai.APIConnectionError):
        return ModelError("unreachable", retryable=True)
    if isinstance(error, openai.APIStatusError):
        status = error.status_code
        retry_after = _seconds(error.response.headers.get("retry-after"))
        if status == 429:
            return ModelError("rate_limited", retryable=True, status=status, retry_after=retry_after)
        if status in (401, 403):
            return ModelError("unauthorized", retryable=False, status=status)
        if status == 408 or status >= 500:
            return ModelError("server_error", retryable=True, status=status, retry_after=retry_after)
        return ModelError("refused_request", retryable=False, status=status)
    return ModelError("bad_answer", retryable=True)


def _transport_error(error: Exception) -> ModelError:
    """The HTTP library's own errors reach us in the middle of a stream."""
    timeout = "timeout" in type(error).__name__.lower()
    return ModelError("timeout" if timeout else "cut_off", retryable=True)


def _seconds(value: str | None) -> float | None:
    try:
        return max(0.0, float(value)) if value is not None else None
    except ValueError:
        return None
