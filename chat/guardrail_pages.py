"""The page on which owners and administrators set, try and watch their organization's guardrails (C06)."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.access import ADMINS, Place, place_for
from accounts.requests import MemberRequest, posted_text, text_problem
from chat.guardrail_form import KINDS, PII_NAMES, Draft, Segment, draft_of, new_rule, read_draft, segments
from chat.guardrails import Reply
from chat.models import MAX_RULES
from chat.policies import ChangedMeanwhile, TooManyRules, hits_by_rule, save_policy, saved_policy
from screening.text import UnacceptableText, clean_text

COUNTED: Final = timedelta(days=29)  # and today: thirty days
MAX_TRIED: Final = 20_000  # characters


@dataclass(frozen=True, slots=True)
class Tried:
    """What the rules find in a text; nothing of it is stored. `sent` is what a reply would become."""

    stage: str
    parts: tuple[Segment, ...]
    found: tuple[int, ...]
    sent: str
    withheld: bool


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def guardrails(request: MemberRequest, organization: str) -> HttpResponse:
    """Show the form; save it, add or remove a rule in it, or try it on a text."""
    place = place_for(request.user, organization, ADMINS)
    hits = hits_by_rule(place.organization.pk, since=(timezone.now() - COUNTED).date())
    if request.method != "POST":
        return _page(request, place, draft_of(saved_policy(place.organization.pk), hits))
    draft = read_draft(request, hits)
    act, _dash, which = request.POST.get("do", "save").partition("-")
    if act not in ("add", "remove", "save", "try"):
        raise BadRequest("nothing that this page does")
    if act == "add":
        return _add(request, place, draft)
    if act == "remove":
        draft.rules = [rule for number, rule in enumerate(draft.rules) if str(number) != which]
        return _page(request, place, draft, unsaved=True)
    if not draft.sound:
        problem = _("Something is not right yet. What you typed is still here; nothing was saved.")
        return _page(request, place, draft, problem=problem, status=400)
    if act == "try":
        return _try(request, place, draft)
    return _save(request, place, draft)


def _page(
    request: MemberRequest,
    place: Place,
    draft: Draft,
    *,
    problem: str = "",
    status: int = 200,
    unsaved: bool = False,
    tried: Tried | None = None,
    try_problem: str = "",
) -> HttpResponse:
    shown = {
        "place": place,
        "draft": draft,
        "kinds": KINDS,
        "pii_names": PII_NAMES,
        "max_rules": MAX_RULES,
        "problem": problem,
        "unsaved": unsaved,
        "tried": tried,
        "try_text": request.POST.get("try_text", ""),
        "try_stage": request.POST.get("try_stage", "output"),
        "try_problem": try_problem,
    }
    return render(request, "chat/guardrails.html", shown, status=status)


def _add(request: MemberRequest, place: Place, draft: Draft) -> HttpResponse:
    stage, _space, kind = request.POST.get("add", "").partition(" ")
    rule = new_rule(stage, kind)
    if rule is None or len(draft.rules) >= MAX_RULES:
        problem = _("There is room for {most} rules. Remove one first.").format(most=MAX_RULES)
        return _page(request, place, draft, problem=problem, status=400)
    draft.rules.append(rule)
    return _page(request, place, draft, unsaved=True)


def _save(request: MemberRequest, place: Place, draft: Draft) -> HttpResponse:
    try:
        save_policy(
            organization=place.organization,
            policy=draft.policy(),
            enabled=draft.enabled,
            read_version=draft.version,
            actor=request.user,
            now=timezone.now(),
        )
    except ChangedMeanwhile:
        problem = _(
            "Somebody else saved these guardrails meanwhile, so nothing was saved. What you typed is still here: "
            "copy what you need, then reload the page."
        )
        return _page(request, place, draft, problem=problem, status=409)
    except TooManyRules:
        problem = _("There is room for {most} rules. Remove one first.").format(most=MAX_RULES)
        return _page(request, place, draft, problem=problem, status=400)
    messages.success(request, _("Saved. The guardrails act from the next message on."))
    return HttpResponseRedirect(request.path, status=303)


def _try(request: MemberRequest, place: Place, draft: Draft) -> HttpResponse:
    try:
        text = clean_text(posted_text(request, "try_text"), max_length=MAX_TRIED)
    except UnacceptableText as error:
        return _page(request, place, draft, try_problem=text_problem(error), status=400)
    policy = draft.policy()
    stage = "input" if request.POST.get("try_stage") == "input" else "output"
    rules = policy.input_rules if stage == "input" else policy.output_rules
    numbers = [number for number, rule in enumerate(draft.rules, start=1) if rule.stage == stage]
    parts = segments(rules, numbers, text)
    found = tuple(sorted({number for part in parts for number in part.rules}))
    sent, withheld = text, stage == "input" and bool(found)
    if stage == "output":
        reply = Reply(policy)
        reply.add(text)
        reply.close(whole=True)
        sent, withheld = reply.text, reply.restricted
    tried = Tried(stage, tuple(parts), found, sent, withheld)
    return _page(request, place, draft, tried=tried, unsaved=True)
