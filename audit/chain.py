"""Seals committed audit events into one hash chain per organization, and checks the chains; changes no event (T03).

An event without an organization belongs to a chain of its own. Nothing is sealed in the write, which it would
serialize. Why the horizon below is safe, and what a chain cannot show, stands in docs/adr/0013-audit-chain.md.
"""

import hashlib
import json
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import structlog
from django.db import connection, transaction
from django.db.models import Max, Q

from audit.models import AuditEvent, AuditSeal

log = structlog.get_logger(__name__)

STEP: Final = 5_000  # events sealed in one transaction; 16 bytes of each lie in memory and in its seal
LEAF: Final = 16  # bytes in `leaves`: id and 8 bytes of the row's own digest, to name the row; `value` is the proof
EVERY: Final = timedelta(minutes=5)  # what may be changed unseen, against the number of links
WAIT_SECONDS: Final = 2.0  # for writers under way; a worker has more to do, and the next round comes
_LOCK: Final = 0x6175646974  # "audit": the advisory lock of the one sealer
# The columns that are sealed. A column added later is not sealed by adding it here: old seals would break.
_FIELDS: Final = (
    *("id", "at", "action", "organization_id", "actor_id", "subject_user_id", "agent_id", "object_id", "surface"),
    *("reason", "request_id", "details"),
)


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with one link: ids of events, and whether the link itself does not hold."""

    organization_id: uuid.UUID | None
    number: int
    removed: tuple[int, ...] = ()
    changed: tuple[int, ...] = ()
    inserted: tuple[int, ...] = ()
    broken: str = ""


@dataclass(slots=True)
class Checked:
    """How much was looked at; `unsealed` events are newer than the last seal of their chain."""

    chains: int = 0
    seals: int = 0
    sealed: int = 0
    unsealed: int = 0


def row_bytes(event: AuditEvent) -> bytes:
    """Return the canonical bytes of an event: JSON of its columns in a fixed order, UTC times with microseconds."""
    return json.dumps(
        [_plain(getattr(event, name)) for name in _FIELDS], sort_keys=True, separators=(",", ":")
    ).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    return str(value) if isinstance(value, uuid.UUID) else value


def _leaf(event: AuditEvent) -> bytes:
    return event.pk.to_bytes(8) + hashlib.sha256(row_bytes(event)).digest()[:8]


def _value(before: bytes, link: AuditSeal, rows: list[bytes]) -> bytes:
    """Return the link's value: SHA-256 over the one before, the link's head, and each row with its length."""
    head = f"2 {link.organization_id or '-'} {link.number} {len(rows)} {link.up_to_id} {_plain(link.sealed_at)}"
    return _digest(before, head, rows)


def _former_value(before: bytes, link: AuditSeal, rows: list[bytes]) -> bytes:
    """Return the value as seals had it whose head said neither `up_to_id` nor `sealed_at`."""
    return _digest(before, f"{link.organization_id or '-'} {link.number} {len(rows)}", rows)


def _digest(before: bytes, head: str, rows: list[bytes]) -> bytes:
    digest = hashlib.sha256(before + len(head).to_bytes(4) + head.encode())
    for row in rows:
        digest.update(len(row).to_bytes(4) + row)
    return digest.digest()


# --- sealing ----------------------------------------------------------------------------------------------------------


def seal_when_due(*, now: datetime) -> int:
    """Seal unless any worker did within the last `EVERY`; return how many events."""
    last = AuditSeal.objects.order_by("-id").values_list("sealed_at", flat=True).first()
    # A clock that was ahead must not stop the sealing until its time has come.
    return 0 if last is not None and timedelta(0) <= now - last < EVERY else seal(now=now)


def seal(*, now: datetime, wait: float = WAIT_SECONDS) -> int:
    """Seal what is committed and return how many events; 0 also when another sealer is at work or a writer lingers."""
    horizon = _horizon(wait)
    sealed = 0
    while horizon is not None and (step := _seal_step(horizon, now)):
        sealed += step
    return sealed


def _horizon(wait: float) -> int | None:
    """Return an id up to which no event can appear any more, or None when a writer goes on for longer than `wait`.

    Ids are given out before commit, so a lower id may become visible after a higher one. Whoever inserts holds a lock
    on the table from before it takes an id until its transaction ends. So: read the highest visible id, then wait for
    those who hold that lock now. Nobody waits for us, and writers that come later take higher ids.
    """
    highest: int | None = AuditEvent.objects.aggregate(highest=Max("id"))["highest"]
    writers = _writers()
    deadline = time.monotonic() + wait
    while writers:
        if time.monotonic() >= deadline:
            log.info("audit_seal_waits", writers=len(writers))
            return None
        time.sleep(0.05)
        writers &= _writers()
    return highest


def _writers() -> set[str]:
    """Return the transactions, our own excepted, that have written to the table and have not ended."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT virtualtransaction FROM pg_locks WHERE locktype = 'relation' AND mode = 'RowExclusiveLock'"
            " AND granted AND pid IS DISTINCT FROM pg_backend_pid() AND relation = %s::regclass"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
            [AuditEvent._meta.db_table],
        )
        return {name for (name,) in cursor.fetchall()}


@transaction.atomic
def _seal_step(horizon: int, now: datetime) -> int:
    """Seal the next events of all chains in one transaction, so that all below the highest `up_to_id` are sealed."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_LOCK])
        if not cursor.fetchone()[0]:
            return 0
    done = AuditSeal.objects.aggregate(done=Max("up_to_id"))["done"] or 0
    events = list(AuditEvent.objects.filter(id__gt=done, id__lte=horizon).order_by("id")[:STEP])
    chains: dict[uuid.UUID | None, list[AuditEvent]] = {}
    for event in events:
        chains.setdefault(event.organization_id, []).append(event)
    last = _last_seals(list(chains))
    seals = [_next_seal(last.get(chain), chain, rows, now) for chain, rows in chains.items()]
    AuditSeal.objects.bulk_create(seals)
    for made in seals:  # a copy of the heads outside the database: whoever rewrites a whole chain cannot reach it
        chain = str(made.organization_id or "-")
        log.info("audit_sealed", chain=chain, number=made.number, up_to_id=made.up_to_id, value=made.value.hex())
    return len(events)


def _last_seals(chains: list[uuid.UUID | None]) -> dict[uuid.UUID | None, AuditSeal]:
    named = Q(organization_id__in=[chain for chain in chains if chain])
    found = AuditSeal.objects.filter(named | Q(organization_id=None)).defer("leaves")
    return {
        row.organization_id: row for row in found.order_by("organization_id", "-number").distinct("organization_id")
    }


def _next_seal(
    before: AuditSeal | None, organization_id: uuid.UUID | None, events: list[AuditEvent], now: datetime
) -> AuditSeal:
    link = AuditSeal(
        organization_id=organization_id,
        number=before.number + 1 if before else 1,
        up_to_id=events[-1].pk,
        count=len(events),
        leaves=b"".join(map(_leaf, events)),
        sealed_at=now,
    )
    link.value = _value(bytes(before.value) if before else b"", link, list(map(row_bytes, events)))
    return link


# --- checking ---------------------------------------------------------------------------------------------------------


def verify(checked: Checked) -> Iterator[Finding]:
    """Walk all chains and yield what does not hold, counting into `checked`; memory stays within one link.

    Run it in one repeatable read, so that a sealer beside it does not look like a forger.
    """
    # Events are asked for too: a chain whose seals are all gone must not pass for one that was never sealed.
    sealed_to = AuditSeal.objects.aggregate(done=Max("up_to_id"))["done"] or 0
    chains = set(AuditSeal.objects.values_list("organization_id", flat=True).distinct())
    chains |= set(AuditEvent.objects.values_list("organization_id", flat=True).distinct())
    for chain in sorted(chains, key=str):
        checked.chains += 1
        yield from _verify_chain(chain, sealed_to, checked)


def _verify_chain(chain: uuid.UUID | None, sealed_to: int, checked: Checked) -> Iterator[Finding]:
    of_chain = Q(organization_id=chain) if chain else Q(organization_id=None)
    value, number, done = b"", 0, 0
    for link in AuditSeal.objects.filter(of_chain).order_by("number").iterator(chunk_size=20):
        events = list(AuditEvent.objects.filter(of_chain, id__gt=done, id__lte=link.up_to_id).order_by("id"))
        missing = link.number != number + 1
        finding = _verify_link(link, value, events, missing=missing)
        if finding is not None:
            yield finding
        value, number, done = bytes(link.value), link.number, max(done, link.up_to_id)
        checked.seals += 1
        checked.sealed += link.count
    # No event gets such an id but from somebody with the database in hand.
    below = tuple(AuditEvent.objects.filter(of_chain, id__lte=0).order_by("id").values_list("id", flat=True)[:1000])
    if below:
        yield Finding(chain, 1, inserted=below)
    late = AuditEvent.objects.filter(of_chain, id__gt=done)
    # The sealer takes all chains together, so what is left below its mark came after it, or lost its seal.
    forged = tuple(late.filter(id__lte=sealed_to).order_by("id").values_list("id", flat=True)[:1000])
    checked.unsealed += late.filter(id__gt=sealed_to).count()
    if forged:
        yield Finding(chain, number + 1, inserted=forged)


def _verify_link(link: AuditSeal, before: bytes, events: list[AuditEvent], *, missing: bool) -> Finding | None:
    leaves = bytes(link.leaves)
    sealed = {int.from_bytes(leaves[at : at + 8]): leaves[at + 8 : at + LEAF] for at in range(0, len(leaves), LEAF)}
    found = {event.pk: _leaf(event)[8:] for event in events}
    finding = Finding(
        link.organization_id,
        link.number,
        removed=tuple(pk for pk in sealed if pk not in found),
        changed=tuple(pk for pk in sealed if pk in found and found[pk] != sealed[pk]),
        inserted=tuple(pk for pk in found if pk not in sealed),
        broken="the link before it is missing" if missing else "",
    )
    if finding.removed or finding.changed or finding.inserted or finding.broken:
        return finding
    rows, value = list(map(row_bytes, events)), bytes(link.value)
    follows = value in (_value(before, link, rows), _former_value(before, link, rows))
    if len(events) == link.count and follows:
        return None
    return Finding(link.organization_id, link.number, broken="its value does not follow from its events and numbers")
