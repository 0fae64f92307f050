"""Tells from audit events what happened to a member's consent and facts with one agent; no fact's text (T03)."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from audit.models import AuditEvent
from consent.scope import Scope
from conversations.surfaces import place
from facts.models import Fact

PAGE: Final = 50  # events on one page; older ones are a link away

_ACTS: Final[dict[str, Promise]] = {
    "consent.grant": gettext_lazy("Memory turned on"),
    "consent.withdraw": gettext_lazy("Memory turned off"),
    "fact.delete": gettext_lazy("A fact deleted"),
    "memory.delete": gettext_lazy("Memory turned off and all facts deleted"),
}
_EDITS: Final[dict[str, Promise]] = {
    "pending": gettext_lazy("A pending fact edited; its new text is active"),
    "conflict": gettext_lazy("A fact in conflict edited; its new text is active"),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One event in words. `fact_id` is set when the fact that it tells of is still listed."""

    at: datetime
    action: str
    what: str
    note: str
    who: str
    place: str
    fact_id: uuid.UUID | None


@dataclass(frozen=True, slots=True)
class History:
    """One page, newest first; `older` is the id before which there is more."""

    entries: tuple[Entry, ...]
    older: int | None


def read_history(scope: Scope, *, before: int | None = None) -> History:
    """Return one page of the scope's events, by two queries."""
    own = AuditEvent.objects.of_memory(
        organization_id=scope.organization_id, user_id=scope.user_id, agent_id=scope.agent_id
    )
    found = list(own.newest(PAGE + 1, before=before))
    events = found[:PAGE]
    named = [event.object_id for event in events if event.object_id is not None]
    listed = set(Fact.objects.for_scope(scope).live().filter(pk__in=named).values_list("pk", flat=True))
    entries = tuple(_entry(event, scope, listed) for event in events)
    return History(entries, events[-1].pk if len(found) > PAGE else None)


def _entry(event: AuditEvent, scope: Scope, listed: set[uuid.UUID]) -> Entry:
    what, note = _words(event.action, event.details)
    return Entry(
        at=event.at,
        action=event.action,
        what=what,
        note=note,
        who=_who(event.actor_id, scope.user_id),
        place=place(event.surface),
        fact_id=event.object_id if event.object_id in listed else None,
    )


def _words(action: str, details: Mapping[str, Any]) -> tuple[str, str]:
    if action == "fact.record":
        return _recorded(details)
    if action == "fact.edit":
        return str(_EDITS.get(details.get("status", "")) or _("A fact edited")), ""
    if action == "fact.expire":
        count = int(details.get("count", 1))
        return ngettext("%(n)d fact expired", "%(n)d facts expired", count) % {"n": count}, ""
    if action == "consent.grant" and "text_version" in details:
        note = _("Consent text, version %(version)s") % {"version": details["text_version"]}
        return str(_ACTS[action]), note
    known = _ACTS.get(action)
    return str(known) if known else _("Another act on your memory: %(action)s") % {"action": action}, ""


def _recorded(details: Mapping[str, Any]) -> tuple[str, str]:
    """Say how many facts were learned, and how many were set aside and why."""
    active, conflict, pending = (int(details.get(status, 0)) for status in ("active", "conflict", "pending"))
    learned = ngettext("%(n)d fact learned", "%(n)d facts learned", active) % {"n": active}
    aside = conflict + pending
    set_aside = ngettext("%(n)d fact set aside", "%(n)d facts set aside", aside) % {"n": aside}
    notes = []
    if conflict:
        say = ngettext("%(n)d disagrees with a stored fact", "%(n)d disagree with a stored fact", conflict)
        notes.append(say % {"n": conflict})
    if pending:
        say = ngettext("%(n)d disagrees with another new one", "%(n)d disagree with each other", pending)
        notes.append(say % {"n": pending})
    parts = [learned] * bool(active or not aside) + [set_aside] * bool(aside)
    return ", ".join(parts), ", ".join(notes)


def _who(actor_id: uuid.UUID | None, owner: uuid.UUID) -> str:
    if actor_id is None:
        return _("Automatically")
    return _("You") if actor_id == owner else _("Somebody else")
