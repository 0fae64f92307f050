"""Which facts are due for retention, and how many of them a night may change; must not change any (R01, R02)."""

import uuid
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.db import connection

from facts.models import Fact

KEEP_TOMBSTONES: Final = timedelta(days=180)  # of 24 hours each, in UTC
KEEP_SUPERSEDED: Final = timedelta(days=30)
BATCH: Final = 5_000  # rows; their locks are held for well under 150 ms
EXPIRED, SUPERSEDED, DELETED = "expired", "superseded", "deleted"
KINDS: Final = (EXPIRED, SUPERSEDED, DELETED)
SCOPE: Final = "user_id, agent_id"  # an agent is of one organization


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
    """What is due at an instant: rows by kind, those that the scopes' caps let through, and scopes above theirs."""

    due: Counter[str]
    allowed: Counter[str]
    busy: "Busy"


@dataclass(frozen=True, slots=True)
class Busy:
    """Scopes with more due rows than one may have, each with the last row that this run may take (aligned lists)."""

    users: list[uuid.UUID] = field(default_factory=list)
    agents: list[uuid.UUID] = field(default_factory=list)
    due_at: list[datetime] = field(default_factory=list)
    ids: list[uuid.UUID] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Pass:
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
PASSES: Final = (
    Pass(EXPIRED, _LIVE, "expires_at", "now", "f.expires_at"),
    Pass(SUPERSEDED, "f.status = 'superseded'", "superseded_at", "superseded_until", _SUPERSEDED_DUE),
    Pass(SUPERSEDED, "f.status = 'superseded'", "expires_at", "now", _SUPERSEDED_DUE),
    Pass(DELETED, "f.status = 'deleted'", "deleted_at", "deleted_until", "f.deleted_at + %(keep_tombstones)s"),
)
_SUPERSEDED_ROWS: Final = (
    "f.status = 'superseded' AND (f.superseded_at <= %(superseded_until)s OR f.expires_at <= %(now)s)"
)


def table() -> str:
    return connection.ops.quote_name(Fact._meta.db_table)


def times(now: datetime) -> dict[str, Any]:
    now = now.astimezone(UTC)  # days subtracted from another zone's time would follow its clock changes
    return {
        "now": now,
        "superseded_until": now - KEEP_SUPERSEDED,
        "deleted_until": now - KEEP_TOMBSTONES,
        "keep_superseded": KEEP_SUPERSEDED,
        "keep_tombstones": KEEP_TOMBSTONES,
    }


_PARTS: Final = (
    (EXPIRED, PASSES[0].where, PASSES[0].due_at),
    (SUPERSEDED, _SUPERSEDED_ROWS, _SUPERSEDED_DUE),
    (DELETED, PASSES[3].where, PASSES[3].due_at),
)


def _due() -> str:
    """Return the SELECT of every due row: scope, kind, id and since when."""
    return " UNION ALL ".join(
        f"SELECT {SCOPE}, '{kind}' AS kind, f.id, {due_at} AS due_at FROM {table()} f WHERE {where}"  # noqa: S608
        for kind, where, due_at in _PARTS
    )


def _scopes() -> str:
    """Return the SELECT of every scope with due rows: how many of each kind. Each kind is counted where it is read."""
    parts = (
        f"SELECT {SCOPE}, {', '.join(f'count(*) AS {kind}' if kind == part else f'0 AS {kind}' for kind in KINDS)} "  # noqa: S608
        f"FROM {table()} f WHERE {where} GROUP BY {SCOPE}"
        for part, where, _due_at in _PARTS
    )
    numbers = ", ".join(f"sum({kind}) AS {kind}" for kind in KINDS)
    return (
        f"SELECT {SCOPE}, {numbers}, sum({' + '.join(KINDS)}) AS n FROM ({' UNION ALL '.join(parts)}) parts "  # noqa: S608
        f"GROUP BY {SCOPE}"
    )


def survey(*, now: datetime, limits: Limits | None = None) -> Survey:
    """Return what is due at `now`, changing nothing."""
    limits = limits or Limits()
    parameters = times(now) | {"per_scope": limits.per_scope}
    due = ", ".join(f"coalesce(sum({kind}), 0)" for kind in KINDS)
    allowed = ", ".join(f"coalesce(sum({kind}) FILTER (WHERE n <= %(per_scope)s), 0)" for kind in KINDS)
    busy = ", ".join(f"array_agg({column}) FILTER (WHERE n > %(per_scope)s)" for column in SCOPE.split(", "))
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {due}, {allowed}, {busy} FROM ({_scopes()}) scopes",  # noqa: S608 (our own columns)
            parameters,
        )
        *numbers, users, agents = cursor.fetchone()
        found = Survey(_counts(numbers[: len(KINDS)]), _counts(numbers[len(KINDS) :]), Busy())
        if not users:
            return found
        by_kind = ", ".join(f"count(*) FILTER (WHERE kind = '{kind}')" for kind in KINDS)
        cursor.execute(
            f"SELECT {SCOPE}, min(due_at) FILTER (WHERE n = %(per_scope)s), "  # noqa: S608
            f"(array_agg(id) FILTER (WHERE n = %(per_scope)s))[1], {by_kind} FROM (SELECT due.*, row_number() OVER "
            f"(PARTITION BY {SCOPE} ORDER BY due_at, id) AS n FROM ({_due()}) due JOIN "
            f"unnest(%(users)s::uuid[], %(agents)s::uuid[]) AS busy({SCOPE}) USING ({SCOPE})) numbered "
            f"WHERE n <= %(per_scope)s GROUP BY {SCOPE}",
            parameters | {"users": users, "agents": agents},
        )
        columns = [list(column) for column in zip(*cursor.fetchall(), strict=True)]
        if not columns:  # somebody deleted them all between the two statements
            return found
        found.allowed.update(_counts(map(sum, columns[4:])))
        return replace(found, busy=Busy(*columns[:4]))


def _counts(numbers: Iterable[int]) -> Counter[str]:
    return Counter({kind: int(number) for kind, number in zip(KINDS, numbers, strict=True) if number})
