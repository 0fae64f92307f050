"""Deletes conversations that are older than their organization keeps them (T04); must not touch facts.

An organization's oldest go first, in small transactions that skip what somebody holds, so that a run may be killed
anywhere and two at once share the work. What quotes a message by its id, such as a fact, says then that it was removed.
"""

import uuid
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog
from django.db import DatabaseError, OperationalError, transaction
from django.db.models import Exists, OuterRef
from psycopg.errors import LockNotAvailable

from accounts.models import Organization
from audit.services import record
from conversations.models import Session, SessionQuerySet, Turn
from conversations.services import ABANDONED_AFTER
from database.patience import wait_at_most
from extraction.models import Run

log = structlog.get_logger(__name__)

TRANSCRIPTS: Final = "transcripts"  # in the report of what waits
MOST: Final = 20_000  # sessions of one night
MOST_REFUSED: Final = 500  # sessions of one organization; with more of them something else is wrong
BATCH: Final = 20  # sessions of one transaction, with their turns and messages: nobody waits long for its locks
AT_ONCE: Final = "100ms"  # for a row of a conversation
type Step = Callable[[int], object]


class OrganizationHeld(Exception):
    """Somebody holds the organization's row; its conversations wait for the next night."""


@dataclass(slots=True)
class Aged:
    """Sessions that a run deleted, and those that are due and wait for the next night."""

    sessions: int = 0
    waiting: Counter[str] = field(default_factory=Counter)
    failure: DatabaseError | None = None  # what the database said when an organization's part was given up


def sessions_due(organization: Organization, *, now: datetime) -> SessionQuerySet:
    """Return an organization's sessions in which nothing was said for longer than it keeps them, oldest first.

    Days have 24 hours, in UTC. A session in which a turn or an extraction is under way is not due.
    """
    if organization.transcript_days is None:
        return Session.objects.none()
    until = now.astimezone(UTC) - timedelta(days=organization.transcript_days)
    running = Turn.objects.filter(session=OuterRef("pk"), status=Turn.Status.RUNNING)
    extracting = Run.objects.filter(session=OuterRef("pk"), state=Run.State.RUNNING, lease_until__gt=now)
    old = Session.objects.filter(organization=organization, last_activity_at__lte=until)
    free = old.exclude(Exists(running.filter(created_at__gt=now - ABANDONED_AFTER))).exclude(Exists(extracting))
    return free.order_by("last_activity_at", "pk")


def sweep(*, now: datetime, limit: int = MOST, batch: int = BATCH, step: Step = lambda _: None) -> Aged:
    """Delete what is due at `now`, at most `limit` sessions; `step` is told the size of each batch after its commit.

    Organizations take turns, a batch each, the one with the oldest session first, so that none starves another. Of a
    batch that the database refuses each session is tried alone, and what it refuses then waits for the next night. Call
    it outside a transaction.
    """
    outcome, turns = Aged(), deque(_Turn(organization.pk) for organization in limited_organizations(now))
    while turns and outcome.sessions < limit:
        turn = turns.popleft()
        size = 1 if turn.singly else min(batch, limit - outcome.sessions)
        turn.singly = max(turn.singly - 1, 0)
        tried: list[uuid.UUID] = []
        try:
            count = _one_batch(turn.organization_id, size, now, turn.refused, tried)
        except OrganizationHeld:
            log.warning("transcripts_held", organization_id=str(turn.organization_id))
            continue
        except DatabaseError as error:
            code = type(error.__cause__ or error).__name__
            log.error("transcripts_failed", organization_id=str(turn.organization_id), code=code, sessions=len(tried))
            count = 0
            if len(tried) > 1:
                turn.singly = len(tried)
            else:
                turn.refused.update(tried)
            if not tried or len(turn.refused) > MOST_REFUSED:
                outcome.failure = error
                continue
        if tried:
            turns.append(turn)
        if count:
            outcome.sessions += count
            step(count)
    try:
        if waiting := count_due(now=now):
            outcome.waiting[TRANSCRIPTS] = waiting
    except DatabaseError as error:  # what was deleted is told all the same
        outcome.failure = error
    return outcome


@dataclass(slots=True)
class _Turn:
    """An organization in the round: sessions that the database refused, and how many are still tried alone."""

    organization_id: uuid.UUID
    refused: set[uuid.UUID] = field(default_factory=set)
    singly: int = 0


def count_due(*, now: datetime) -> int:
    """Return how many sessions are due at `now`, in all."""
    return sum(sessions_due(organization, now=now).count() for organization in limited_organizations(now))


def limited_organizations(now: datetime) -> list[Organization]:
    """Return the organizations with a limit, deleted ones too: what they asked for holds. The oldest session first."""
    limited = Organization.objects.filter(transcript_days__isnull=False)
    oldest = Session.objects.filter(organization=OuterRef("pk")).order_by("last_activity_at").values("last_activity_at")
    return list(limited.alias(oldest=oldest[:1]).filter(oldest__lt=now).order_by("oldest", "pk"))


@transaction.atomic(durable=True)
def _one_batch(
    organization_id: uuid.UUID, size: int, now: datetime, passed: set[uuid.UUID], tried: list[uuid.UUID]
) -> int:
    """Delete the oldest free sessions with all that hangs on them; return how many, and put them into `tried` before.

    Raises OrganizationHeld when somebody holds the organization's row, DatabaseError when a deletion is refused.
    """
    wait_at_most()
    try:
        # Locked, so that nothing more goes once the organization has been told that conversations are kept.
        organization = Organization.objects.select_for_update(no_key=True).get(pk=organization_id)
    except OperationalError as error:
        if isinstance(error.__cause__, LockNotAvailable):
            raise OrganizationHeld from None
        raise
    free = sessions_due(organization, now=now).exclude(pk__in=passed).select_for_update(skip_locked=True, of=("self",))
    tried += free.values_list("pk", flat=True)[:size]
    if tried:
        wait_at_most(AT_ONCE)
        Session.objects.filter(pk__in=tried).delete()
        record("retention.transcripts", actor=None, organization_id=organization_id, details={"sessions": len(tried)})
    return len(tried)
