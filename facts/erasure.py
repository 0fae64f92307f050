"""Physical removal of a subject's facts and consent rows, tombstones included; must not decrypt or know why (R03)."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.db.models import F, Q

from accounts.models import Organization, User
from agents.models import Agent
from consent.models import Consent
from facts.models import LIVE, Fact

type SubjectKind = Literal["organization", "user", "agent"]


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
    """How many rows were removed."""

    facts: int
    consents: int


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


def close_memory(subject: Subject, *, now: datetime) -> None:
    """Withdraw every consent and tombstone every fact of a subject; call it in a transaction.

    For a subject that lives on: what a failed wipe leaves behind is then served to nobody all the same.
    """
    lock_memory(subject)
    granted = Consent.objects.filter(subject.rows(), granted=True)
    granted.update(granted=False, withdrawn_at=now, epoch=F("epoch") + 1)
    kept = Fact.objects.filter(subject.rows(), status__in=[*LIVE, Fact.Status.SUPERSEDED])
    kept.update(status=Fact.Status.DELETED, deleted_at=now, updated_at=now)


def erase(subject: Subject, *, before: datetime | None = None) -> Erased:
    """Remove the subject's facts of every status and its consent rows for good; call it in a transaction.

    `before` spares what a subject that lives on has gathered since: consent granted and facts written after it.
    Raises DatabaseError.
    """
    lock_memory(subject)
    facts, consents = Fact.objects.filter(subject.rows()), Consent.objects.filter(subject.rows())
    if before is not None:
        facts = facts.filter(Q(created_at__lte=before) | Q(status=Fact.Status.DELETED))
        consents = consents.filter(granted_at__lte=before)
    return Erased(facts.delete()[0], consents.delete()[0])
