"""An organization's pages on how long conversations are kept (T04) and on its deletion (R03); decides nothing else."""

from typing import Final

import structlog
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import DatabaseError
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from accounts.access import ADMINS, OWNERS, place_for
from accounts.models import MAX_TRANSCRIPT_DAYS, Organization
from accounts.requests import MemberRequest
from accounts.services import TranscriptDays, set_transcript_days
from encryption.ledger import LedgerError
from lifecycle.services import AlreadyDeleted, delete_organization
from lifecycle.support import confirmation
from lifecycle.transcript_retention import sessions_due

log = structlog.get_logger(__name__)

SURFACE: Final = "organization"


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def transcripts(request: MemberRequest, organization: str) -> HttpResponse:
    """Show and set after how many days conversations are deleted; empty keeps them. For owners and administrators."""
    place = place_for(request.user, organization, ADMINS)
    row = place.organization
    typed, problem, status = "" if row.transcript_days is None else str(row.transcript_days), "", 200
    if request.method == "POST":
        try:
            if "days" not in request.POST:  # an empty field means "keep"; none at all is a mistake
                raise TranscriptDays
            typed = request.POST["days"]
            set_transcript_days(organization=row, days=_days(typed), actor=request.user)
        except TranscriptDays:
            problem, status = (
                _("Type a whole number of days from 1 to {most}, or leave the field empty.").format(
                    most=MAX_TRANSCRIPT_DAYS
                ),
                400,
            )
        else:
            row.refresh_from_db(fields=["transcript_days"])
            messages.success(request, _saved(row))
            return HttpResponseRedirect(reverse("organization-transcripts", args=[row.slug]), status=303)
    shown = {"place": place, "typed": typed, "problem": problem, "most": MAX_TRANSCRIPT_DAYS}
    shown["due"] = sessions_due(row, now=timezone.now()).count()
    return render(request, "lifecycle/transcripts.html", shown, status=status)


def _days(typed: str) -> int | None:
    """Return the typed number, None for nothing. Raises TranscriptDays for what is no number."""
    typed = typed.strip()
    if not typed:
        return None
    if not (typed.isascii() and typed.isdigit() and len(typed) <= len(str(MAX_TRANSCRIPT_DAYS))):
        raise TranscriptDays
    return int(typed)


def _saved(row: Organization) -> str:
    due = sessions_due(row, now=timezone.now()).count()
    if row.transcript_days is None:
        return _("Saved. Conversations are kept.")
    if not due:
        return _("Saved. No conversation is that old now.")
    return ngettext(
        "Saved. {due} conversation is that old now and is deleted tonight, unless you change this back before.",
        "Saved. {due} conversations are that old now and are deleted tonight, unless you change this back before.",
        due,
    ).format(due=due)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: MemberRequest, organization: str) -> HttpResponse:
    """Say what goes and what stays, ask for the slug, then delete the organization. For owners."""
    place = place_for(request.user, organization, OWNERS)
    row = place.organization
    wanted, typed, problem, status = confirmation(row), request.POST.get("typed", ""), "", 200
    if request.method == "POST":
        if typed.strip().casefold() != wanted.casefold():
            problem, status = _("What you typed is not “{name}”. Nothing was deleted.").format(name=wanted), 400
        else:
            try:
                delete_organization(organization=row, actor=request.user, surface=SURFACE, now=timezone.now())
            except AlreadyDeleted:
                raise Http404 from None
            except (LedgerError, DatabaseError) as error:  # a database's text may quote a row
                log.error("deletion_refused", kind="organization", code=type(error.__cause__ or error).__name__)
                problem, status = (
                    _("The organization cannot be deleted now. Nothing was deleted. Tell your operator."),
                    503,
                )
            else:
                messages.success(request, _("{name} is deleted, and its keys are destroyed.").format(name=row.name))
                return HttpResponseRedirect(reverse("organizations"), status=303)
    shown = {"place": place, "wanted": wanted, "typed": typed, "problem": problem}
    return render(request, "lifecycle/organization_delete.html", shown, status=status)
