"""Applies the erasure ledger to a restored database, as often as one likes; must not write to the ledger."""

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import structlog
from django.db import connection, transaction

from accounts.models import Organization, User
from accounts.services import soft_delete_organization, soft_delete_user
from agents.models import Agent
from agents.permissions import remove_grants_of
from agents.services import soft_delete_agent
from audit.services import record
from consent.scope import Scope
from consent.services import repeat_withdrawal
from conversations.sharing import repeat_session_deletion
from encryption.erasure import destroy_again
from encryption.ledger import Entry
from facts.erasure import SUBJECT_KINDS, Subject, close_memory_again, delete_fact_again, remains
from lifecycle.models import Deletion, PendingWipe
from lifecycle.services import Marked, attempt_wipe, organization_of, record_deletion

log = structlog.get_logger(__name__)
REASON: Final = "replay of the erasure ledger"


class _Malformed(Exception):
    """The entry's subjects are not those of its kind."""


class _WipeWaits(Exception):
    """The subject is marked and its wipe recorded, and the wipe failed: the night, or the next replay, tries again."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An entry that could not be applied wholly: ids, and the class of the error."""

    entry_id: uuid.UUID
    kind: str
    code: str


@dataclass(slots=True)
class Replayed:
    """Entries by kind: applied (something was there), already gone, and of kinds that this version cannot apply."""

    applied: Counter[str] = field(default_factory=Counter)
    already: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    failed: list[Failure] = field(default_factory=list)


def replay_erasures(
    entries: Iterable[Entry], *, now: datetime, step: Callable[[int], object] = lambda _: None
) -> Replayed:
    """Do every recorded erasure again, oldest first; one that fails keeps no other from being done (R03)."""
    outcome = Replayed()
    for entry in entries:
        _replay(entry, outcome, now)
        step(1)
    return outcome


def _replay(entry: Entry, outcome: Replayed, now: datetime) -> None:
    apply = APPLY.get(entry.kind)
    try:
        counts = outcome.unknown if apply is None else outcome.applied if apply(entry, now) else outcome.already
    except _Malformed:
        counts = outcome.unknown
    except Exception as error:  # whatever it was, the entries after it are tried
        code = type(error).__name__.lstrip("_")
        outcome.failed.append(Failure(entry.id, entry.kind, code))
        log.error("erasure_not_replayed", entry_id=str(entry.id), kind=entry.kind, code=code)
        if connection.connection is not None and not connection.is_usable():
            connection.close()  # one that was lost must not fail the entries that follow
        return
    counts[entry.kind] += 1


# --- each kind: whether there was anything to do ----------------------------------------------------------------------


def _organization_keys(entry: Entry, now: datetime) -> bool:
    (organization_id,) = _ids(entry, "organization")
    return bool(destroy_again(organization_id=organization_id, now=now))


def _withdrawal(entry: Entry, now: datetime) -> bool:
    return repeat_withdrawal(scope=Scope(*_ids(entry, "organization", "user", "agent")), at=entry.at, reason=REASON)


def _fact(entry: Entry, now: datetime) -> bool:
    (fact_id,) = _ids(entry, "fact")
    with transaction.atomic(durable=True):
        row = delete_fact_again(fact_id, at=entry.at, now=now)
        if row is not None:
            record(
                "fact.delete",
                actor=None,
                organization_id=row.organization_id,
                subject_user_id=row.user_id,
                agent_id=row.agent_id,
                object_id=row.pk,
                reason=REASON,
            )
    return row is not None


def _session(entry: Entry, now: datetime) -> bool:
    (session_id,) = _ids(entry, "session")
    return repeat_session_deletion(session_id=session_id, at=entry.at, reason=REASON)


def _subject_itself(entry: Entry, now: datetime) -> bool:
    (subject_id,) = _ids(entry, entry.kind)
    subject = Subject(entry.kind, subject_id)  # type: ignore[arg-type]  # the table below asks for these kinds alone
    return _delete_again(entry, subject, before=None, now=now)


def _memory(entry: Entry, now: datetime) -> bool:
    named = [Subject(kind, entry.subjects[kind]) for kind in SUBJECT_KINDS if kind in entry.subjects]
    if len(named) != 1:
        raise _Malformed
    return _delete_again(entry, named[0], before=entry.at, now=now)


def _ids(entry: Entry, *names: str) -> list[uuid.UUID]:
    """Return the ids of an entry's subjects under these names. Raises _Malformed when one is missing."""
    if not all(name in entry.subjects for name in names):
        raise _Malformed
    return [entry.subjects[name] for name in names]


APPLY: Final[Mapping[str, Callable[[Entry, datetime], bool]]] = {
    "organization_keys": _organization_keys,
    "organization": _subject_itself,
    "agent": _subject_itself,
    "user": _subject_itself,
    "memory": _memory,
    "withdrawal": _withdrawal,
    "fact": _fact,
    "session": _session,
}


# --- subjects and their memory ----------------------------------------------------------------------------------------


def _delete_again(entry: Entry, subject: Subject, *, before: datetime | None, now: datetime) -> bool:
    """Mark, record what is to be wiped, commit; then wipe, as the deletion itself did (ADR 20). Raises _WipeWaits.

    What a subject that lives on has gathered since `before` is spared; one that the backup did not know is passed over.
    """
    with transaction.atomic(durable=True):
        marked = _mark(subject, before, now)
        found = marked is not None or remains(subject, before=before)
        if found:
            _await_wipe(entry, subject, marked or Marked())
    if entry.kind == "organization":  # the deletion may have died before its keys were in the ledger
        found = bool(destroy_again(organization_id=subject.id, now=now)) or found
    # Wiped by the same hand as a deletion, under the entry's id: a rerun, or the night, finds what failed.
    if PendingWipe.objects.filter(pk=entry.id).exists() and not attempt_wipe(entry.id, now=now):
        raise _WipeWaits
    return found


def _mark(subject: Subject, before: datetime | None, now: datetime) -> Marked | None:
    """Mark a subject, or close the memory that it had at `before`; None when it is not there or was marked already."""
    if before is not None:
        withdrawn = close_memory_again(subject, before=before, now=now)
        return Marked(consents=withdrawn) if withdrawn else None
    if subject.kind == "user":
        user = User.objects.filter(pk=subject.id, deleted_at=None).first()
        if user is None:
            return None
        return Marked(soft_delete_user(user=user, now=now, actor=None, reason=REASON), remove_grants_of(user.pk))
    if subject.kind == "agent":
        agent = Agent.objects.filter(pk=subject.id, deleted_at=None).first()
        if agent is None:
            return None
        return Marked(grants=soft_delete_agent(agent=agent, now=now, actor=None, reason=REASON))
    organization = Organization.objects.filter(pk=subject.id, deleted_at=None).first()
    if organization is None:
        return None
    return Marked(soft_delete_organization(organization=organization, now=now, actor=None, reason=REASON))


def _await_wipe(entry: Entry, subject: Subject, marked: Marked) -> None:
    values = {
        "kind": subject.kind,
        "subject_id": subject.id,
        "organization_id": organization_of(subject),
        "memory_only": entry.kind == "memory",
        "reason": REASON,
        "requested_at": entry.at,
        "api_keys": marked.ended.api_keys,
        "sessions": marked.ended.sessions,
        "grants": marked.grants,
        "consents": marked.consents,
    }
    deletion, made = Deletion.objects.get_or_create(pk=entry.id, defaults=values)
    PendingWipe.objects.get_or_create(deletion=deletion)
    if made and deletion.memory_only:  # the other kinds' marks have an event of their own
        record_deletion("memory.delete", deletion, reason=REASON)
