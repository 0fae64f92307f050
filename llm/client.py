"""The protocol that every model client speaks (C05), its messages and its errors; must not know any provider."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model wants to be used; `arguments` is JSON text as the model wrote it, so it may be anything."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool that is offered to the model; `parameters` is the JSON schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message as it is sent to a model.

    An assistant message may carry the tool calls that it made; a tool message answers the one named by `tool_call_id`.
    """

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""


@dataclass(frozen=True, slots=True)
class ResponseSchema:
    """A JSON schema that the answer must follow; `name` also tells the offline model what is asked of it."""

    name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, as the provider counts them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(self.prompt_tokens + other.prompt_tokens, self.completion_tokens + other.completion_tokens)

    @property
    def total_tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call to a model. `cache_key` is a hash of the compiled system prompt (C07); `options` are passed through.

    `max_tokens` bounds the answer; None leaves the bound to the provider. With `tools` the answer may be tool calls;
    `may_call` false keeps the tools of earlier messages known and asks for words.
    """

    model: str
    messages: tuple[ChatMessage, ...]
    schema: ResponseSchema | None = None
    cache_key: str | None = None
    max_tokens: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    tools: tuple[ToolSpec, ...] = ()
    may_call: bool = True


@dataclass(frozen=True, slots=True)
class Completion:
    """A whole answer; with `tool_calls` it waits for their results."""

    text: str
    finish_reason: str = "stop"
    usage: Usage = Usage()
    model: str = ""
    tool_calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a streamed answer; `finish_reason`, `usage` and whole `tool_calls` come with the last pieces.

    `model` is the name that the provider tells, where it comes with the piece.
    """

    text: str = ""
    finish_reason: str | None = None
    usage: Usage | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    model: str = ""


class ModelError(Exception):
    """A call failed. Carries a code and no text of the conversation, so that it may be logged and stored.

    `code` is one of: unreachable, timeout, rate_limited, unauthorized, refused_request, server_error, cut_off,
    bad_answer, too_big, misconfigured, refused_address (its name leads where nothing may be sent), unavailable (not
    called: it failed too often just now). `retry_after` is in seconds.
    """

    def __init__(self, code: str, *, retryable: bool, status: int | None = None, retry_after: float | None = None):
        super().__init__(code)
        self.code = code
        self.retryable = retryable
        self.status = status
        self.retry_after = retry_after


@runtime_checkable
class Abortable(Protocol):
    """A stream that another thread may end while somebody waits for its next piece."""

    def abort(self) -> None:
        """Close the connection; whoever waits gets an error at once."""
        ...


class ChatModel(Protocol):
    """What the rest of the system knows of a model."""

    def complete(self, request: ChatRequest) -> Completion:
        """Return the whole answer, or raise ModelError."""
        ...

    def stream(self, request: ChatRequest) -> Iterator[Chunk]:
        """Yield the answer in pieces, or raise ModelError, also in the middle. Closing the iterator ends the call.

        An iterator that waits for a network is `Abortable`.
        """
        ...


@runtime_checkable
class InterruptibleModel(Protocol):
    """A model whose whole answers, too, may be given up while they are waited for."""

    def whole(self, request: ChatRequest) -> Iterator[Chunk]:
        """Return what `complete` returns as one piece; the iterator is `Abortable`."""
        ...


def whole(model: ChatModel, request: ChatRequest) -> Iterator[Chunk]:
    """Return the answer of `complete` as a stream of one piece, Abortable where the model can be interrupted."""
    return model.whole(request) if isinstance(model, InterruptibleModel) else _whole(model, request)


def _whole(model: ChatModel, request: ChatRequest) -> Iterator[Chunk]:
    yield as_piece(model.complete(request))


def as_piece(completion: Completion) -> Chunk:
    """Return a whole answer as the only piece of a stream."""
    return Chunk(completion.text, completion.finish_reason, completion.usage, completion.tool_calls, completion.model)
