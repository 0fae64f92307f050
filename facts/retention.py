"""Nightly retention of facts: tombstones what is over, deletes old tombstones; must not decrypt (R01, R02).

Work goes oldest first in small transactions that skip rows somebody holds, so that it waits for nobody, may be killed
anywhere, and two runs at once share the rows between them.
"""

import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.db import OperationalError, connection, transaction
from django.db.backends.utils import CursorWrapper
from psycopg.errors import LockNotAvailable

from audit.services import record, record_scopes
from facts.models import Fact

KEEP_TOMBSTONES: Final = timedelta(days=180)  # of 24 hours each, in UTC
KEEP_SUPERSEDED: Final = timedelta(days=30)
BATCH: Final = 5_000  # rows; their locks are held for well under 150 ms
EXPIRED, SUPERSEDED, DELETED = "expired", "superseded", "deleted"
KINDS: Final = (EXPIRED, SUPERSEDED, DELETED)
_FIRST: Final = datetime(1, 1, 2, tzinfo=UTC)
_SCOPE: Final = "user_id, agent_id"  # an agent is of one organization
LOCK_TIMEOUT: Final = "50ms"  # well under PostgreSQL's search for deadlocks: the sweep is who yields
type Step = Callable[[int], object]


@dataclass(frozen=True, slots=True)
class Limits:
    """How many rows one run may change: in all, of one scope, and in one transaction."""

    total: int = 100_000
    per_scope: int = 500
    batch: int = BATCH

    def __post_init__(self) -> None:
        if min(self.total, self.per_scope, self.batch) < 1 or self.batch > BATCH:
            raise ValueError(f"limits are at least 1, and a batch has at most {BATCH} rows")


@dataclass(frozen=True, slots=True)
class Survey:
    """What is due at an instant: rows by kind, how many of them the limits let through, and the scopes above theirs."""

    due: Counter[str]
    within_limits: int
    busy: "Busy"


@dataclass(frozen=True, slots=True)
class Busy:
    """Scopes with more due rows than one may have, each with the last row that this run may take (aligned lists)."""

    users: list[uuid.UUID] = field(default_factory=list)
    agents: list[uuid.UUID] = field(default_factory=list)
    due_at: list[datetime] = field(default_factory=list)
    ids: list[uuid.UUID] = field(default_factory=list)


@dataclass(slots=True)
class Swept:
    """Rows by kind that a run tombstoned (expired, superseded) or deleted, its batches, and due rows that wait."""

    done: Counter[str] = field(default_factory=Counter)
    batches: int = 0
    waiting: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class _Pass:
    """One walk along one index: rows of a status whose `column` is not after `until`, and since when they are due."""

    kind: str
    status: str
    column: str
    until: str
    due_at: str

    @property
    def where(self) -> str:
        return f"{self.status} AND f.{self.column} <= %({self.until})s"


_SUPERSEDED_DUE: Final = "LEAST(f.expires_at, f.superseded_at + %(keep_superseded)s)"
_LIVE: Final = "f.status IN ('active', 'pending', 'conflict')"
_PASSES: Final = (
    _Pass(EXPIRED, _LIVE, "expires_at", "now", "f.expires_at"),
    _Pass(SUPERSEDED, "f.status = 'superseded'", "superseded_at", "superseded_until", _SUPERSEDED_DUE),
    _Pass(SUPERSEDED, "f.status = 'superseded'", "expires_at", "now", _SUPERSEDED_DUE),
    _Pass(DELETED, "f.status = 'deleted'", "deleted_at", "deleted_until", "f.deleted_at + %(keep_tombstones)s"),
)
_SUPERSEDED_ROWS: Final = (
    "f.status = 'superseded' AND (f.superseded_at <= %(superseded_until)s OR f.expires_at <= %(now)s)"
)


def _table() -> str:
    return connection.ops.quote_name(Fact._meta.db_table)


def _times(now: datetime) -> dict[str, Any]:
    now = now.astimezone(UTC)  # days subtracted from another zone's time would follow its clock changes
    return {
        "now": now,
        "superseded_until": now - KEEP_SUPERSEDED,
        "deleted_until": now - KEEP_TOMBSTONES,
        "keep_superseded": KEEP_SUPERSEDED,
        "keep_tombstones": KEEP_TOMBSTONES,
    }


def _due() -> str:
    """Return the SELECT of every due row: scope, kind, id and since when."""
    parts = (
        (EXPIRED, _PASSES[0].where, _PASSES[0].due_at),
        (SUPERSEDED, _SUPERSEDED_ROWS, _SUPERSEDED_DUE),
        (DELETED, _PASSES[3].where, _PASSES[3].due_at),
    )
    return " UNION ALL ".join(
        f"SELECT {_SCOPE}, '{kind}' AS kind, f.id, {due_at} AS due_at FROM {_table()} f WHERE {where}"  # noqa: S608
        for kind, where, due_at in parts
    )


def survey(*, now: datetime, limits: Limits | None = None) -> Survey:
    """Return what is due at `now`, changing nothing."""
    limits = limits or Limits()
    counts = ", ".join(f"count(*) FILTER (WHERE kind = '{kind}') AS {kind}" for kind in KINDS)
    sums = ", ".join(f"coalesce(sum({kind}), 0)" for kind in KINDS)
    busy = ", ".join(f"array_agg({column}) FILTER (WHERE n > %(per_scope)s)" for column in _SCOPE.split(", "))
    parameters = _times(now) | {"per_scope": limits.per_scope}
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {sums}, coalesce(sum(LEAST(n, %(per_scope)s)), 0), {busy} FROM "  # noqa: S608 (our own columns)
            f"(SELECT {_SCOPE}, count(*) AS n, {counts} FROM ({_due()}) due GROUP BY {_SCOPE}) scopes",
            parameters,
        )
        *numbers, users, agents = cursor.fetchone()
        due = Counter({kind: int(number) for kind, number in zip(KINDS, numbers, strict=False) if number})
        within = min(int(numbers[-1]), limits.total)
        if not users:
            return Survey(due, within, Busy())
        cursor.execute(
            f"SELECT {_SCOPE}, due_at, id FROM (SELECT due.*, row_number() OVER "  # noqa: S608
            f"(PARTITION BY {_SCOPE} ORDER BY due_at, id) AS n FROM ({_due()}) due JOIN "
            "unnest(%(users)s::uuid[], %(agents)s::uuid[]) "
            f"AS busy({_SCOPE}) USING ({_SCOPE})) numbered WHERE n = %(per_scope)s",
            parameters | {"users": users, "agents": agents},
        )
        return Survey(due, within, Busy(*(list(column) for column in zip(*cursor.fetchall(), strict=True))))


def sweep(*, now: datetime, limits: Limits | None = None, step: Step = lambda _: None) -> Swept:
    """Tombstone live rows that expired at `now` and superseded rows that are over, then delete old tombstones.

    `step` is told the size of each batch after its commit. Tombstoning may use up the part of `limits.total` that
    deletion does not need, and at least half of it, so that neither starves the other. Call it outside a transaction.
    """
    limits = limits or Limits()
    found, outcome = survey(now=now, limits=limits), Swept()
    to_tombstone = max(limits.total // 2, limits.total - found.due[DELETED])
    for work in _PASSES:
        left = (limits.total if work.kind == DELETED else to_tombstone) - outcome.done.total()
        if found.due[work.kind]:
            _walk(work, found.busy, min(left, limits.total), outcome, now=now, batch=limits.batch, step=step)
    if found.due - outcome.done:
        # Counted again, since another run may have done it meanwhile; not otherwise: dead index entries are slow.
        outcome.waiting = survey(now=now, limits=limits).due
    return outcome


def _walk(work: _Pass, busy: Busy, left: int, outcome: Swept, *, now: datetime, batch: int, step: Step) -> None:
    """Go along the index in batches; at the end, and when somebody holds a row, look again past what is held."""
    position, skip_locked = _FIRST, False
    while left > 0:
        work_now = _Batch(work, busy, position, min(batch, left), now, skip_locked)
        try:
            count, further = work_now.change()
        except OperationalError as error:
            if skip_locked or not isinstance(error.__cause__, LockNotAvailable):
                raise
            count, further = 0, None
        if count:
            left -= count
            outcome.done[work.kind] += count
            outcome.batches += 1
            step(count)
        if further is not None:
            position = further
        elif skip_locked:
            return
        else:
            skip_locked = True


@dataclass(frozen=True, slots=True)
class _Batch:
    """The oldest rows of a pass from `position` on, at most `size` of them.

    Without the position carried forward each batch would wade through the dead index entries of all batches before.

    To lock rows and then to change them writes each of them twice, and to name them costs a list. So a batch is a
    stretch of the index that is changed at once, and a change that would wait ends with LockNotAvailable
    (OperationalError). Only with `skip_locked`, or when more rows than a batch share one instant, are rows named.
    """

    work: _Pass
    busy: Busy
    position: datetime
    size: int
    now: datetime
    skip_locked: bool

    @transaction.atomic
    def change(self) -> tuple[int, datetime | None]:
        """Return how many rows were changed, and where the next batch begins; None when nothing is left."""
        with connection.cursor() as cursor:
            # The commit does not wait for the disk: what a crash of the server brings back, the next night takes again.
            cursor.execute(
                "SELECT set_config('synchronous_commit', 'off', true), set_config('lock_timeout', %s, true)",
                [LOCK_TIMEOUT],
            )
            end = None if self.skip_locked else self._end(cursor)
            named = self.skip_locked or end == self.position
            cursor.execute(self._statement(end, named=named), self._parameters() | {"end": end})
            found = cursor.fetchall()
        count = sum(row[-2] for row in found)
        if count:
            # One row for a batch across organizations: a count and nothing else.
            action = "retention.delete" if self.work.kind == DELETED else "retention.tombstone"
            record(action, actor=None, details={"kind": self.work.kind, "count": count})
        if self.work.kind == EXPIRED:  # the only change that her history tells a member
            record_scopes("fact.expire", ((org, user, agent, n) for org, user, agent, n, _last in found))
        if not named:
            return count, end
        return count, max(row[-1] for row in found if row[-1]) if count else None

    def _end(self, cursor: CursorWrapper) -> datetime | None:
        """Return where the batch ends, exclusive; None when it takes all that is left."""
        column = self.work.column
        cursor.execute(
            f"SELECT f.{column} FROM {_table()} f WHERE {self.work.where} AND f.{column} >= %(position)s "  # noqa: S608
            f"ORDER BY f.{column} OFFSET %(size)s LIMIT 1",
            self._parameters(),
        )
        row = cursor.fetchone()
        return row[0] if row else None

    def _statement(self, end: datetime | None, *, named: bool) -> str:
        work, column = self.work, self.work.column
        stretch = f"{work.where} AND f.{column} >= %(position)s"
        if self.busy.ids:
            stretch += (
                " AND NOT EXISTS (SELECT FROM unnest(%(users)s::uuid[], %(agents)s::uuid[], "
                f"%(due_at)s::timestamptz[], %(ids)s::uuid[]) AS busy({_SCOPE}, due_at, id) "
                "WHERE busy.user_id = f.user_id "
                f"AND busy.agent_id = f.agent_id AND ({work.due_at}, f.id) > (busy.due_at, busy.id))"
            )
        if named:
            lock = f"FOR {'UPDATE' if work.kind == DELETED else 'NO KEY UPDATE'} OF f SKIP LOCKED"
            rows = f"SELECT f.ctid FROM {_table()} f WHERE {stretch} ORDER BY f.{column} LIMIT %(size)s {lock}"  # noqa: S608
            stretch = f"f.ctid = ANY(ARRAY({rows})) AND {work.where}"  # the row that is changed is judged as it is then
        elif end is not None:
            stretch += f" AND f.{column} < %(end)s"
        change = (
            f"DELETE FROM {_table()} f"  # noqa: S608
            if work.kind == DELETED
            else f"UPDATE {_table()} f SET status = 'deleted', deleted_at = %(now)s, updated_at = %(now)s"  # noqa: S608
        )
        scope = "organization_id, user_id, agent_id" if work.kind == EXPIRED else ""
        told = f"{scope}, " if scope else ""
        return (
            f"WITH changed AS ({change} WHERE {stretch} RETURNING {told}f.{column} AS at) "  # noqa: S608
            f"SELECT {told}count(*), max(at) FROM changed" + (f" GROUP BY {scope}" if scope else "")
        )

    def _parameters(self) -> dict[str, Any]:
        parameters = _times(self.now) | {"position": self.position, "size": self.size}
        if self.busy.ids:
            parameters |= {"users": self.busy.users, "agents": self.busy.agents}
            parameters |= {"due_at": self.busy.due_at, "ids": self.busy.ids}
        return parameters
