"""Writes to the fact store: record candidates, edit, delete; one transaction each, the audit row inside (F06–F11).

Every write happens under the scope's lock (the consent row), so that cap, uniqueness and withdrawal cannot be raced.
"""

import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from django.db import transaction

from accounts.models import User
from audit.services import record
from consent import gate
from consent.scope import ConsentedScope, Scope
from database.prepared import in_one_trip
from encryption.envelope import BadRecord, Opened
from encryption.erasure import note_own_erasure
from encryption.services import KeyUnavailable, ScopeKeys
from facts.models import LIFETIME, Fact
from facts.recording import Held, NewRow, held_beside, insert_facts
from facts.sealing import content_hash, content_hashes, key_hash, scope_keys
from screening.text import clean_text

MAX_LIVE: Final = 200  # live facts per user and agent (F07)
MAX_BODY: Final = 4_000  # characters (F08)
MAX_KEY: Final = 120


class ChangedMeanwhile(Exception):
    """The fact is no longer live: edited, deleted or expired since the page was loaded."""


class MemoryClosed(Exception):
    """Writing is not allowed now; `reason` says why."""

    def __init__(self, reason: gate.Closed) -> None:
        super().__init__(str(reason))
        self.reason = reason


class BadExpiry(ValueError):
    """The expiry is past, unreadable, or more than 180 days away (F05)."""


class SameAsAnother(Exception):
    """Another live fact of this type and key already says exactly this."""


@dataclass(frozen=True, slots=True)
class NewFact:
    """An accepted candidate, ready to be recorded; `expires_at` None means the full lifetime."""

    memory_type: str
    key: str
    body: str
    confidence: float
    source_ids: tuple[uuid.UUID, ...]
    expires_at: datetime | None = None


@dataclass(slots=True)
class Outcome:
    """Counts of one recording: facts by status, refusals by reason (duplicate, cap)."""

    by_status: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class ListedFact:
    """One row of the Memory tab. `opened` is None when it cannot be decrypted now.

    `key_problem` is then the code of KeyUnavailable, or empty when the keys are there and the record itself is bad.
    """

    row: Fact
    opened: Opened | None
    expired: bool
    key_problem: str = ""


def list_facts(scope: Scope, *, now: datetime) -> list[ListedFact]:
    """Return the live rows of the scope, newest first, decrypted for the owner (F09). At most 200 can exist."""
    rows = Fact.objects.for_scope(scope).live().order_by("-updated_at", "id")[:MAX_LIVE]
    keys, problem = None, ""
    try:
        keys = scope_keys(scope) if rows else None
    except KeyUnavailable as error:
        problem = error.code
    return [ListedFact(row, _open(keys, row), row.expires_at <= now, problem) for row in rows]


def _open(keys: ScopeKeys | None, row: Fact) -> Opened | None:
    if keys is None:
        return None
    try:
        return keys.open(row.pk, row.memory_type, bytes(row.sealed))
    except BadRecord:
        return None


def tombstone_expired(scope: Scope, *, now: datetime) -> int:
    """Tombstone expired live rows, so that they hold neither slot nor cap; call it under the scope's lock (F06).

    Returns how many, and records them as one event.
    """
    expired = Fact.objects.for_scope(scope).live().filter(expires_at__lte=now)
    count = expired.update(status=Fact.Status.DELETED, deleted_at=now, updated_at=now)
    if count:
        record(
            "fact.expire",
            actor=None,
            organization_id=scope.organization_id,
            subject_user_id=scope.user_id,
            agent_id=scope.agent_id,
            details={"count": count},
        )
    return count


def record_candidates(
    consented: ConsentedScope, candidates: Sequence[NewFact], *, keys: ScopeKeys, now: datetime, surface: str
) -> Outcome:
    """Store screened candidates and return what became of each (E05, F06, F07).

    Call it in the transaction that ends the run, with keys fetched before it. Raises MemoryClosed when consent has
    changed since `consented` was made; nothing is written then.
    """
    scope = consented.scope
    keyed = [(key_hash(keys, candidate.key), candidate) for candidate in candidates]
    wanted = held_beside(scope, [hashed for hashed, _candidate in keyed], now=now)
    state, rows = gate.hold_with(scope, wanted, epoch=consented.epoch)
    if isinstance(state, gate.Closed):
        raise MemoryClosed(state)
    held = Held.of(rows)
    if held.expired:
        tombstone_expired(scope, now=now)
    outcome = Outcome()
    groups = _groups(keyed, held.beside, outcome, keys=keys)
    occupied = {hashed for hashed, _content in held.beside}
    room = MAX_LIVE - held.live
    new: list[NewRow] = []
    for hashed, group in groups.items():
        if len(group) > room:  # a disagreeing group is stored whole or not at all
            outcome.refusals["cap"] += len(group)
            continue
        room -= len(group)
        status = _status(disagrees_with_stored=hashed in occupied, disagree_among_themselves=len(group) > 1)
        outcome.by_status[status] += len(group)
        new += [_sealed(keys, fact, hashed, content, status, now=now) for content, fact in group.items()]
    if not new:
        return outcome
    with in_one_trip():
        insert_facts(scope, new, dek_version=keys.active_version, now=now)
        record(
            "fact.record",
            actor=None,
            organization_id=scope.organization_id,
            subject_user_id=scope.user_id,
            agent_id=scope.agent_id,
            surface=surface,
            details=dict(outcome.by_status),
        )
    return outcome


def _groups(
    keyed: Sequence[tuple[bytes, NewFact]],
    stored: Iterable[tuple[bytes, bytes]],
    outcome: Outcome,
    *,
    keys: ScopeKeys,
) -> dict[bytes, dict[bytes, NewFact]]:
    """Group what is new by key and content hash; what repeats a stored fact or another candidate is counted.

    A label of another type is no other subject: the same key and text repeat, other text disagrees (E05).
    """
    seen: dict[bytes, set[bytes]] = {}
    for hashed, content in stored:
        seen.setdefault(hashed, set()).add(content)
    groups: dict[bytes, dict[bytes, NewFact]] = {}
    for hashed, candidate in keyed:
        told = seen.setdefault(hashed, set())
        # Only beside another fact of its key can a candidate repeat one under another type.
        kinds = Fact.Type.values if told else (candidate.memory_type,)
        contents = content_hashes(keys, kinds, candidate.key, candidate.body)
        if not told.isdisjoint(contents.values()):
            outcome.refusals["duplicate"] += 1
            continue
        content = contents[candidate.memory_type]
        told.add(content)
        groups.setdefault(hashed, {})[content] = candidate
    return groups


def _sealed(
    keys: ScopeKeys, fact: NewFact, key_hashed: bytes, content: bytes, status: Fact.Status, *, now: datetime
) -> NewRow:
    fact_id = uuid.uuid4()
    return NewRow(
        id=fact_id,
        memory_type=fact.memory_type,
        status=status.value,
        key_hash=key_hashed,
        content_hash=content,
        sealed=keys.seal(fact_id, fact.memory_type, fact.key, fact.body),
        confidence=fact.confidence,
        source_ids=fact.source_ids,
        expires_at=fact.expires_at or now + LIFETIME,
    )


def _status(*, disagrees_with_stored: bool, disagree_among_themselves: bool) -> Fact.Status:
    if disagrees_with_stored:
        return Fact.Status.CONFLICT
    return Fact.Status.PENDING if disagree_among_themselves else Fact.Status.ACTIVE


def _new_row(
    scope: Scope, keys: ScopeKeys, fact: NewFact, *, hashes: tuple[bytes, bytes], status: Fact.Status, now: datetime
) -> Fact:
    fact_id = uuid.uuid4()
    return Fact(
        id=fact_id,
        organization_id=scope.organization_id,
        user_id=scope.user_id,
        agent_id=scope.agent_id,
        memory_type=fact.memory_type,
        status=status,
        key_hash=hashes[0],
        content_hash=hashes[1],
        sealed=keys.seal(fact_id, fact.memory_type, fact.key, fact.body),
        dek_version=keys.active_version,
        confidence=fact.confidence,
        source_ids=list(fact.source_ids),
        expires_at=fact.expires_at or now + LIFETIME,
        created_at=now,
        updated_at=now,
    )


@transaction.atomic
def edit_fact(
    *, scope: Scope, fact_id: uuid.UUID, body: str, actor: User, now: datetime, expires_at: datetime | None = None
) -> Fact:
    """Replace a fact by a successor with the new text, or return the row unchanged for the same text (F10).

    `expires_at` is the successor's; without one it lives for the full time (F05).
    Raises ChangedMeanwhile (before anything else), UnacceptableText, BadExpiry, MemoryClosed, SameAsAnother,
    KeyUnavailable.
    """
    state = gate.hold(scope)
    row = Fact.objects.for_scope(scope).live().unexpired(now).select_for_update(no_key=True).filter(pk=fact_id).first()
    if row is None:
        raise ChangedMeanwhile
    clean = clean_text(body, max_length=MAX_BODY)
    if expires_at is not None and not now < expires_at <= now + LIFETIME:
        raise BadExpiry
    if isinstance(state, gate.Closed):
        raise MemoryClosed(state)
    tombstone_expired(scope, now=now)
    keys = scope_keys(scope)
    try:
        opened = keys.open(row.pk, row.memory_type, bytes(row.sealed))
    except BadRecord:
        raise KeyUnavailable("bad_record", scope.organization_id) from None
    content = content_hash(keys, row.memory_type, opened.label, clean)
    if content == bytes(row.content_hash):
        return row
    same = Fact.objects.for_scope(scope).live().filter(memory_type=row.memory_type, key_hash=bytes(row.key_hash))
    if same.filter(content_hash=content).exists():
        raise SameAsAnother
    before = row.status
    row.status, row.superseded_at, row.updated_at = Fact.Status.SUPERSEDED, now, now
    row.save(update_fields=["status", "superseded_at", "updated_at"])
    new = NewFact(row.memory_type, opened.label, clean, 1.0, tuple(row.source_ids), expires_at)
    hashes = (bytes(row.key_hash), content)
    successor = _new_row(scope, keys, new, hashes=hashes, status=Fact.Status.ACTIVE, now=now)
    successor.supersedes_id = row.pk
    successor.save(force_insert=True)
    _record("fact.edit", scope, actor, successor.pk, before=before)
    return successor


@transaction.atomic
def delete_fact(*, scope: Scope, fact_id: uuid.UUID, actor: User, now: datetime) -> None:
    """Turn a live fact into a tombstone; needs neither consent nor key (F11). Raises ChangedMeanwhile."""
    row = Fact.objects.for_scope(scope).live().select_for_update(no_key=True).filter(pk=fact_id).first()
    if row is None:
        raise ChangedMeanwhile
    before = row.status
    row.status, row.deleted_at, row.updated_at = Fact.Status.DELETED, now, now
    row.save(update_fields=["status", "deleted_at", "updated_at"])
    _record("fact.delete", scope, actor, row.pk, before=before)
    note_own_erasure("fact", at=now, fact=row.pk)


def _record(action: str, scope: Scope, actor: User, fact_id: uuid.UUID, *, before: str) -> None:
    """Append an event of the one surface on which a member changes facts (F12), with the status it had before."""
    record(
        action,
        actor=actor,
        organization_id=scope.organization_id,
        subject_user_id=scope.user_id,
        agent_id=scope.agent_id,
        object_id=fact_id,
        surface="memoryTab",
        details={"status": str(before)},
    )


def known_keys(scope: Scope, *, now: datetime) -> list[tuple[str, str]]:
    """Return (memory_type, key) of the live facts, newest first, so that a model reuses keys. Raises KeyUnavailable."""
    rows = Fact.objects.for_scope(scope).live().unexpired(now).order_by("-updated_at")[:MAX_LIVE]
    keys = scope_keys(scope) if rows else None
    opened = ((row.memory_type, _open(keys, row)) for row in rows)
    return list(dict.fromkeys((kind, fact.label) for kind, fact in opened if fact is not None))


def cited_messages(scope: Scope, message_ids: Iterable[uuid.UUID]) -> set[uuid.UUID]:
    """Return which of the messages some fact of the scope cites; tombstones and superseded rows count (E02)."""
    wanted = set(message_ids)
    rows = Fact.objects.for_scope(scope).filter(source_ids__overlap=list(wanted)).values_list("source_ids", flat=True)
    return wanted & {source for sources in rows for source in sources}
