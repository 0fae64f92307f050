"""The chat page (C03): new conversation, transcript, send with a streamed reply or without JavaScript, stop."""

import json
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

import structlog
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import Http404, HttpResponse, HttpResponseRedirect, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from accounts.requests import MemberRequest, posted_text, text_problem
from agents.access import agent_for
from agents.models import Agent
from chat import services
from chat.page import may_write, read_transcript, sessions_beside
from conversations.access import read_by_others, session_for
from conversations.models import Message, Session, Turn
from conversations.services import Said, SessionBusy, open_session, request_stop
from conversations.surfaces import Surface
from llm.client import Completion, ModelError
from screening.text import UnacceptableText, clean_text

MAX_MESSAGE: Final = 32_000  # characters; far more than anybody types, and a model's context still holds a few
EVENT_STREAM: Final = "text/event-stream"
KEEP_ALIVE: Final = b": keep-alive\n\n"  # a comment of the protocol; the page's script skips it

log = structlog.get_logger(__name__)


@login_required
@require_safe
def new_chat(request: MemberRequest, organization: str, agent: str) -> HttpResponse:
    """Show an empty conversation; its session is opened with the first message."""
    access = agent_for(request.user, organization, agent, "agent:read")
    return _page(request, access.agent, None)


@login_required
@require_safe
def session_page(request: MemberRequest, organization: str, agent: str, session: uuid.UUID) -> HttpResponse:
    """Show a session that the member may read."""
    access = agent_for(request.user, organization, agent, "agent:read")
    return _page(request, access.agent, _session(request, access.agent, session))


@login_required
@require_POST
def send(request: MemberRequest, organization: str, agent: str, session: uuid.UUID | None = None) -> HttpResponseBase:
    """Run one turn: streamed for the page's script, else whole and followed by a redirect."""
    access = agent_for(request.user, organization, agent, "agent:read")
    found = _writable(request, access.agent, session) if session else None
    try:
        text = clean_text(posted_text(request, "message"), max_length=MAX_MESSAGE)
    except UnacceptableText as error:
        return _refused(request, access.agent, found, text_problem(error), 400)
    now = timezone.now()
    if found is None:
        found = open_session(agent=access.agent, created_by=request.user, surface=Surface.DASHBOARD_CHAT, now=now)
    try:
        started = services.start_turn(session=found, speaker=request.user, said=[Said("user", text, now)], now=now)
    except SessionBusy:
        problem = _("The agent is still answering here. Wait for the reply or stop it, then send again.")
        return _refused(request, access.agent, found, problem, 409)
    if _wants_stream(request):
        return _streamed(request, started)
    services.release_connection()
    with suppress(ModelError):  # the page shows the failed turn and offers to send it again
        services.complete(started, clock=timezone.now)
    newest = Message.objects.filter(turn=started.turn).order_by("-position").values_list("pk", flat=True).first()
    return _see(f"{_url('chat-session', found)}#message-{newest}")


@login_required
@require_POST
def stop(request: MemberRequest, organization: str, agent: str, session: uuid.UUID) -> HttpResponse:
    """Ask a running turn to stop; one that has ended stays as it is."""
    access = agent_for(request.user, organization, agent, "agent:read")
    found = _writable(request, access.agent, session)
    try:
        turn = uuid.UUID(request.POST.get("turn", ""))
    except ValueError:
        raise BadRequest("turn is no UUID") from None
    request_stop(turn_id=turn, session=found, now=timezone.now())
    return HttpResponse(status=204) if _wants_stream(request) else _see(_url("chat-session", found))


def _session(request: MemberRequest, agent: Agent, session_id: uuid.UUID) -> Session:
    session = session_for(request.user, session_id)
    if session.agent_id != agent.pk:
        raise Http404
    return session


def _writable(request: MemberRequest, agent: Agent, session_id: uuid.UUID) -> Session:
    session = _session(request, agent, session_id)
    if not may_write(request.user, session):
        raise PermissionDenied
    return session


def _wants_stream(request: MemberRequest) -> bool:
    return EVENT_STREAM in request.headers.get("Accept", "")


def _url(name: str, session: Session) -> str:
    return reverse(name, args=[session.agent.organization.slug, session.agent.slug, session.pk])


def _see(url: str) -> HttpResponse:
    return HttpResponseRedirect(url, status=303)  # the page after a form is fetched, never posted again


def _page(
    request: MemberRequest, agent: Agent, session: Session | None, *, problem: str = "", status: int = 200
) -> HttpResponse:
    before = request.GET.get("before", "")
    position = int(before) if before.isascii() and before.isdigit() and len(before) < 10 else None
    shown = {
        "agent": agent,
        "session": session,
        "transcript": read_transcript(request.user, session, now=timezone.now(), before=position) if session else None,
        "beside": sessions_beside(request.user, agent),
        "writable": session is None or may_write(request.user, session),
        "own": session is None or session.created_by_id == request.user.pk,
        "shared": session is not None and read_by_others(session),
        "typed": request.POST.get("message", ""),
        "problem": problem,
    }
    return render(request, "chat/page.html", shown, status=status)


def _refused(request: MemberRequest, agent: Agent, session: Session | None, problem: str, status: int) -> HttpResponse:
    """Say why nothing was sent; what was typed stays in the box."""
    if _wants_stream(request):
        return JsonResponse({"problem": problem}, status=status)
    return _page(request, agent, session, problem=problem, status=status)


def _streamed(request: MemberRequest, started: services.Started) -> StreamingHttpResponse:
    events = _events(request, started)
    next(events)  # begun here, so that closing it ends the turn even when nobody ever reads
    services.release_connection()
    return StreamingHttpResponse(events, content_type=EVENT_STREAM, headers={"X-Accel-Buffering": "no"})


def _events(request: MemberRequest, started: services.Started) -> Iterator[bytes]:
    """Yield a first nothing, then the events `session`, pieces of text, and `done` or `failed`."""
    # The middleware's zone and language end with the view; the last event holds a piece of the page.
    zone, language = timezone.get_current_timezone(), translation.get_language()
    chunks = services.stream(started, clock=timezone.now)
    asked = False
    try:
        yield b""
        yield _event(_addresses(started), "session")
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
            last = _event(_ended(request, started), kind)
        services.release_connection()
        yield last
    finally:
        if asked:
            chunks.close()
        else:
            services.end(started, Turn.Status.STOPPED, Completion(""), clock=timezone.now, error_code="client_gone")
        services.release_connection()


def _event(data: Any, kind: str = "") -> bytes:
    name = f"event: {kind}\n" if kind else ""
    return f"{name}data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def _addresses(started: services.Started) -> Mapping[str, str]:
    session = started.session
    return {
        "url": _url("chat-session", session),
        "send": _url("chat-send", session),
        "stop": _url("chat-stop", session),
        "turn": str(started.turn.pk),
        "message": str(started.turn.messages.filter(role=Message.Role.USER).values_list("pk", flat=True).get()),
    }


def _ended(request: MemberRequest, started: services.Started) -> Mapping[str, Any]:
    """Return how the turn ended: its status, why memory acted or not, and the two pieces of the page that changed."""
    session, agent = started.session, started.session.agent
    transcript = read_transcript(request.user, session, now=timezone.now(), only=started.turn.pk)
    shown = {
        "agent": agent,
        "session": session,
        "transcript": transcript,
        "beside": sessions_beside(request.user, agent),
        "own": True,
    }
    return {
        "status": transcript.turns[0].turn.status,
        "memory": started.context.state,
        "facts": len(started.context.fact_ids),
        "problem": transcript.turns[0].failure,
        "turn": render_to_string("chat/_turns.html", shown, request),
        "sessions": render_to_string("chat/_sessions.html", shown, request),
    }
