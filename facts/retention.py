"""Nightly retention of facts: tombstones what is over, deletes old tombstones; must not decrypt (R01, R02).

Work goes oldest first in small transactions that skip rows somebody holds, so that it waits for nobody, may be killed
anywhere, and two runs at once share the rows between them. A row that the database refuses to change is passed over.
"""

import uuid
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

import structlog
from django.db import DatabaseError, connection, transaction
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
        until, skip_locked, ends = self.outcome.done[self.work.kind] + left, False, deque[datetime | None]()
        while (remaining := until - self.outcome.done[self.work.kind]) > 0:
            stretch = _Batch(self.work, self.busy, self.position, min(self.batch, remaining), self.now, self.aside)
            while ends and ends[0] and ends[0] <= self.position:
                ends.popleft()
            if not ends and not skip_locked:
                ends = deque(stretch.ends(remaining // stretch.size))
            try:
                # Without an end more rows than a batch share the position's instant.
                count, further = stretch.change_named() if skip_locked or not ends else stretch.change_all(ends[0])
            except _OutgrownError:
                ends.clear()
                continue
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
            count, _last = stretch.change_named(ids)
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


class _OutgrownError(Exception):
    """A stretch has more rows by now than a batch may have; nothing was changed."""


@dataclass(frozen=True, slots=True)
class _Batch:
    """The oldest rows of a pass from `position` on, at most `size` of them, without those set `aside`.

    Without the position carried forward each batch would wade through the dead index entries of all batches before.

    To lock rows and then to change them writes each of them twice, and to name them costs a list. So a batch is a
    stretch of the index that is changed at once, and a change that would wait ends with LockNotAvailable
    (OperationalError). Only where somebody holds a row, or more rows than a batch share one instant, are rows named.
    """

    work: Pass
    busy: Busy
    position: datetime
    size: int
    now: datetime
    aside: list[uuid.UUID]

    def ends(self, number: int) -> list[datetime | None]:
        """Return where this batch and those after it end, exclusive, `number` of them at most.

        The last is None when its batch takes all that is left. There is none when more rows than a batch share the
        first instant. All are looked up at once because index entries of pages that a batch changed are slow to read.
        """
        column = self.work.column
        with connection.cursor() as cursor:
            # UNION, not UNION ALL: an end that comes twice, since more rows than a batch share it, ends the search.
            cursor.execute(
                f"WITH RECURSIVE ends(at) AS (SELECT %(position)s::timestamptz UNION SELECT (SELECT f.{column} "  # noqa: S608
                f"FROM {table()} f WHERE {self.work.where} AND f.{column} >= ends.at ORDER BY f.{column} "
                "OFFSET %(size)s LIMIT 1) FROM ends WHERE ends.at IS NOT NULL) "
                "SELECT at FROM ends OFFSET 1 LIMIT %(number)s",
                self._parameters() | {"number": number},
            )
            return [at for (at,) in cursor.fetchall()]

    def change_all(self, end: datetime | None) -> tuple[int, datetime | None]:
        """Change the rows before `end`; return how many, and where the next batch begins: `end`, None for nowhere.

        Raises DatabaseError, and _OutgrownError when there are more rows than when the end was looked up; nothing was
        changed then.
        """
        stretch = self._stretch()
        if end is not None:
            stretch += f" AND f.{self.work.column} < %(end)s"
        return self._change(stretch, {"end": end}, named=False)[0], end

    def change_named(self, ids: list[uuid.UUID] | None = None) -> tuple[int, datetime | None]:
        """Change the first rows that nobody holds, with `ids` only of these; return how many, and the last instant.

        Raises DatabaseError, and nothing was changed then.
        """
        stretch, column = self._stretch(), self.work.column
        if ids is not None:
            stretch += " AND f.id = ANY(%(of)s::uuid[])"
        rows = f"SELECT f.ctid FROM {table()} f WHERE {stretch} ORDER BY f.{column} LIMIT %(size)s {self._lock()}"  # noqa: S608
        # The row that is changed is judged as it is then.
        return self._change(f"f.ctid = ANY(ARRAY({rows})) AND {self.work.where}", {"of": ids}, named=True)

    @transaction.atomic
    def _change(self, where: str, parameters: dict[str, Any], *, named: bool) -> tuple[int, datetime | None]:
        work, parameters = self.work, self._parameters() | parameters
        change = (
            f"DELETE FROM {table()} f WHERE {where}"  # noqa: S608
            if work.kind == DELETED
            else f"UPDATE {table()} f SET status = 'deleted', deleted_at = %(now)s, updated_at = %(now)s WHERE {where}"  # noqa: S608
        )
        scope = "organization_id, user_id, agent_id" if work.kind == EXPIRED else ""
        count, last, scopes = 0, None, list[Any]()
        with connection.cursor() as cursor:
            # The commit does not wait for the disk: what a crash of the server brings back, the next night takes again.
            # A bitmap visits each page of a stretch once; along the index the rows of one page are far apart. Few pages
            # of a stretch are not in memory yet, and to hand them to I/O workers takes longer than to read them.
            cursor.execute(
                "SELECT set_config('synchronous_commit', 'off', true), set_config('lock_timeout', %s, true), "
                "set_config('effective_io_concurrency', '0', true), set_config('enable_indexscan', %s, true)",
                [LOCK_TIMEOUT, "on" if named else "off"],
            )
            if named or work.kind != DELETED:
                told = f"{scope}, " if scope else ""
                cursor.execute(
                    # A trigger may undo an update without an error: that row is not done.
                    f"WITH changed AS ({change} RETURNING {told}f.{work.column} AS at, f.status) "  # noqa: S608
                    f"SELECT {told}count(*), max(at) FROM changed WHERE status = 'deleted'"
                    + (f" GROUP BY {scope}" if scope else ""),
                    parameters,
                )
                scopes = cursor.fetchall()
                count = sum(row[-2] for row in scopes)
                last = max((row[-1] for row in scopes if row[-1]), default=None)
            else:  # to return the rows takes a fifth of the time
                cursor.execute(change, parameters)
                count = cursor.rowcount
        if count > self.size:
            raise _OutgrownError
        if count:
            # One row for a batch across organizations: a count and nothing else.
            action = "retention.delete" if work.kind == DELETED else "retention.tombstone"
            record(action, actor=None, details={"kind": work.kind, "count": count})
        if scope:  # the only change that her history tells a member
            record_scopes("fact.expire", ((org, user, agent, n) for org, user, agent, n, _last in scopes))
        return count, last

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

    def _parameters(self) -> dict[str, Any]:
        parameters = times(self.now) | {"position": self.position, "size": self.size, "aside": self.aside}
        if self.busy.ids:
            parameters |= {"users": self.busy.users, "agents": self.busy.agents}
            parameters |= {"due_at": self.busy.due_at, "ids": self.busy.ids}
        return parameters
