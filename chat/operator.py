"""Conversations that operators start for members (C03): they belong to the member, and memory rests while others type.

An operator sees what she wrote and its replies, nothing else of the session, and no memory.
"""

import functools
import uuid
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from django.contrib.auth.decorators import login_required
from django.db.models import Exists, F, OuterRef
from django.http import Http404, HttpResponse, HttpResponseRedirect, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.access import require_operator
from accounts.models import User
from accounts.requests import MemberRequest, posted_text, text_problem
from agents.access import agents_for
from agents.models import Agent
from chat import live, services
from chat.page import last_turn, read_own_turns
from conversations.models import Session, SessionQuerySet, Turn
from conversations.services import Said, SessionBusy, SessionGone, open_session, request_stop
from conversations.surfaces import Surface
from llm.client import ModelError
from screening.text import UnacceptableText, clean_text

MAX_MESSAGE: Final = 32_000  # characters, as in the chat
LISTED: Final = 50  # sessions, the newest


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def start(request: MemberRequest) -> HttpResponseBase:
    """Start a session for a member with a first message, or list those that this operator started."""
    require_operator(request.user)
    if request.method != "POST":
        return _start_page(request)
    agent, member = _agent(request.POST.get("agent", "")), _member(request.POST.get("email", ""))
    if agent is None:
        sentence = _("There is no such agent. Write it as ORGANIZATION/AGENT.")
        return _start_page(request, refused=("agent", sentence))
    if member == request.user:
        return _start_page(request, refused=("email", _("This is your own address. Chat on the agent's own page.")))
    if member is None or not agents_for(member).filter(pk=agent.pk).exists():
        return _start_page(request, refused=("email", _("No member with this address may use this agent.")))
    try:
        text = clean_text(posted_text(request, "message"), max_length=MAX_MESSAGE)
    except UnacceptableText as error:
        return _start_page(request, refused=("message", text_problem(error)))
    session = open_session(agent=agent, created_by=member, surface=Surface.DASHBOARD_CHAT, now=timezone.now())
    return _run(request, session, text)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def session_page(request: MemberRequest, session: uuid.UUID) -> HttpResponseBase:
    """Show an operator her own turns of a session that she started; take messages until the member writes."""
    found = _session(request, session)
    if request.method != "POST":
        return _session_page(request, found)
    if not _open_to_her(found):
        return _session_page(request, found, problem=_("The conversation is the member's now."), status=409)
    try:
        text = clean_text(posted_text(request, "message"), max_length=MAX_MESSAGE)
        return _run(request, found, text)
    except UnacceptableText as error:
        return _session_page(request, found, problem=text_problem(error), status=400)
    except SessionBusy:
        problem = _("The agent is still answering here. Wait for the reply or stop it, then send again.")
        return _session_page(request, found, problem=problem, status=409)
    except SessionGone:
        raise Http404 from None


@login_required
@require_safe
def turn_piece(request: MemberRequest, session: uuid.UUID, turn: uuid.UUID) -> HttpResponse:
    """Answer one of her turns as a piece of the page, which asks for itself while the turn runs."""
    found = _session(request, session)
    shown = _shown(request.user, found, only=turn)
    if not shown["transcript"].turns:
        raise Http404
    return live.turn_piece(request, turn, shown)


@login_required
@require_POST
def stop(request: MemberRequest, session: uuid.UUID) -> HttpResponse:
    """Ask her own running turn to stop, never the member's; one that has ended stays as it is."""
    found = _session(request, session)
    turn = live.posted_turn(request)
    if not Turn.objects.filter(pk=turn, session=found, speaker=request.user).exists():
        raise Http404
    request_stop(turn_id=turn, session=found, now=timezone.now())
    return HttpResponse(status=204) if live.wants_stream(request) else _see(found)


def _run(request: MemberRequest, session: Session, text: str) -> HttpResponseBase:
    """Run one turn: streamed for the page's script, else whole. Raises SessionBusy and SessionGone."""
    now, before = timezone.now(), last_turn(session, speaker=request.user)
    started = services.start_turn(session=session, speaker=request.user, said=[Said("user", text, now)], now=now)
    if live.wants_stream(request):
        return live.streamed(
            started,
            addresses=_addresses(session),
            before=before,
            ended=functools.partial(_ended, request, started),
            names={"agent": session.agent.name, "title": _title(session)},
        )
    services.release_connection()
    with suppress(ModelError):  # the page shows the failed turn
        services.complete(started, clock=timezone.now)
    return _see(session)


def _ended(request: MemberRequest, started: services.Started) -> Mapping[str, str]:
    """Return how her turn ended and its piece of the page; nothing of memory."""
    shown = _shown(request.user, started.session, only=started.turn.pk)
    (turn,) = shown["transcript"].turns
    piece = render_to_string("chat/_turns.html", shown, request)
    return {"status": turn.turn.status, "problem": turn.failure, "turn": piece}


def _session(request: MemberRequest, session_id: uuid.UUID) -> Session:
    require_operator(request.user)
    found = _started_by(request.user).filter(pk=session_id).first()
    if found is None:
        raise Http404
    return found


def _agent(name: str) -> Agent | None:
    organization, _slash, slug = name.strip().partition("/")
    if "\x00" in name:
        return None
    agents = Agent.objects.live().filter(organization__slug=organization, slug=slug)
    return agents.select_related("organization", "provider").first()


def _member(address: str) -> User | None:
    return None if "\x00" in address else User.objects.with_email(address).live().first()


def _started_by(operator: User) -> SessionQuerySet:
    """Return the live sessions of members in which this operator wrote."""
    hers = Turn.objects.filter(session=OuterRef("pk"), speaker=operator)
    sessions: SessionQuerySet = Session.objects.live().filter(
        Exists(hers), surface=Surface.DASHBOARD_CHAT, agent__deleted_at=None, organization__deleted_at=None
    )
    return sessions.exclude(created_by=operator).select_related("agent__organization", "agent__provider", "created_by")


def _open_to_her(session: Session) -> bool:
    """Whether the member has not written yet, and may still use the agent."""
    taken_over = Turn.objects.filter(session=session, speaker=F("session__created_by")).exists()
    return not taken_over and agents_for(session.created_by).filter(pk=session.agent_id).exists()


def _see(session: Session) -> HttpResponse:
    return HttpResponseRedirect(reverse("operator-session", args=[session.pk]), status=303)


def _addresses(session: Session) -> live.Addresses:
    page = reverse("operator-session", args=[session.pk])
    return live.Addresses(page, page, reverse("operator-stop", args=[session.pk]), f"{page}turns/")


def _title(session: Session) -> str:
    return _("Started for %(name)s") % {"name": session.created_by}


def _start_page(request: MemberRequest, *, refused: tuple[str, str] | None = None) -> HttpResponse:
    """Show the form; `refused` names the field and says what is wrong with it."""
    field, sentence = refused or ("", "")
    if refused and live.wants_stream(request):
        return JsonResponse({"problem": sentence, "field": field}, status=400)
    shown = {
        "sessions": _started_by(request.user).order_by("-last_activity_at", "pk")[:LISTED],
        "addresses": live.Addresses(reverse("operator-start"), reverse("operator-start")),
        "first_fields": "chat/_operator_first.html",
        "typed": request.POST.get("message", ""),
        "typed_agent": request.POST.get("agent", ""),
        "typed_email": request.POST.get("email", ""),
        "agent_problem": sentence if field == "agent" else "",
        "email_problem": sentence if field == "email" else "",
        "problem": sentence if field == "message" else "",
    }
    return render(request, "chat/operator_start.html", shown, status=400 if refused else 200)


def _session_page(request: MemberRequest, session: Session, *, problem: str = "", status: int = 200) -> HttpResponse:
    if problem and live.wants_stream(request):
        return JsonResponse({"problem": problem}, status=status)
    more = {
        "title": _title(session),
        "looked": 1,
        "delay": 1,
        "typed": request.POST.get("message", ""),
        "problem": problem,
    }
    return render(request, "chat/operator_session.html", _shown(request.user, session) | more, status=status)


def _shown(operator: User, session: Session, *, only: uuid.UUID | None = None) -> dict[str, Any]:
    """Return what her pages and their pieces show of a session."""
    writable = _open_to_her(session)
    return {
        "agent": session.agent,
        "session": session,
        "addresses": _addresses(session),
        "transcript": read_own_turns(operator, session, writable=writable, only=only),
        "writable": writable,
    }
