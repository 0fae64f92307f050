"""What became of a fact that is no longer what a member's page showed: edited, deleted or expired. Writes nothing."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from consent.scope import Scope
from facts.models import TOMBSTONE_KEPT, Fact


class Fate(StrEnum):
    """How it ended."""

    EDITED = "edited"
    DELETED = "deleted"
    EXPIRED = "expired"
    GONE = "gone"  # retention has removed the row


@dataclass(frozen=True, slots=True)
class Meanwhile:
    """The end of a fact, or of the newest version of it; `current_id` is the version that is stored now, if any."""

    fate: Fate
    at: datetime | None = None
    removed_at: datetime | None = None
    current_id: uuid.UUID | None = None


def what_became_of(scope: Scope, fact_id: uuid.UUID, *, now: datetime) -> Meanwhile:
    """Follow the successors of a fact to the newest version; at most three queries."""
    successors = Fact.objects.for_scope(scope).exclude(supersedes_id=None)
    next_version = dict(successors.values_list("supersedes_id", "pk"))
    newest = fact_id
    while newest in next_version:
        newest = next_version.pop(newest)  # each step once: rows that were tampered with may go round in a circle
    row = Fact.objects.for_scope(scope).filter(pk=newest).first()
    if row is None or row.status == Fact.Status.SUPERSEDED:
        return Meanwhile(Fate.GONE)
    if row.status == Fact.Status.DELETED and row.deleted_at is not None:
        # One that was made before the fact's expiry was made by the member's hand; else its time was over anyway.
        fate = Fate.DELETED if row.deleted_at < row.expires_at else Fate.EXPIRED
        at = row.deleted_at if fate == Fate.DELETED else row.expires_at
        return Meanwhile(fate, at, row.deleted_at + TOMBSTONE_KEPT)
    if row.expires_at <= now:
        return Meanwhile(Fate.EXPIRED, row.expires_at)
    return Meanwhile(Fate.EDITED, row.created_at, current_id=row.pk)
