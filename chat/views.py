"""The chat page and Studio (C03): new conversation, transcript, send with a streamed reply or without JavaScript, stop.

Both are the same doors; the URL table names the place.
"""

import functools
import uuid
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import Http404, HttpResponse, HttpResponseRedirect, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from accounts.requests import MemberRequest, posted_text, text_problem
from agents.access import AgentAccess, agent_for
from agents.models import Agent
from agents.services import set_tools_enabled
from chat import live, services
from chat.page import CHAT, STUDIO, Place, last_turn, may_write, read_transcript, sessions_beside
from conversations.access import read_by_others, session_for
from conversations.models import Message, Session
from conversations.services import Said, SessionBusy, SessionGone, open_session, request_stop
from llm.client import ModelError
from screening.text import UnacceptableText, clean_text

MAX_MESSAGE: Final = 32_000  # characters; far more than anybody types, and a model's context still holds a few


@login_required
@require_safe
def new_chat(request: MemberRequest, organization: str, agent: str, place: Place = CHAT) -> HttpResponse:
    """Show an empty conversation; its session is opened with the first message."""
    access = _access(request, organization, agent, place)
    return _page(request, access.agent, None, place)


@login_required
@require_safe
def session_page(
    request: MemberRequest, organization: str, agent: str, session: uuid.UUID, place: Place = CHAT
) -> HttpResponse:
    """Show a session that the member may read; one of her own in Studio is shown there, where she may be there."""
    access = _access(request, organization, agent, place)
    found = _session(request, access.agent, session, place)
    if place is CHAT and may_write(request.user, found, STUDIO) and access.may(STUDIO.permission):
        return HttpResponseRedirect(_url(STUDIO.session, found))
    return _page(request, access.agent, found, place)


@login_required
@require_safe
def turn_piece(
    request: MemberRequest, organization: str, agent: str, session: uuid.UUID, *, turn: uuid.UUID, place: Place = CHAT
) -> HttpResponse:
    """Answer one turn as a piece of the page; while it runs, the piece asks for itself again, ever more slowly."""
    access = _access(request, organization, agent, place)
    found = _session(request, access.agent, session, place)
    transcript = read_transcript(request.user, found, now=timezone.now(), place=place, only=turn)
    if not transcript.turns:
        raise Http404
    shown = {
        "agent": access.agent,
        "session": found,
        "place": place,
        "addresses": _addresses(place, access.agent, found),
        "transcript": transcript,
    }
    return live.turn_piece(request, turn, shown)


@login_required
@require_POST
def send(
    request: MemberRequest, organization: str, agent: str, session: uuid.UUID | None = None, place: Place = CHAT
) -> HttpResponseBase:
    """Run one turn: streamed for the page's script, else whole and followed by a redirect."""
    access = _access(request, organization, agent, place)
    found = _writable(request, access.agent, session, place) if session else None
    try:
        text = clean_text(posted_text(request, "message"), max_length=MAX_MESSAGE)
    except UnacceptableText as error:
        return _refused(request, access.agent, found, place, problem=text_problem(error), status=400)
    now = timezone.now()
    if found is None:
        found = open_session(agent=access.agent, created_by=request.user, surface=place.surface, now=now)
    before = last_turn(found)
    try:
        started = services.start_turn(session=found, speaker=request.user, said=[Said("user", text, now)], now=now)
    except SessionBusy:
        problem = _("The agent is still answering here. Wait for the reply or stop it, then send again.")
        return _refused(request, access.agent, found, place, problem=problem, status=409)
    except SessionGone:
        raise Http404 from None
    if live.wants_stream(request):
        ended = functools.partial(_ended, request, started, place)
        addresses = _addresses(place, access.agent, found)
        return live.streamed(started, addresses=addresses, before=before, ended=ended)
    services.release_connection()
    with suppress(ModelError):  # the page shows the failed turn and offers to send it again
        services.complete(started, clock=timezone.now)
    newest = Message.objects.filter(turn=started.turn).order_by("-position").values_list("pk", flat=True).first()
    return _see(f"{_url(place.session, found)}#message-{newest}")


@login_required
@require_POST
def stop(
    request: MemberRequest, organization: str, agent: str, session: uuid.UUID, place: Place = CHAT
) -> HttpResponse:
    """Ask a running turn of one's own session to stop, wherever it takes place; one that has ended stays as it is."""
    access = _access(request, organization, agent, place)
    found = _session(request, access.agent, session, place)
    if found.created_by_id != request.user.pk:
        raise PermissionDenied
    request_stop(turn_id=live.posted_turn(request), session=found, now=timezone.now())
    return HttpResponse(status=204) if live.wants_stream(request) else _see(_url(place.session, found))


@login_required
@require_POST
def set_tools(request: MemberRequest, organization: str, agent: str) -> HttpResponse:
    """Let the agent use tools, or no longer (C08)."""
    access = agent_for(request.user, organization, agent, "agent:manage")
    wanted = request.POST.get("enabled")
    if wanted not in ("yes", "no"):
        raise BadRequest("enabled is neither yes nor no")
    set_tools_enabled(agent=access.agent, enabled=wanted == "yes", actor=request.user)
    back = "agent-settings" if request.POST.get("back") == "settings" else STUDIO.new
    return _see(reverse(back, args=[organization, agent]))


def _access(request: MemberRequest, organization: str, agent: str, place: Place) -> AgentAccess:
    """Return an agent for who may chat with it and be in this place: Studio is a chat, too (I03)."""
    access = agent_for(request.user, organization, agent, "agent:read")
    if not access.may(place.permission):
        raise PermissionDenied
    return access


def _session(request: MemberRequest, agent: Agent, session_id: uuid.UUID, place: Place) -> Session:
    session = session_for(request.user, session_id)
    elsewhere = place is STUDIO and not may_write(request.user, session, STUDIO)
    if session.agent_id != agent.pk or elsewhere:
        raise Http404
    return session


def _writable(request: MemberRequest, agent: Agent, session_id: uuid.UUID, place: Place) -> Session:
    session = _session(request, agent, session_id, place)
    if not may_write(request.user, session, place):
        raise PermissionDenied
    return session


def _url(name: str, session: Session) -> str:
    return reverse(name, args=[session.agent.organization.slug, session.agent.slug, session.pk])


def _addresses(place: Place, agent: Agent, session: Session | None) -> live.Addresses:
    if session is None:
        names = [agent.organization.slug, agent.slug]
        return live.Addresses(reverse(place.new, args=names), reverse(place.send_first, args=names))
    page = _url(place.session, session)
    return live.Addresses(page, _url(place.send, session), _url(place.stop, session), f"{page}turns/")


def _see(url: str) -> HttpResponse:
    return HttpResponseRedirect(url, status=303)  # the page after a form is fetched, never posted again


def _page(
    request: MemberRequest, agent: Agent, session: Session | None, place: Place, *, problem: str = "", status: int = 200
) -> HttpResponse:
    before = request.GET.get("before", "")
    position = int(before) if before.isascii() and before.isdigit() and len(before) < 10 else None
    now = timezone.now()
    shown = {
        "agent": agent,
        "session": session,
        "place": place,
        "addresses": _addresses(place, agent, session),
        "transcript": read_transcript(request.user, session, now=now, place=place, before=position)
        if session
        else None,
        "beside": sessions_beside(request.user, agent, place),
        "writable": session is None or may_write(request.user, session, place),
        "looked": 1,
        "delay": 1,
        "own": session is None or session.created_by_id == request.user.pk,
        "shared": session is not None and read_by_others(session),
        "typed": request.POST.get("message", ""),
        "problem": problem,
    }
    return render(request, "chat/page.html", shown, status=status)


def _refused(
    request: MemberRequest, agent: Agent, session: Session | None, place: Place, *, problem: str, status: int
) -> HttpResponse:
    """Say why nothing was sent; what was typed stays in the box."""
    if live.wants_stream(request):
        return JsonResponse({"problem": problem}, status=status)
    return _page(request, agent, session, place, problem=problem, status=status)


def _ended(request: MemberRequest, started: services.Started, place: Place) -> Mapping[str, Any]:
    """Return how the turn ended: its status, why memory acted or not, and the two pieces of the page that changed."""
    session, agent = started.session, started.session.agent
    transcript = read_transcript(request.user, session, now=timezone.now(), place=place, only=started.turn.pk)
    shown = {
        "agent": agent,
        "session": session,
        "place": place,
        "addresses": _addresses(place, agent, session),
        "transcript": transcript,
        "beside": sessions_beside(request.user, agent, place),
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
