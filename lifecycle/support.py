"""What support staff see of a subject: counts, times and codes (R04). Must not read labels, bodies or sealed bytes."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import Count, Exists, Max, OuterRef, Q

from accounts.models import ApiKey, Membership, Organization, User
from agents.models import Agent
from audit.actions import sentence
from audit.models import AuditEvent
from consent.models import Consent
from conversations.models import Session
from conversations.surfaces import place
from facts.erasure import Subject
from facts.models import LIVE, Fact
from lifecycle.models import Deletion, PendingWipe

HISTORY: Final = 100  # newest events of consent


@dataclass(frozen=True, slots=True)
class MemoryCount:
    """How many facts there are with one agent, and how many members let it remember them."""

    organization: str
    agent: str
    live: int
    superseded: int
    tombstones: int
    consents: int


@dataclass(frozen=True, slots=True)
class ConsentChange:
    """When a member turned memory on or off, and for which agent; `agent` is an id where there is no such row."""

    at: datetime
    sentence: str
    agent: str
    surface: str


@dataclass(frozen=True, slots=True)
class SubjectPage:
    """A subject's page: nothing in it was written by a member, except names of organizations and agents."""

    memory: list[MemoryCount]
    consent_changes: list[ConsentChange]
    deletions: list[tuple[Deletion, PendingWipe | None]]
    last_activity: datetime | None
    memberships: list[tuple[str, str]]  # of a person: the organization's slug, her role
    only_owner_of: list[str]


def subject_page(subject: Subject) -> SubjectPage:
    """Gather the page of a subject, deleted or not."""
    pending = {wipe.pk: wipe for wipe in PendingWipe.objects.filter(deletion__subject_id=subject.id)}
    deletions = Deletion.objects.filter(kind=subject.kind, subject_id=subject.id).order_by("-requested_at")
    return SubjectPage(
        memory=_memory(subject),
        consent_changes=_consent_changes(subject),
        deletions=[(deletion, pending.get(deletion.pk)) for deletion in deletions],
        last_activity=_last_activity(subject),
        memberships=_memberships(subject.id) if subject.kind == "user" else [],
        only_owner_of=_only_owner_of(subject.id) if subject.kind == "user" else [],
    )


def _memory(subject: Subject) -> list[MemoryCount]:
    by_agent = ("organization__slug", "agent__slug", "agent")
    facts = Fact.objects.filter(subject.rows()).order_by().values(*by_agent)
    counted = facts.annotate(
        live=Count("pk", filter=Q(status__in=LIVE)),
        superseded=Count("pk", filter=Q(status="superseded")),
        tombstones=Count("pk", filter=Q(status="deleted")),
    )
    granted = Consent.objects.filter(subject.rows()).order_by().values(*by_agent)
    rows: dict[tuple[Any, ...], dict[str, int]] = {}
    for row in [*counted, *granted.annotate(consents=Count("pk", filter=Q(granted=True)))]:
        counts = rows.setdefault(tuple(row[name] for name in by_agent), {})
        counts |= {name: number for name, number in row.items() if name not in by_agent}
    names = ("live", "superseded", "tombstones", "consents")
    return [
        MemoryCount(organization, agent, *(counts.get(name, 0) for name in names))
        for (organization, agent, _id), counts in sorted(rows.items(), key=lambda item: tuple(map(str, item[0])))
    ]


def _consent_changes(subject: Subject) -> list[ConsentChange]:
    named = {"user": "subject_user_id", "agent": "agent_id", "organization": "organization_id"}[subject.kind]
    events = AuditEvent.objects.filter(action__startswith="consent.", **{named: subject.id}).newest(HISTORY)
    agents = Agent.objects.select_related("organization").in_bulk({event.agent_id for event in events})
    return [
        ConsentChange(
            event.at,
            sentence(event.action),
            agents[event.agent_id].public_name if event.agent_id in agents else str(event.agent_id),
            place(event.surface),
        )
        for event in events
    ]


def _memberships(user_id: uuid.UUID) -> list[tuple[str, str]]:
    held = Membership.objects.filter(user=user_id, organization__deleted_at=None).select_related("organization")
    return [(row.organization.slug, row.get_role_display()) for row in held.order_by("organization__slug")]


def _last_activity(subject: Subject) -> datetime | None:
    owner = "created_by" if subject.kind == "user" else subject.kind
    times = [Session.objects.filter(**{owner: subject.id}).aggregate(at=Max("last_activity_at"))["at"]]
    if subject.kind != "agent":
        times.append(ApiKey.objects.filter(subject.rows()).aggregate(at=Max("last_used_at"))["at"])
    if subject.kind == "user":
        times += User.objects.filter(pk=subject.id).values_list("last_login", flat=True)
    return max((at for at in times if at is not None), default=None)


def _only_owner_of(user_id: uuid.UUID) -> list[str]:
    """Return the slugs of live organizations that would be left without an owner."""
    owners = Membership.objects.filter(role="owner", user__deleted_at=None)
    hers = owners.filter(organization=OuterRef("pk"), user=user_id)
    others = owners.filter(organization=OuterRef("pk")).exclude(user=user_id)
    left = Organization.objects.filter(Exists(hers), ~Exists(others), deleted_at=None)
    return list(left.order_by("slug").values_list("slug", flat=True))


def find_people(term: str) -> Q:
    """Return the condition for one person: her whole address, whatever its case, or her id."""
    return Q(email__iexact=term.strip()) | _by_id(term)


def find_named(term: str) -> Q:
    """Return the condition for an organization or agent by its whole slug or id."""
    return Q(slug=term.strip()) | _by_id(term)


def _by_id(term: str) -> Q:
    try:
        return Q(pk=uuid.UUID(term.strip()))
    except ValueError:
        return Q(pk__in=[])


def confirmation(subject: User | Organization | Agent) -> str:
    """Return what has to be typed before the subject, or its memory, is deleted."""
    if isinstance(subject, User):
        return subject.email
    return subject.public_name if isinstance(subject, Agent) else subject.slug
