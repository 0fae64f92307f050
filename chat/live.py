"""What a page's script gets of a turn that runs: its reply as events, or the turn once more (C03). Knows no page."""

import json
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import structlog
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone, translation

from chat import services
from chat.leftover import carry_on
from conversations.models import Message, Turn
from llm.client import Completion, ModelError

EVENT_STREAM: Final = "text/event-stream"
KEEP_ALIVE: Final = b": keep-alive\n\n"  # a comment of the protocol; the page's script skips it
LOOKS: Final = 200  # at a running turn, up to five seconds apart; a process that died would be watched for ever

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where a session's page is, sends and stops; what shows a turn once more is `turns`, its id and a slash."""

    page: str
    send: str
    stop: str = ""
    turns: str = ""


def wants_stream(request: HttpRequest) -> bool:
    return EVENT_STREAM in request.headers.get("Accept", "")


def posted_turn(request: HttpRequest) -> uuid.UUID:
    """Return the turn that a form names. Raises BadRequest."""
    try:
        return uuid.UUID(request.POST.get("turn", ""))
    except ValueError:
        raise BadRequest("turn is no UUID") from None


def turn_piece(request: HttpRequest, turn_id: uuid.UUID, shown: Mapping[str, Any]) -> HttpResponse:
    """Answer one turn as a piece of the page; while it runs, the piece asks for itself again, ever more slowly."""
    looked = request.GET.get("looked", "0")
    times = min(int(looked), LOOKS) if looked.isascii() and looked.isdigit() and len(looked) < 5 else 0
    more = {"looked": times + 1, "delay": min(1 + times // 5, 5) if times < LOOKS else None}
    answer = render(request, "chat/_turns.html", {**shown, **more})
    answer["HX-Retarget"], answer["HX-Reswap"] = f"#turn-{turn_id}", "outerHTML"
    return answer


def streamed(
    started: services.Started,
    *,
    addresses: Addresses,
    before: uuid.UUID | None,
    ended: Callable[[], Mapping[str, Any]],
    names: Mapping[str, str] | None = None,
) -> StreamingHttpResponse:
    """Answer with the events of a turn: `session`, pieces of text, and `done` or `failed` with what `ended` returns.

    `before` is the last turn that a page up to date shows; `names` are what the page calls itself from now on.
    """
    first = {**_session_event(started, addresses, before), **(names or {})}
    events = _events(started, first, ended)
    next(events)  # begun here, so that closing it ends the turn even when nobody ever reads
    services.release_connection()
    return StreamingHttpResponse(events, content_type=EVENT_STREAM, headers={"X-Accel-Buffering": "no"})


def _events(
    started: services.Started, first: Mapping[str, str], ended: Callable[[], Mapping[str, Any]]
) -> Iterator[bytes]:
    """Yield a first nothing, then the events. Whoever leaves in the middle finds the reply when she comes back."""
    # The middleware's zone and language end with the view; the last event holds a piece of the page.
    zone, language = timezone.get_current_timezone(), translation.get_language()
    chunks = services.stream(started, clock=timezone.now)
    asked = False
    try:
        yield b""
        yield _event(first, "session")
        asked = True
        kind = "done"
        try:
            for chunk in chunks:
                yield _event(chunk.text) if chunk.text else KEEP_ALIVE
        except ModelError:
            kind = "failed"
        except Exception as error:  # the page shows the failed turn; the reader must not wait for a reply
            log.error("stream_crashed", turn_id=str(started.turn.pk), exc_info=error)
            kind = "failed"
        with timezone.override(zone), translation.override(language):
            last = _event(ended(), kind)
        services.release_connection()
        yield last
    finally:
        if asked:
            carry_on(chunks)
        else:
            services.end(started, Turn.Status.STOPPED, Completion(""), clock=timezone.now, error_code="client_gone")
        services.release_connection()


def _event(data: Any, kind: str = "") -> bytes:
    name = f"event: {kind}\n" if kind else ""
    return f"{name}data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def _session_event(started: services.Started, addresses: Addresses, before: uuid.UUID | None) -> dict[str, str]:
    return {
        "url": addresses.page,
        "send": addresses.send,
        "stop": addresses.stop,
        "before": str(before or ""),  # a page that does not show this turn has missed what another tab did
        "turn": str(started.turn.pk),
        "message": str(started.turn.messages.filter(role=Message.Role.USER).values_list("pk", flat=True).get()),
    }
