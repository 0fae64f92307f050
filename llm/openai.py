"""A model behind any OpenAI-compatible server (C05); must not know who asks or what is remembered."""

import json
import random
import time
from collections.abc import Callable, Generator, Iterator, Set
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from llm.client import ChatRequest, Chunk, Completion, ModelError, ToolCall, Usage, as_piece
from llm.members import members
from llm.tool_calls import Gathered, tool_arguments, wire_message
from llm.wire import RefusedAddress, TooBig, Wire, resolved

if TYPE_CHECKING:
    from openai import OpenAI

    from llm.pinned import Resolve

ATTEMPTS: Final = 3
FIRST_WAIT: Final = 0.5  # seconds, doubled and jittered
LONGEST_WAIT: Final = 8.0  # a longer Retry-After is the caller's to wait for
STREAM_SECONDS: Final = 600.0  # of one streamed reply

# What a provider turned out not to take. Each costs one refused call, so whoever keeps the model's rows remembers them.
NO_SCHEMA: Final = "no_schema"  # answers 400 to `response_format`: is asked by instruction instead
NO_TOOLS: Final = "no_tools"  # refuses `tools`: is asked without
NEW_LIMIT: Final = "new_limit"  # knows `max_completion_tokens` and refuses `max_tokens`

BY_INSTRUCTION: Final = "Answer with one JSON value and nothing else. It must follow this JSON schema:\n"


class OpenAIModel:
    """Chat completions over HTTP, with time-outs, retries with jitter, and errors that carry no text.

    `timeout` (seconds) bounds the wait for a byte and, in a call that is not streamed, for the whole answer.
    `quirks` are what the provider is known not to take; `learn` is told of new ones. `resolve` says to which addresses
    the host's name may lead; it raises RefusedAddress.
    """

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str,
        timeout: float,
        resolve: "Resolve" = resolved,
        attempts: int = ATTEMPTS,
        quirks: Set[str] = frozenset(),
        learn: Callable[[str], None] = lambda quirk: None,
        sleep: Callable[[float], None] = time.sleep,
    ):
        self._base_url = base_url
        self._api_key = api_key
        self._timeout = timeout
        self._resolve = resolve
        self._attempts = attempts
        self._quirks = set(quirks)
        self._learn = learn
        self._sleep = sleep

    def wire(self, seconds: float) -> Wire:
        """Return a connection for one call of at most `seconds`, which run only when all that it needs is loaded."""
        import openai.resources.chat
        import openai.resources.models  # noqa: F401

        return Wire(timeout=self._timeout, seconds=seconds, resolve=self._resolve)

    def _client(self, wire: Wire) -> "OpenAI":
        from openai import OpenAI

        return OpenAI(
            base_url=self._base_url,
            api_key=self._api_key or "none",
            timeout=self._timeout,
            max_retries=0,
            http_client=wire.client,
        )

    def _arguments(self, request: ChatRequest) -> dict[str, Any]:
        messages = [wire_message(message) for message in request.messages]
        arguments: dict[str, Any] = {"model": request.model, "messages": messages, **request.options}
        if request.schema is not None and NO_SCHEMA in self._quirks:
            rule = BY_INSTRUCTION + json.dumps(dict(request.schema.schema), ensure_ascii=False)
            if messages and messages[0]["role"] == "system":
                messages[0]["content"] += f"\n\n{rule}"
            else:
                messages.insert(0, {"role": "system", "content": rule})
        elif request.schema is not None:
            schema = {"name": request.schema.name, "schema": dict(request.schema.schema), "strict": True}
            arguments["response_format"] = {"type": "json_schema", "json_schema": schema}
        if NO_TOOLS not in self._quirks:
            arguments |= tool_arguments(request)
        if request.max_tokens is not None:
            arguments["max_completion_tokens" if NEW_LIMIT in self._quirks else "max_tokens"] = request.max_tokens
        if request.cache_key:
            arguments["prompt_cache_key"] = request.cache_key
        return arguments

    def complete(self, request: ChatRequest, *, watch: Callable[[Wire], None] = lambda wire: None) -> Completion:
        """Return the whole answer; `watch` is shown the connection of each try, and may raise ModelError."""

        def call() -> Any:
            with self.wire(self._timeout) as wire:
                watch(wire)
                try:
                    return self._client(wire).chat.completions.create(**self._arguments(request))
                except Exception as error:
                    raise _model_error(error, late=wire.late) from None

        answer = self._with_retries(request, call)
        choices = getattr(answer, "choices", None)
        if not choices or (message := choices[0].message) is None:
            raise ModelError("bad_answer", retryable=True)
        text = _answer_text(message, structured=request.schema is not None)
        if not text and not request.tools and getattr(message, "tool_calls", None):
            raise ModelError("bad_answer", retryable=False)  # nobody offered it a tool; it would do so again
        return Completion(
            text=text,
            finish_reason=choices[0].finish_reason or "stop",
            usage=_usage(answer.usage),
            model=answer.model or request.model,
            tool_calls=_calls(message) if request.tools else (),
        )

    def models(self) -> list[str]:
        """Return the names of the models that the server offers. Raises ModelError; tries once."""
        with self.wire(self._timeout) as wire:
            try:
                offered = getattr(self._client(wire).models.list(), "data", None)
            except Exception as error:
                raise _model_error(error, late=wire.late) from None
        if not isinstance(offered, list):
            raise ModelError("bad_answer", retryable=True)
        return [str(getattr(model, "id", "")) for model in offered]

    def whole(self, request: ChatRequest) -> Iterator[Chunk]:
        return _Whole(self, request)

    def stream(self, request: ChatRequest) -> Iterator[Chunk]:
        return _Stream(self, request)

    def _pieces(self, request: ChatRequest, wire: Wire) -> Generator[Chunk]:
        more: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}

        def call() -> Any:
            from openai import Stream

            try:
                # Not `chat.completions.create`: the objects that it makes of each piece cost more than all else.
                return self._client(wire).post(
                    "/chat/completions",
                    body=self._arguments(request) | more,
                    cast_to=object,
                    stream=True,
                    stream_cls=Stream[object],
                )
            except Exception as error:
                raise _model_error(error, late=wire.late) from None

        with wire:
            answer = self._with_retries(request, call)
            heard = spoke = called = finished = False
            gathered = Gathered()
            try:
                with answer:
                    for event in map(members, answer):
                        heard = True
                        choice = event.choices[0] if event.choices else None
                        text = (choice.delta.content or "") if choice and choice.delta else ""
                        gathered.add((choice.delta.tool_calls if choice and choice.delta else None) or ())
                        reason = choice.finish_reason if choice else None
                        finished, spoke = finished or reason is not None, spoke or bool(text)
                        called = called or bool(choice and choice.delta and choice.delta.tool_calls)
                        if finished and called and not spoke and not request.tools:
                            raise ModelError("bad_answer", retryable=False)
                        usage = _usage(event.usage) if event.usage else None
                        if text or reason or usage:
                            yield Chunk(text, reason, usage)
            except Exception as error:
                failure = _model_error(error, late=wire.late)
                # The HTTP library's own errors reach us in the middle of a stream: what came was cut off.
                raise ModelError("cut_off", retryable=True) if failure.code == "unreachable" else failure from None
            if not finished:
                raise ModelError("cut_off" if heard else "bad_answer", retryable=True)
            if request.tools and (calls := gathered.calls()):
                yield Chunk(tool_calls=calls)

    def _with_retries(self, request: ChatRequest, call: Callable[[], Any]) -> Any:
        for attempt in range(1, self._attempts + 1):
            try:
                return self._adapting(request, call)
            except ModelError as error:
                failure = error
            wait = FIRST_WAIT * 2 ** (attempt - 1) * random.uniform(0.5, 1.5)  # noqa: S311 (jitter)
            wait = max(wait, failure.retry_after or 0)
            if not failure.retryable or attempt == self._attempts or wait > LONGEST_WAIT:
                raise failure
            self._sleep(wait)
        raise AssertionError  # pragma: no cover

    def _adapting(self, request: ChatRequest, call: Callable[[], Any]) -> Any:
        """Call; when the request was refused, leave out one after another what this provider may not know."""
        tried: list[str] = []
        while True:
            try:
                answer = call()
            except _Refused as error:
                quirk = self._next_quirk(request, error)
                if quirk is None:
                    self._quirks.difference_update(tried)  # it was not that
                    raise
                tried.append(quirk)
                self._quirks.add(quirk)
            else:
                for quirk in tried:
                    self._learn(quirk)
                return answer

    def _next_quirk(self, request: ChatRequest, error: "_Refused") -> str | None:
        if error.names_new_limit and request.max_tokens is not None and NEW_LIMIT not in self._quirks:
            return NEW_LIMIT
        # After a tool was used the provider evidently takes them.
        unused = not any(message.tool_calls for message in request.messages)
        if error.names_tools and request.tools and unused and NO_TOOLS not in self._quirks:
            return NO_TOOLS
        return NO_SCHEMA if request.schema is not None and NO_SCHEMA not in self._quirks else None


class _Stream(Iterator[Chunk]):
    """The pieces of one reply; `abort` may be called by another thread."""

    def __init__(self, model: OpenAIModel, request: ChatRequest) -> None:
        self._wire = model.wire(STREAM_SECONDS)
        self._pieces = model._pieces(request, self._wire)

    def __next__(self) -> Chunk:
        return next(self._pieces)

    def close(self) -> None:
        self._pieces.close()

    def abort(self) -> None:
        self._wire.cut()


class _Whole(Iterator[Chunk]):
    """A reply that is read whole, as one piece; after `abort`, by another thread, it is not asked for again."""

    def __init__(self, model: OpenAIModel, request: ChatRequest) -> None:
        self._left = [partial(model.complete, request, watch=self._watch)]
        self._wire: Wire | None = None
        self._aborted = False

    def __next__(self) -> Chunk:
        if not self._left:
            raise StopIteration
        return as_piece(self._left.pop()())

    def abort(self) -> None:
        self._aborted = True
        if self._wire is not None:
            self._wire.cut()

    def _watch(self, wire: Wire) -> None:
        self._wire = wire  # first: whoever aborts from now on sees it
        if self._aborted:
            raise ModelError("cut_off", retryable=False)


class _Refused(ModelError):
    """A 400 or 422, or a 404 for want of tools: the request is not understood."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__("refused_request", retryable=False, status=status)
        self.names_new_limit = "max_completion_tokens" in message
        self.names_tools = _names_tools(message)


def _names_tools(message: str) -> bool:
    return "tool" in message.lower() or "function call" in message.lower()


def _calls(message: Any) -> tuple[ToolCall, ...]:
    gathered = Gathered()
    gathered.add(getattr(message, "tool_calls", None) or ())
    return gathered.calls()


def _answer_text(message: Any, *, structured: bool) -> str:
    """Return what the model said, wherever it put it: content, parts, a tool call, its reasoning, a refusal."""
    content = message.content
    if isinstance(content, list):
        content = "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    if isinstance(content, str) and content.strip():
        return content
    if structured:
        for call in getattr(message, "tool_calls", None) or ():
            arguments = getattr(getattr(call, "function", None), "arguments", None)
            if isinstance(arguments, str) and arguments.strip():
                return arguments
        for name in ("reasoning_content", "reasoning"):
            text = getattr(message, name, None)
            if isinstance(text, str) and text.strip():
                return text
    refusal = getattr(message, "refusal", None)
    return refusal if isinstance(refusal, str) else ""


def _usage(usage: Any) -> Usage:
    return Usage(_count(usage, "prompt_tokens"), _count(usage, "completion_tokens"))


def _count(usage: Any, name: str) -> int:
    value = getattr(usage, name, None)
    return min(value, 2**31 - 1) if isinstance(value, int) and value > 0 else 0


def _model_error(error: Exception, *, late: bool = False) -> ModelError:
    """Translate the client's error to a code; its text may quote the request and is left behind."""
    import openai

    if late:
        return ModelError("timeout", retryable=True)
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, TooBig):
            return ModelError("too_big", retryable=False)
        if isinstance(seen, RefusedAddress):
            return ModelError("refused_address", retryable=False)
        seen = seen.__cause__ or seen.__context__
    if isinstance(error, ModelError):
        return error
    if isinstance(error, openai.APITimeoutError) or "timeout" in type(error).__name__.lower():
        return ModelError("timeout", retryable=True)
    if isinstance(error, openai.APIStatusError):
        return _status_error(error)
    if isinstance(error, (openai.APIConnectionError, OSError)) or type(error).__module__.startswith("httpx2"):
        return ModelError("unreachable", retryable=True)
    if type(error) is openai.APIError:  # an error object in the middle of a stream
        return ModelError("server_error", retryable=True)
    return ModelError("bad_answer", retryable=True)


def _status_error(error: Any) -> ModelError:
    status: int = error.status_code
    retry_after = _seconds(error.response.headers.get("retry-after"))
    if status == 429:
        return ModelError("rate_limited", retryable=True, status=status, retry_after=retry_after)
    if status in (401, 403):
        return ModelError("unauthorized", retryable=False, status=status)
    if status in (408, 409) or status >= 500:
        return ModelError("server_error", retryable=True, status=status, retry_after=retry_after)
    if status in (400, 422) or (status == 404 and _names_tools(str(error.message))):
        return _Refused(status, str(error.message))
    return ModelError("refused_request", retryable=False, status=status)


def _seconds(value: str | None) -> float | None:
    """Return how long a Retry-After header asks to wait: it holds seconds or an HTTP date."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            at = parsedate_to_datetime(value)
        except ValueError:
            return None
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        seconds = (at - datetime.now(UTC)).total_seconds()
    return min(max(0.0, seconds), 86_400.0) if seconds == seconds else None  # noqa: PLR0124 (not a number)
