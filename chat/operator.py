"""Conversations that operators start for members (C03): they belong to the member, and memory rests while others type.

An operator sees what she wrote and its replies, nothing else of the session, and no memory.
"""

import uuid
from typing import Final

from django.contrib.auth.decorators import login_required
from django.db.models import Exists, F, OuterRef
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.access import require_operator
from accounts.models import User
from accounts.requests import MemberRequest, posted_text, text_problem
from agents.access import agents_for
from agents.models import Agent
from chat import services
from conversations.models import Message, Session, SessionQuerySet, Turn
from conversations.services import Said, SessionBusy, SessionGone, open_session
from conversations.surfaces import Surface
from llm.client import ModelError
from screening.text import UnacceptableText, clean_text

MAX_MESSAGE: Final = 32_000  # characters, as in the chat
LISTED: Final = 50  # sessions, the newest


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def start(request: MemberRequest) -> HttpResponse:
    """Start a session for a member with a first message, or list those that this operator started."""
    require_operator(request.user)
    if request.method != "POST":
        return _start_page(request)
    agent, member = _agent(request.POST.get("agent", "")), _member(request.POST.get("email", ""))
    if agent is None:
        return _start_page(request, agent_problem=_("There is no such agent. Write it as ORGANIZATION/AGENT."))
    if member == request.user:
        return _start_page(request, email_problem=_("This is your own address. Chat on the agent's own page."))
    if member is None or not agents_for(member).filter(pk=agent.pk).exists():
        return _start_page(request, email_problem=_("No member with this address may use this agent."))
    try:
        text = clean_text(posted_text(request, "message"), max_length=MAX_MESSAGE)
    except UnacceptableText as error:
        return _start_page(request, problem=text_problem(error))
    session = open_session(agent=agent, created_by=member, surface=Surface.DASHBOARD_CHAT, now=timezone.now())
    _run(request, session, text)
    return _see(session)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def session_page(request: MemberRequest, session: uuid.UUID) -> HttpResponse:
    """Show an operator her own turns of a session that she started; take messages until the member writes."""
    require_operator(request.user)
    found = _started_by(request.user).filter(pk=session).first()
    if found is None:
        raise Http404
    if request.method != "POST":
        return _session_page(request, found)
    if not _open_to_her(found):
        return _session_page(request, found, problem=_("The conversation is the member's now."), status=409)
    try:
        text = clean_text(posted_text(request, "message"), max_length=MAX_MESSAGE)
        _run(request, found, text)
    except UnacceptableText as error:
        return _session_page(request, found, problem=text_problem(error), status=400)
    except SessionBusy:
        return _session_page(request, found, problem=_("The agent is still answering here."), status=409)
    except SessionGone:
        raise Http404 from None
    return _see(found)


def _run(request: MemberRequest, session: Session, text: str) -> None:
    now = timezone.now()
    started = services.start_turn(session=session, speaker=request.user, said=[Said("user", text, now)], now=now)
    services.release_connection()
    try:
        services.complete(started, clock=timezone.now)
    except ModelError:
        return  # the page shows the failed turn


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


def _start_page(
    request: MemberRequest, *, agent_problem: str = "", email_problem: str = "", problem: str = ""
) -> HttpResponse:
    refused = bool(agent_problem or email_problem or problem)
    shown = {
        "sessions": _started_by(request.user).order_by("-last_activity_at", "pk")[:LISTED],
        "typed": {name: request.POST.get(name, "") for name in ("agent", "email", "message")},
        "agent_problem": agent_problem,
        "email_problem": email_problem,
        "problem": problem,
    }
    return render(request, "chat/operator_start.html", shown, status=400 if refused else 200)


def _session_page(request: MemberRequest, session: Session, *, problem: str = "", status: int = 200) -> HttpResponse:
    turns = Turn.objects.filter(session=session, speaker=request.user)
    messages = Message.objects.filter(turn__in=turns).select_related("turn").order_by("position")
    shown = {
        "session": session,
        "agent": session.agent,
        "messages_shown": messages,
        "ended_badly": turns.exclude(status__in=(Turn.Status.COMPLETED, Turn.Status.RUNNING)).exists(),
        "writable": _open_to_her(session),
        "typed": request.POST.get("message", ""),
        "problem": problem,
    }
    return render(request, "chat/operator_session.html", shown, status=status)
