"""The Memory tab and its actions: the member's own facts with one agent (F01, F09–F13). Pages only, no API (F12)."""

import uuid
from datetime import date, datetime, time, timedelta
from typing import Final

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import reswap, retarget

from accounts.requests import MemberRequest, posted_text, text_problem
from agents.access import AgentAccess, agent_for
from consent.scope import Scope
from consent.services import GrantRefused, grant_consent, withdraw_consent
from encryption.services import KeyUnavailable
from facts.drawing import draw
from facts.history import read_history
from facts.meanwhile import Meanwhile, what_became_of
from facts.models import LIFETIME, TOMBSTONE_KEPT, Fact
from facts.preview import read_preview
from facts.rows import Row
from facts.selection import Selection
from facts.services import BadExpiry, ChangedMeanwhile, MemoryClosed, SameAsAnother, delete_fact, edit_fact
from facts.tab import Tab, read_tab, scope_of
from screening.text import UnacceptableText

SURFACE: Final = "memoryTab"
DAY: Final = timedelta(days=1)
_CLOSED: Final[dict[str, Promise]] = {
    "kill_switch": gettext_lazy("Memory is turned off for this whole deployment, so nothing can be added or edited."),
    "no_consent": gettext_lazy("Memory is off for this agent. Turn it on before you edit a fact."),
    "withdrawn": gettext_lazy("Memory is turned off for this agent. Turn it on again before you edit a fact."),
    "user": gettext_lazy("Your account can no longer use memory."),
    "membership": gettext_lazy("You are no longer a member of this organization."),
    "agent": gettext_lazy("This agent no longer exists."),
}


def _closed(reason: str) -> str:
    return str(_CLOSED.get(reason) or _("Memory cannot be changed now."))


@login_required
@require_safe
def memory_tab(request: MemberRequest, organization: str, agent: str) -> HttpResponse:
    """Show the member's own facts with this agent (F09)."""
    return _tab(request, agent_for(request.user, organization, agent, "agent:read"))


@login_required
@require_safe
def history(request: MemberRequest, organization: str, agent: str) -> HttpResponse:
    """Show what happened to the member's own consent and facts with this agent, newest first (T03)."""
    access = agent_for(request.user, organization, agent, "agent:read")
    before = request.GET.get("before", "")
    # A database id has at most 19 digits; anything else means the newest page.
    newest = int(before) if before.isascii() and before.isdigit() and len(before) < 19 else None
    shown = {"agent": access.agent, "history": read_history(scope_of(request.user, access.agent), before=newest)}
    return render(request, "facts/history.html", {**shown, "paged": newest is not None})


@login_required
@require_safe
def prompt(request: MemberRequest, organization: str, agent: str) -> HttpResponse:
    """Show the member what the next turn would receive of her facts, to the character (P01, T01)."""
    access = agent_for(request.user, organization, agent, "agent:read")
    preview = read_preview(scope_of(request.user, access.agent), now=timezone.now())
    return render(request, "facts/prompt.html", {"agent": access.agent, "preview": preview})


@login_required
@require_POST
def grant(request: MemberRequest, organization: str, agent: str) -> HttpResponse:
    """Grant consent (F01)."""
    access = agent_for(request.user, organization, agent, "agent:update")
    scope = scope_of(request.user, access.agent)
    try:
        grant_consent(scope=scope, actor=request.user, now=timezone.now(), surface=SURFACE)
    except GrantRefused as refused:
        return _tab(request, access, status=409, problem=_closed(refused.code))
    return _done(request, access, _("Memory is on for this agent. What you say from now on may be remembered."))


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def withdraw(request: MemberRequest, organization: str, agent: str) -> HttpResponse:
    """Ask, then withdraw consent; facts stay (F01)."""
    access = agent_for(request.user, organization, agent, "agent:update")
    if request.method != "POST":
        template = "facts/_withdraw.html" if request.htmx else "facts/withdraw.html"
        shown = {"agent": access.agent, "tab": _read(request, access)}
        return _target(request, render(request, template, shown), "#consent")
    scope = scope_of(request.user, access.agent)
    withdraw_consent(scope=scope, actor=request.user, now=timezone.now(), surface=SURFACE)
    return _done(request, access, _("Memory is off for this agent. Your facts are still listed, and none is used."))


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: MemberRequest, organization: str, agent: str, fact: uuid.UUID) -> HttpResponse:
    """Show the edit form, or replace the fact by a successor (F10). A refusal keeps what was typed."""
    access = agent_for(request.user, organization, agent, "agent:update")
    scope = scope_of(request.user, access.agent)
    if not _is_owned(scope, fact):
        if request.method != "POST":
            raise Http404
        return _changed_meanwhile(request, access, fact, status=404)  # with what was typed
    if request.method != "POST":
        return _form(request, access, fact)
    try:
        saved = edit_fact(
            scope=scope,
            fact_id=fact,
            body=posted_text(request, "body"),
            actor=request.user,
            now=timezone.now(),
            expires_at=_posted_expiry(request),
        )
    except ChangedMeanwhile:
        return _changed_meanwhile(request, access, fact)
    except BadExpiry:
        problem = _("A fact can be kept until a day within the next 180 days. Choose another day, or none.")
        return _form(request, access, fact, status=400, problem=problem)
    except UnacceptableText as error:
        return _form(request, access, fact, status=400, problem=text_problem(error))
    except MemoryClosed as error:
        return _form(request, access, fact, status=409, problem=_closed(error.reason))
    except SameAsAnother:
        problem = _("Another fact of this type and key already says exactly this. Change the text, or delete this one.")
        return _form(request, access, fact, status=409, problem=problem)
    except KeyUnavailable:
        problem = _("The fact cannot be decrypted now, so it cannot be edited. Tell the operator and try again later.")
        return _form(request, access, fact, status=503, problem=problem)
    if saved.pk != fact:
        return _done(request, access, _("Saved."))
    if request.POST.get("expires_at", "").strip():
        kept = _("The text is the same, so nothing was changed, the day neither. A new day needs a changed text.")
        return _done(request, access, kept)
    return _done(request, access, _("The text is the same, so nothing was changed."))


def _posted_expiry(request: MemberRequest) -> datetime | None:
    """Return the end of the posted day in the member's zone, or the posted instant; None when none was chosen."""
    given = request.POST.get("expires_at", "").strip()
    if not given:
        return None
    try:
        day = parse_date(given)
        instant = _end_of(day) if day else parse_datetime(given)
    except ValueError:
        raise BadExpiry from None
    if instant is None:
        raise BadExpiry
    return instant if timezone.is_aware(instant) else timezone.make_aware(instant)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: MemberRequest, organization: str, agent: str, fact: uuid.UUID) -> HttpResponse:
    """Ask, then turn the fact into a tombstone (F11)."""
    access = agent_for(request.user, organization, agent, "agent:update")
    if not _is_owned(scope_of(request.user, access.agent), fact):
        raise Http404
    if request.method != "POST":
        tab = _read(request, access)
        row = tab.row(fact)
        if row is None:
            return _changed_meanwhile(request, access, fact)
        template = "facts/_delete.html" if request.htmx else "facts/delete.html"
        return _target(request, render(request, template, {"tab": tab, "agent": access.agent, "row": row}), _spot(row))
    now = timezone.now()
    try:
        delete_fact(scope=scope_of(request.user, access.agent), fact_id=fact, actor=request.user, now=now)
    except ChangedMeanwhile:
        return _changed_meanwhile(request, access, fact)
    removed = date_format(timezone.localtime(now + TOMBSTONE_KEPT), "DATE_FORMAT")
    notice = _("Deleted. It is no longer used. Its encrypted row is removed in one of the nights after %(date)s.")
    return _done(request, access, notice % {"date": removed})


def _is_owned(scope: Scope, fact_id: uuid.UUID) -> bool:
    """Return False alike for a fact of somebody else, for one that never was and for one whose row is gone (I04)."""
    return Fact.objects.for_scope(scope).filter(pk=fact_id).exists()


def _spot(row: Row) -> str:
    return f"#fact-{row.id}"


def _target(request: MemberRequest, response: HttpResponse, selector: str) -> HttpResponse:
    """Say where a fragment goes; the page swaps in refusals too when they say so."""
    return reswap(retarget(response, selector), "outerHTML") if request.htmx else response


def _read(request: MemberRequest, access: AgentAccess) -> Tab:
    """Read the tab in the view that the address names; forms and links carry it along."""
    return read_tab(request.user, access, now=timezone.now(), selection=Selection.read(request.GET))


def _tab(
    request: MemberRequest,
    access: AgentAccess,
    *,
    status: int = 200,
    problem: str = "",
    notice: str = "",
    meanwhile: Meanwhile | None = None,
) -> HttpResponse:
    tab = _read(request, access)
    shown = {
        "tab": tab,
        "blocks": draw(tab),
        "agent": access.agent,
        "problem": problem,
        "notice": notice,
        "meanwhile": meanwhile,
        "current": tab.row(meanwhile.current_id) if meanwhile else None,
        "typed": "" if notice else request.POST.get("body", ""),
        **_days(request),
        "deleting": request.resolver_match is not None and request.resolver_match.url_name == "memory-delete",
    }
    template = "facts/_memory.html" if request.htmx else "facts/memory.html"
    return _target(request, render(request, template, shown, status=status), "#memory")


def _form(
    request: MemberRequest, access: AgentAccess, fact_id: uuid.UUID, *, status: int = 200, problem: str = ""
) -> HttpResponse:
    tab = _read(request, access)
    row = tab.row(fact_id)
    if row is None or row.listed.expired:
        return _changed_meanwhile(request, access, fact_id)
    if not tab.may_edit and not problem:  # before she types
        return _tab(request, access, status=409, problem=_closed(tab.closed))
    if not row.readable and not problem:
        return _tab(
            request, access, status=503, problem=_("This fact cannot be decrypted now, so it cannot be edited.")
        )
    typed = request.POST.get("body", "") if request.method == "POST" else row.body
    shown = {"tab": tab, "agent": access.agent, "row": row, "typed": typed, "problem": problem, **_days(request)}
    template = "facts/_edit.html" if request.htmx else "facts/edit.html"
    return _target(request, render(request, template, shown, status=status), _spot(row))


def _days(request: MemberRequest) -> dict[str, object]:
    """Return the day that was typed, and the first and last one that may be: until its end, within the lifetime."""
    now = timezone.now()
    latest = timezone.localtime(now + LIFETIME)
    last_day = latest.date() if _end_of(latest.date()) <= now + LIFETIME else latest.date() - DAY
    return {"until": request.POST.get("expires_at", ""), "first_day": timezone.localdate(now), "last_day": last_day}


def _end_of(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.max))


def _changed_meanwhile(
    request: MemberRequest, access: AgentAccess, fact_id: uuid.UUID, *, status: int = 409
) -> HttpResponse:
    """Show what became of the fact, what is stored now and what was typed, and the way to go on."""
    found = what_became_of(scope_of(request.user, access.agent), fact_id, now=timezone.now())
    return _tab(request, access, status=status, meanwhile=found)


def _done(request: MemberRequest, access: AgentAccess, notice: str) -> HttpResponse:
    if request.htmx:
        return _tab(request, access, notice=notice)
    messages.success(request, notice)
    agent = access.agent
    # 303: the page after a form is fetched, never posted again.
    address = reverse("memory", args=[agent.organization.slug, agent.slug])
    return HttpResponseRedirect(address + Selection.read(request.GET).query, status=303)
