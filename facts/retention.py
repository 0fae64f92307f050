"""Nightly retention of facts: tombstones what is over, deletes old tombstones; must not decrypt (R01, R02).

Work goes oldest first in small transactions that skip rows somebody holds, so that it waits for nobody, may be killed
anywhere, and two runs at once share the rows between them. A row that the database refuses to change is passed over.
"""

import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

import structlog
from django.db import DatabaseError, connection, transaction
from django.db.backends.utils import CursorWrapper
from psycopg.errors import LockNotAvailable

from audit.services import record, record_scopes
from facts.due import DELETED, EXPIRED, PASSES, SCOPE, Busy, Limits, Pass, survey, table, times

log = structlog.get_logger(__name__)

MOST_REFUSED: Final = 5_000  # rows of one pass; with more of them something else is wrong
NAMED: Final = 20  # of them, in the log
LOCK_TIMEOUT: Final = "50ms"  # well under PostgreSQL's search for deadlocks: the sweep is who yields
_FIRST: Final = datetime(1, 1, 2, tzinfo=UTC)
type Step = Callable[[int], object]


@dataclass(slots=True)
class Swept:
    """Rows by kind that a run tombstoned (expired, superseded) or deleted, its batches, and due rows that wait.

    `failure` is what the database said when it refused so much that a part of the work was given up.
    """

    done: Counter[str] = field(default_factory=Counter)
    batches: int = 0
    waiting: Counter[str] = field(default_factory=Counter)
    failure: DatabaseError | None = None


def sweep(*, now: datetime, limits: Limits | None = None, step: Step = lambda _: None) -> Swept:
    """Tombstone live rows that expired at `now` and superseded rows that are over, then delete old tombstones.

    `step` is told the size of each batch after its commit. Tombstoning may use up the part of `limits.total` that
    deletion does not need, and at least half of it, so that neither starves the other. Call it outside a transaction.
    """
    limits = limits or Limits()
    found, outcome = survey(now=now, limits=limits), Swept()
    to_tombstone = max(limits.total // 2, limits.total - found.allowed[DELETED])
    for work in PASSES:
        left = (limits.total if work.kind == DELETED else to_tombstone) - outcome.done.total()
        if found.due[work.kind]:
            try:
                _Walk(work, found.busy, now, limits.batch, step, outcome).go(min(left, limits.total))
            except DatabaseError as error:
                log.error("retention_failed", kind=work.kind, code=type(error.__cause__ or error).__name__)
                outcome.failure = error
    outcome.waiting = found.due - outcome.done
    if outcome.waiting:
        try:
            # Counted again, since another run may have done it meanwhile; not otherwise: dead index entries are slow.
            outcome.waiting = survey(now=now, limits=limits).due
        except DatabaseError as error:
            outcome.failure = error
    return outcome


@dataclass(slots=True)
class _Walk:
    """One pass along its index in batches; at the end, and when somebody holds a row, it looks again past what is held.

    Of a batch that the database refuses the halves are tried, down to the row that it refuses, which waits. Each batch
    moves `position` on or sets rows of that instant `aside`, so that the walk ends whatever a trigger does.
    """

    work: Pass
    busy: Busy
    now: datetime
    batch: int
    step: Step
    outcome: Swept
    position: datetime = _FIRST
    aside: list[uuid.UUID] = field(default_factory=list)
    refused: int = 0

    def go(self, left: int) -> None:
        """Change at most `left` rows. Raises DatabaseError when too many of them are refused."""
        before, skip_locked = self.outcome.done[self.work.kind], False
        while (size := min(self.batch, left + before - self.outcome.done[self.work.kind])) > 0:
            stretch = _Batch(self.work, self.busy, self.position, size, self.now, skip_locked, self.aside)
            try:
                count, further = stretch.change()
            except DatabaseError as error:
                if isinstance(error.__cause__, LockNotAvailable) and not skip_locked:
                    skip_locked = True
                    continue
                tried = stretch.free()
                self._in_halves(stretch, [row for row, _at in tried])
            else:
                self._tell(count)
                if further is not None:
                    self._advance(further)
                    continue
                # Either nothing is left, or what is left was passed over without an error, as a trigger can do.
                tried = stretch.free() if skip_locked else []
            if tried:
                self._advance(tried[-1][1], tried)
            elif skip_locked:
                break
            else:
                skip_locked = True
        if self.refused:
            log.error("retention_rows_refused", kind=self.work.kind, rows=self.refused)

    def _advance(self, to: datetime, tried: Sequence[tuple[uuid.UUID, datetime]] = ()) -> None:
        if to != self.position:
            self.position, self.aside = to, []
        self.aside += [row for row, at in tried if at == to]

    def _in_halves(self, stretch: "_Batch", ids: list[uuid.UUID]) -> None:
        """Change the rows with these ids as far as the database lets us."""
        if not ids:
            return
        try:
            count, _last = stretch.change(ids)
        except DatabaseError as error:
            if len(ids) > 1:
                middle = len(ids) // 2
                self._in_halves(stretch, ids[:middle])
                self._in_halves(stretch, ids[middle:])
                return
            self.refused += 1
            if self.refused > MOST_REFUSED:
                raise
            if self.refused <= NAMED:
                code = type(error.__cause__ or error).__name__
                log.error("retention_refused", kind=self.work.kind, code=code, fact_id=str(ids[0]))
        else:
            self._tell(count)

    def _tell(self, count: int) -> None:
        if count:
            self.outcome.done[self.work.kind] += count
            self.outcome.batches += 1
            self.step(count)


@dataclass(frozen=True, slots=True)
class _Batch:
    """The oldest rows of a pass from `position` on, at most `size` of them, without those set `aside`.

    Without the position carried forward each batch would wade through the dead index entries of all batches before.

    To lock rows and then to change them writes each of them twice, and to name them costs a list. So a batch is a
    stretch of the index that is changed at once, and a change that would wait ends with LockNotAvailable
    (OperationalError). Only with `skip_locked`, or when more rows than a batch share one instant, are rows named.
    """

    work: Pass
    busy: Busy
    position: datetime
    size: int
    now: datetime
    skip_locked: bool
    aside: list[uuid.UUID]

    @transaction.atomic
    def change(self, ids: list[uuid.UUID] | None = None) -> tuple[int, datetime | None]:
        """Return how many rows were changed, and where the next batch begins; None when nothing is left.

        With `ids`, only of these. Raises DatabaseError, and nothing was changed then.
        """
        with connection.cursor() as cursor:
            # The commit does not wait for the disk: what a crash of the server brings back, the next night takes again.
            cursor.execute(
                "SELECT set_config('synchronous_commit', 'off', true), set_config('lock_timeout', %s, true)",
                [LOCK_TIMEOUT],
            )
            end = None if self.skip_locked or ids else self._end(cursor)
            named = self.skip_locked or ids is not None or end == self.position
            if not named:
                # A bitmap visits each page once; along the index the rows of a page are far apart.
                cursor.execute("SELECT set_config('enable_indexscan', 'off', true)")
            cursor.execute(self._statement(end, named=named, of=ids), self._parameters() | {"end": end, "of": ids})
            found = cursor.fetchall()
            cursor.execute("SELECT set_config('enable_indexscan', 'on', true)")
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

    def free(self) -> list[tuple[uuid.UUID, datetime]]:
        """Return id and instant of the batch's rows that nobody holds, oldest first."""
        column = self.work.column
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT f.id, f.{column} FROM {table()} f WHERE {self._stretch()} "  # noqa: S608 (our own columns)
                f"ORDER BY f.{column} LIMIT %(size)s {self._lock()}",
                self._parameters(),
            )
            return list(cursor.fetchall())

    def _lock(self) -> str:
        return f"FOR {'UPDATE' if self.work.kind == DELETED else 'NO KEY UPDATE'} OF f SKIP LOCKED"

    def _end(self, cursor: CursorWrapper) -> datetime | None:
        """Return where the batch ends, exclusive; None when it takes all that is left."""
        column = self.work.column
        cursor.execute(
            f"SELECT f.{column} FROM {table()} f WHERE {self.work.where} AND f.{column} >= %(position)s "  # noqa: S608
            f"ORDER BY f.{column} OFFSET %(size)s LIMIT 1",
            self._parameters(),
        )
        row = cursor.fetchone()
        return row[0] if row else None

    def _stretch(self) -> str:
        """Return the condition of the due rows from the position on that the scopes' limits let through."""
        work = self.work
        stretch = f"{work.where} AND f.{work.column} >= %(position)s"
        if self.aside:
            stretch += " AND f.id <> ALL(%(aside)s::uuid[])"
        if self.busy.ids:
            stretch += (
                " AND NOT EXISTS (SELECT FROM unnest(%(users)s::uuid[], %(agents)s::uuid[], "
                f"%(due_at)s::timestamptz[], %(ids)s::uuid[]) AS busy({SCOPE}, due_at, id) "
                "WHERE busy.user_id = f.user_id "
                f"AND busy.agent_id = f.agent_id AND ({work.due_at}, f.id) > (busy.due_at, busy.id))"
            )
        return stretch

    def _statement(self, end: datetime | None, *, named: bool, of: list[uuid.UUID] | None) -> str:
        work, column, stretch = self.work, self.work.column, self._stretch()
        if of is not None:
            stretch += " AND f.id = ANY(%(of)s::uuid[])"
        if named:
            rows = f"SELECT f.ctid FROM {table()} f WHERE {stretch} ORDER BY f.{column} LIMIT %(size)s {self._lock()}"  # noqa: S608
            stretch = f"f.ctid = ANY(ARRAY({rows})) AND {work.where}"  # the row that is changed is judged as it is then
        elif end is not None:
            stretch += f" AND f.{column} < %(end)s"
        change = (
            f"DELETE FROM {table()} f"  # noqa: S608
            if work.kind == DELETED
            else f"UPDATE {table()} f SET status = 'deleted', deleted_at = %(now)s, updated_at = %(now)s"  # noqa: S608
        )
        scope = "organization_id, user_id, agent_id" if work.kind == EXPIRED else ""
        told = f"{scope}, " if scope else ""
        return (
            f"WITH changed AS ({change} WHERE {stretch} RETURNING {told}f.{column} AS at) "  # noqa: S608
            f"SELECT {told}count(*), max(at) FROM changed" + (f" GROUP BY {scope}" if scope else "")
        )

    def _parameters(self) -> dict[str, Any]:
        parameters = times(self.now) | {"position": self.position, "size": self.size, "aside": self.aside}
        if self.busy.ids:
            parameters |= {"users": self.busy.users, "agents": self.busy.agents}
            parameters |= {"due_at": self.busy.due_at, "ids": self.busy.ids}
        return parameters
