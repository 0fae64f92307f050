"""The pages of sessions: the list, one session's settings, who takes part, and its end (T02, C10). Shows no message."""

import uuid
from collections.abc import Callable
from typing import Final

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest, PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import User
from accounts.requests import MemberRequest, posted_text, text_problem
from agents.access import agent_for
from agents.models import Agent
from conversations import sharing
from conversations.access import read_by_others, session_for, sessions_for
from conversations.models import Outsider, Participant, Session, SessionQuerySet, Turn
from conversations.services import SessionBusy, SessionGone
from screening.text import UnacceptableText, clean_text

LISTED: Final = 25  # sessions on one page


@login_required
@require_safe
def session_list(request: MemberRequest, organization: str, agent: str) -> HttpResponse:
    """List the sessions with this agent that the member may read, newest first; `q` searches titles."""
    found = agent_for(request.user, organization, agent, "agent:read").agent
    wanted, problem = _searched(request)
    sessions: SessionQuerySet = sessions_for(request.user, found).select_related("created_by")
    if wanted:
        sessions = sessions.filter(title__icontains=wanted)
    used = Turn.objects.filter(session=OuterRef("pk"), fact_ids__len__gt=0)
    others = Participant.objects.filter(session=OuterRef("pk"))
    sessions = sessions.annotate(memory_used=Exists(used), has_participants=Exists(others))
    pages = Paginator(sessions.order_by("-last_activity_at", "pk"), LISTED)
    shown = {"agent": found, "page": pages.get_page(request.GET.get("page")), "wanted": wanted, "problem": problem}
    return render(request, "conversations/list.html", shown)


def _searched(request: MemberRequest) -> tuple[str, str]:
    """Return what is searched for and what is wrong with it."""
    try:
        text = clean_text(
            request.GET.get("q", ""), max_length=sharing.MAX_TITLE, single_line=True, allow_empty=True
        ).strip()
    except UnacceptableText as error:
        return "", text_problem(error)
    return text, ""


@login_required
@require_safe
def session_settings(request: MemberRequest, organization: str, agent: str, session: uuid.UUID) -> HttpResponse:
    """Show what may be changed about a session, and who reads it."""
    return _page(request, _session(request, organization, agent, session))


@login_required
@require_POST
def rename(request: MemberRequest, organization: str, agent: str, session: uuid.UUID) -> HttpResponse:
    """Give one's own session another title."""
    found = _own(request, organization, agent, session)
    try:
        sharing.rename_session(session=found, title=posted_text(request, "title").strip())
    except UnacceptableText as error:
        return _page(request, found, title_problem=text_problem(error), status=400)
    messages.success(request, _("The conversation has its new title."))
    return _see("session", found)


@login_required
@require_POST
def visibility(request: MemberRequest, organization: str, agent: str, session: uuid.UUID) -> HttpResponse:
    """Make one's own session public or private."""
    found = _own(request, organization, agent, session)
    wanted = request.POST.get("public")
    if wanted not in ("yes", "no"):
        raise BadRequest("public is neither yes nor no")
    _or_404(sharing.set_public, session=found, public=wanted == "yes", actor=request.user)
    if wanted == "yes":
        messages.success(request, _("The conversation is public now. Memory no longer acts on it."))
    else:
        messages.success(request, _("The conversation is private now."))
    return _see("session", found)


@login_required
@require_POST
def add(request: MemberRequest, organization: str, agent: str, session: uuid.UUID) -> HttpResponse:
    """Add a member to one's own session, by e-mail address."""
    found = _own(request, organization, agent, session)
    address = posted_text(request, "email").strip()
    try:
        clean = clean_text(address, max_length=254, single_line=True)
        user = User.objects.with_email(clean).live().first()
        if user is None:
            raise sharing.CannotTakePart
        added = _or_404(sharing.add_participant, session=found, user=user, actor=request.user)
    except UnacceptableText as error:
        return _page(request, found, email_problem=text_problem(error), status=400)
    except sharing.CannotTakePart:
        problem = _("No member with this address may use this agent. Check the address, or ask an administrator.")
        return _page(request, found, email_problem=problem, status=400)
    except sharing.TooManyParticipants:
        problem = _("At most {most} people can be added to a conversation.").format(most=sharing.MAX_PARTICIPANTS)
        return _page(request, found, email_problem=problem, status=400)
    if added:
        messages.success(
            request, _("{name} can read this conversation now. Memory no longer acts on it.").format(name=user)
        )
    else:
        messages.info(request, _("{name} could already read this conversation.").format(name=user))
    return _see("session", found)


@login_required
@require_POST
def remove(request: MemberRequest, organization: str, agent: str, session: uuid.UUID) -> HttpResponse:
    """Remove somebody from one's own session."""
    found = _own(request, organization, agent, session)
    try:
        user = uuid.UUID(request.POST.get("user", ""))
    except ValueError:
        raise BadRequest("user is no UUID") from None
    if _or_404(sharing.remove_participant, session=found, user_id=user, actor=request.user):
        messages.success(request, _("That member can no longer read this conversation."))
    return _see("session", found)


@login_required
@require_POST
def leave(request: MemberRequest, organization: str, agent: str, session: uuid.UUID) -> HttpResponse:
    """Leave somebody else's session."""
    found = _session(request, organization, agent, session)
    if found.created_by_id == request.user.pk:
        raise PermissionDenied
    _or_404(sharing.remove_participant, session=found, user_id=request.user.pk, actor=request.user)
    messages.success(request, _("You left the conversation."))
    return HttpResponseRedirect(reverse("sessions", args=[organization, agent]), status=303)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: MemberRequest, organization: str, agent: str, session: uuid.UUID) -> HttpResponse:
    """Say what goes and what stays, then delete one's own session."""
    found = _own(request, organization, agent, session)
    problem, status = "", 200
    if request.method == "POST":
        try:
            _or_404(sharing.delete_session, session=found, actor=request.user, now=timezone.now())
        except SessionBusy:
            problem = _("Nothing was deleted: the agent is still answering here. Stop it or wait, then delete.")
            status = 409
        else:
            messages.success(request, _("The conversation is deleted. Facts learned from it stay on the Memory tab."))
            return HttpResponseRedirect(reverse("sessions", args=[organization, agent]), status=303)
    shown = {"agent": found.agent, "session": found, "problem": problem}
    return render(request, "conversations/delete.html", shown, status=status)


def _or_404[**P, R](act: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    try:
        return act(*args, **kwargs)
    except SessionGone:
        raise Http404 from None


def _session(request: MemberRequest, organization: str, agent: str, session_id: uuid.UUID) -> Session:
    found: Agent = agent_for(request.user, organization, agent, "agent:read").agent
    session = session_for(request.user, session_id)
    if session.agent_id != found.pk:
        raise Http404
    return session


def _own(request: MemberRequest, organization: str, agent: str, session_id: uuid.UUID) -> Session:
    session = _session(request, organization, agent, session_id)
    if session.created_by_id != request.user.pk:
        raise PermissionDenied
    return session


def _see(name: str, session: Session) -> HttpResponse:
    url = reverse(name, args=[session.agent.organization.slug, session.agent.slug, session.pk])
    return HttpResponseRedirect(url, status=303)


def _page(
    request: MemberRequest, session: Session, *, title_problem: str = "", email_problem: str = "", status: int = 200
) -> HttpResponse:
    """Show the settings; what was typed and refused stays in its field."""
    shown = {
        "agent": session.agent,
        "session": session,
        "own": session.created_by_id == request.user.pk,
        "participants": Participant.objects.filter(session=session).select_related("user").order_by("pk"),
        "outsiders": Outsider.objects.filter(session=session).select_related("user").order_by("pk"),
        "shared": read_by_others(session),
        "title": request.POST.get("title", "") if title_problem else session.title,
        "title_problem": title_problem,
        "email": request.POST.get("email", "") if email_problem else "",
        "email_problem": email_problem,
        "max_title": sharing.MAX_TITLE,
    }
    return render(request, "conversations/settings.html", shown, status=status)
