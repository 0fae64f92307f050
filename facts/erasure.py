"""Physical removal of a subject's facts and consent rows, tombstones included; must not decrypt or know why (R03)."""

import uuid
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from django.db import DatabaseError, transaction
from django.db.models import F, Q, QuerySet

from accounts.models import Organization, User
from agents.models import Agent
from consent.models import Consent
from facts.models import LIVE, Fact

type SubjectKind = Literal["organization", "user", "agent"]
SUBJECT_KINDS: Final[tuple[SubjectKind, ...]] = ("organization", "user", "agent")


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose memory goes: all of an organization, of a user, or of an agent."""

    kind: SubjectKind
    id: uuid.UUID

    def rows(self) -> Q:
        """Return the condition that finds the subject's facts and consent rows."""
        return Q(**{self.kind: self.id})


@dataclass(frozen=True, slots=True)
class Erased:
    """How many facts were removed, and how many consents removed or withdrawn."""

    facts: int
    consents: int


class LeftOver(Exception):
    """The database deleted without an error and kept rows all the same."""


def lock_memory(subject: Subject) -> None:
    """Lock a subject and then its scopes, in the one lock order, until the transaction ends.

    Who writes holds the scope's consent row, so every write has ended when this returns; who grants holds
    organization, user and agent, so none is granted meanwhile.
    """
    if subject.kind == "organization":
        Organization.objects.select_for_update(no_key=True).filter(pk=subject.id).first()
    elif subject.kind == "user":
        User.objects.select_for_update(no_key=True).filter(pk=subject.id).first()
    else:
        Agent.objects.select_for_update(no_key=True).filter(pk=subject.id).first()
    scopes = Consent.objects.select_for_update(no_key=True).filter(subject.rows()).order_by("pk")
    for _pk in scopes.values_list("pk", flat=True).iterator():
        pass  # each is locked as it is fetched


def close_memory(subject: Subject, *, now: datetime) -> int:
    """Withdraw every consent and tombstone every fact of a subject that lives on; call it in a transaction.

    What a failed wipe leaves behind is then served to nobody all the same. Returns how many consents it withdrew.
    """
    lock_memory(subject)
    kept = Fact.objects.filter(subject.rows(), status__in=[*LIVE, Fact.Status.SUPERSEDED])
    kept.update(status=Fact.Status.DELETED, deleted_at=now, updated_at=now)
    return _withdraw(Consent.objects.filter(subject.rows()), now)


def _withdraw(consents: QuerySet[Consent], now: datetime) -> int:
    return consents.filter(granted=True).update(granted=False, withdrawn_at=now, epoch=F("epoch") + 1)


def close_memory_again(subject: Subject, *, before: datetime, now: datetime) -> int:
    """Do the same in a restored database to what the subject had at `before`; call it in a transaction.

    Consent counts: facts that the database refuses to change are left to the wipe, whose failure is recorded.
    """
    lock_memory(subject)
    with suppress(DatabaseError), transaction.atomic():
        kept = Fact.objects.filter(_of_then(subject, before), status__in=[*LIVE, Fact.Status.SUPERSEDED])
        kept.update(status=Fact.Status.DELETED, deleted_at=now, updated_at=now)
    return _withdraw(Consent.objects.filter(subject.rows(), granted_at__lte=before), now)


def delete_fact_again(fact_id: uuid.UUID, *, at: datetime, now: datetime) -> Fact | None:
    """Make the fact that its member deleted at `at` a tombstone of then; call it in a transaction.

    Returns the row, or None when there is none or it is a tombstone.
    """
    rows = Fact.objects.select_for_update(no_key=True).exclude(status=Fact.Status.DELETED)
    row = rows.defer("sealed").filter(pk=fact_id).first()
    if row is not None:
        row.status, row.deleted_at, row.updated_at = Fact.Status.DELETED, at, now
        row.save(update_fields=["status", "deleted_at", "updated_at"])
    return row


def _of_then(subject: Subject, instant: datetime) -> Q:
    """Return the condition that finds the facts that were written, or deleted, by an instant.

    Both: a fact written while its deletion waited for the lock is younger than the deletion, and its tombstone is not.
    """
    then = Q(created_at__lte=instant) | Q(status=Fact.Status.DELETED, deleted_at__lte=instant)
    return subject.rows() & then


def remains(subject: Subject, *, before: datetime | None) -> bool:
    """Whether there is anything for `erase` (None) or `erase_memory` to do."""
    if before is None:
        rows = subject.rows()
        return Fact.objects.filter(rows).exists() or Consent.objects.filter(rows).exists()
    granted = Consent.objects.filter(subject.rows(), granted=True, granted_at__lte=before)
    return Fact.objects.filter(_of_then(subject, before)).exists() or granted.exists()


def erase(subject: Subject) -> Erased:
    """Remove a deleted subject's facts of every status and its consent rows; call it in a transaction.

    Raises DatabaseError and LeftOver.
    """
    lock_memory(subject)
    consents = Consent.objects.filter(subject.rows())
    return Erased(_remove(Fact.objects.filter(subject.rows())), consents.delete()[0])


def _remove(facts: QuerySet[Fact]) -> int:
    """Delete facts and return how many. A trigger may pass a row over without a word, so it is looked again."""
    removed = facts.delete()[0]
    if facts.all().exists():
        raise LeftOver
    return removed


def erase_memory(subject: Subject, *, before: datetime, now: datetime) -> Erased:
    """Remove the facts that a subject that lives on had at `before`, tombstones too; call it in a transaction.

    Consent that was granted by then is withdrawn, and its row stays: its epoch tells a write under way that consent
    changed, also when she has granted anew. Raises DatabaseError and LeftOver.
    """
    lock_memory(subject)
    facts = Fact.objects.filter(_of_then(subject, before))
    withdrawn = _withdraw(Consent.objects.filter(subject.rows(), granted_at__lte=before), now)
    return Erased(_remove(facts), withdrawn)
