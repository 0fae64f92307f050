"""`/audit/`: the events that concern a member, her organization, or a subject (T03); shows no text, writes nothing."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import ADMINS, place_for, places_of
from accounts.models import Organization, User
from accounts.requests import MemberRequest
from agents.models import Agent
from audit.actions import GROUPS, sentence
from audit.models import AuditEvent
from conversations.surfaces import place

PAGE: Final = 50
SUPPORT: Final = "accounts.delete_subject"


@dataclass(frozen=True, slots=True)
class Shown:
    """One event with names instead of ids; `details` are codes and counts as they were recorded."""

    event: AuditEvent
    sentence: str
    actor: str
    subject: str
    agent: str
    organization: str
    surface: str
    details: tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """A link beside the events."""

    name: str
    query: str
    current: bool


@dataclass(frozen=True, slots=True)
class View:
    """Whose events are looked at: the member's own, an organization's, or a subject's; each authorized."""

    events: tuple[QuerySet[AuditEvent], ...]  # their union is shown
    parameter: dict[str, str]
    organization: Organization | None = None
    subject_id: uuid.UUID | None = None


@login_required
@require_safe
def audit(request: MemberRequest) -> HttpResponse:
    """Show the newest events, filtered by `group` and below the id `before`."""
    administered = [place.organization for place in places_of(request.user) if place.administers]
    view = _view(request)
    group = request.GET.get("group", "")
    if group and group not in GROUPS:
        raise Http404
    events = _newest(view, group, _before(request))
    query = view.parameter | ({"group": group} if group else {})
    shown = {
        "events": _shown(events[:PAGE], request.user),
        "older": f"?{urlencode(query | {'before': events[PAGE - 1].pk})}" if len(events) > PAGE else "",
        "paged": "before" in request.GET,
        "newest": f"?{urlencode(query)}",
        "view": view,
        "subject_name": _people({view.subject_id}, request.user).get(view.subject_id, "") if view.subject_id else "",
        "scopes": _scopes(view, administered),
        "groups": _groups(view, group),
        "group": group,
        "may_look_up": _is_support(request.user),
    }
    return render(request, "lifecycle/audit.html", shown)


# --- who may see what -------------------------------------------------------------------------------------------------


def _view(request: MemberRequest) -> View:
    """Return the authorized view. Raises Http404 for what she may not know of, PermissionDenied for a plain member."""
    events = AuditEvent.objects.all()
    if (slug := request.GET.get("organization", "")) and "\x00" in slug:  # the database would refuse it
        raise Http404
    if slug:
        organization = place_for(request.user, slug, ADMINS).organization
        return View((events.filter(organization_id=organization.pk),), {"organization": slug}, organization)
    subject_id = request.user.pk
    if named := request.GET.get("subject"):
        try:
            subject_id = uuid.UUID(named)
        except ValueError:
            raise Http404 from None
        # The same answer whether there is such a person or not; her events outlive her, so none is looked for.
        if subject_id != request.user.pk and not _is_support(request.user):
            raise Http404
    parts = (events.filter(subject_user_id=subject_id), events.filter(actor_id=subject_id))
    return View(parts, {"subject": str(subject_id)} if named else {}, subject_id=subject_id if named else None)


def _is_support(user: User) -> bool:
    """Return whether she may look up others: staff with the permission, as in the admin."""
    return user.is_staff and user.has_perm(SUPPORT)


# --- what is shown ----------------------------------------------------------------------------------------------------


def _before(request: MemberRequest) -> int | None:
    before = request.GET.get("before", "")
    return int(before) if before.isascii() and before.isdigit() and len(before) < 19 else None


def _newest(view: View, group: str, before: int | None) -> list[AuditEvent]:
    """Return one event more than a page, newest first; each part by its own index, for an OR would scan the table."""
    parts = []
    for part in view.events:
        kept = part.filter(action__startswith=f"{group}.") if group else part
        kept = kept.filter(id__lt=before) if before is not None else kept
        parts.append(kept.order_by("-id")[: PAGE + 1])
    found = {event.pk: event for part in parts for event in part}
    return [found[pk] for pk in sorted(found, reverse=True)[: PAGE + 1]]


def _shown(events: list[AuditEvent], viewer: User) -> list[Shown]:
    people = _people({pk for event in events for pk in (event.actor_id, event.subject_user_id)}, viewer)
    organizations = dict(
        Organization.objects.filter(pk__in={event.organization_id for event in events}).values_list("pk", "name")
    )
    agents = dict(Agent.objects.filter(pk__in={event.agent_id for event in events}).values_list("pk", "name"))

    def named(names: dict[uuid.UUID, str], pk: uuid.UUID | None) -> str:
        return names.get(pk, _("deleted")) if pk else ""

    return [
        Shown(
            event=event,
            sentence=sentence(event.action),
            actor=named(people, event.actor_id) or _("the system"),
            subject=named(people, event.subject_user_id),
            agent=named(agents, event.agent_id),
            organization=named(organizations, event.organization_id),
            surface=place(event.surface),
            details=tuple(sorted(event.details.items())),
        )
        for event in events
    ]


def _people(ids: Iterable[uuid.UUID | None], viewer: User) -> dict[uuid.UUID, str]:
    """Return names of those who are still there; a deleted person's is not shown any more."""
    found = User.objects.live().filter(pk__in={pk for pk in ids if pk})
    return {user.pk: _("you") if user.pk == viewer.pk else str(user) for user in found}


def _scopes(view: View, administered: list[Organization]) -> list[Choice]:
    own = Choice(_("About you"), "", view.organization is None and view.subject_id is None)
    return [
        own,
        *(
            Choice(
                organization.name,
                f"?{urlencode({'organization': organization.slug})}",
                organization == view.organization,
            )
            for organization in administered
        ),
    ]


def _groups(view: View, group: str) -> list[Choice]:
    every = Choice(_("All"), f"?{urlencode(view.parameter)}", not group)
    return [
        every,
        *(
            Choice(str(name), f"?{urlencode(view.parameter | {'group': key})}", key == group)
            for key, name in GROUPS.items()
        ),
    ]
