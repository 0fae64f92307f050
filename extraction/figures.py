"""What runs came to, as counts: beside a turn for its member, by day and reason for managers (E06). Reads no text."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from django.db import connection
from django.db.models import Count, Q, Sum
from django.db.models.functions import TruncDate

from agents.breaker import BreakerState, breaker_state
from agents.models import Agent
from extraction.models import Run

DAYS: Final = 30
LISTED: Final = 50  # runs that wait or failed; the page says when there are more
OPEN: Final = (Run.State.WAITING, Run.State.RUNNING)


@dataclass(frozen=True, slots=True)
class Learned:
    """What became of one turn. `word` is looking, learned, nothing, off or failed."""

    turn_id: uuid.UUID
    word: str
    kept: int
    set_aside: int


@dataclass(frozen=True, slots=True)
class Day:
    """One day's runs by how they ended, and the tokens they took."""

    day: date
    done: int = 0
    skipped: int = 0
    failed: int = 0
    tokens: int = 0

    @property
    def ended(self) -> int:
        return self.done + self.skipped + self.failed


@dataclass(frozen=True, slots=True)
class Figures:
    """The last `DAYS` days of one agent. Durations are milliseconds of runs that were done."""

    days: tuple[Day, ...]
    states: dict[str, int]
    outcomes: dict[str, int]
    refusals: dict[str, int]
    median_ms: int
    slow_ms: int
    prompt_tokens: int
    completion_tokens: int
    troubled: tuple[Run, ...]
    more_troubled: bool
    breaker: BreakerState


def learned(turn_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, Learned]:
    """Return what became of each turn that has a run; for the session's creator alone."""
    runs = Run.objects.filter(turn__in=list(turn_ids)).only("turn_id", "state", "outcomes", "refusals")
    return {run.turn_id: _learned(run) for run in runs}


def _learned(run: Run) -> Learned:
    kept, set_aside = sum(run.outcomes.values()), sum(run.refusals.values())
    if run.state in OPEN:
        word = "looking"
    elif run.state == Run.State.DONE:
        word = "learned" if kept or set_aside else "nothing"
    else:
        word = "off" if run.state == Run.State.SKIPPED else "failed"
    return Learned(run.turn_id, word, kept, set_aside)


def figures(agent: Agent, *, now: datetime, zone: ZoneInfo) -> Figures:
    """Return the counts of an agent's runs; days are the reader's."""
    first = now.astimezone(zone).date() - timedelta(days=DAYS - 1)
    since = datetime(first.year, first.month, first.day, tzinfo=zone)
    runs = Run.objects.filter(organization=agent.organization_id, agent=agent, created_at__gte=since)
    totals = runs.aggregate(prompt=Sum("prompt_tokens"), completion=Sum("completion_tokens"))
    median, slow = _durations(agent, since)
    troubled = (
        Run.objects.filter(organization=agent.organization_id, agent=agent)
        .filter(Q(state__in=OPEN) | Q(state=Run.State.FAILED, created_at__gte=since))
        .only("state", "error_code", "attempt", "excused", "created_at", "due_at", "finished_at")
        .order_by("-created_at")[: LISTED + 1]
    )
    listed = list(troubled)
    return Figures(
        days=_days(agent, first, since, zone),
        states={row["state"]: row["count"] for row in runs.values("state").annotate(count=Count("pk"))},
        outcomes=_counts("outcomes", agent, since),
        refusals=_counts("refusals", agent, since),
        median_ms=median,
        slow_ms=slow,
        prompt_tokens=totals["prompt"] or 0,
        completion_tokens=totals["completion"] or 0,
        troubled=tuple(listed[:LISTED]),
        more_troubled=len(listed) > LISTED,
        breaker=breaker_state(agent.provider, now=now),
    )


def _days(agent: Agent, first: date, since: datetime, zone: ZoneInfo) -> tuple[Day, ...]:
    rows = (
        Run.objects.filter(organization=agent.organization_id, agent=agent, created_at__gte=since)
        .annotate(day=TruncDate("created_at", tzinfo=zone))
        .values("day")
        .annotate(
            done=Count("pk", filter=Q(state=Run.State.DONE)),
            skipped=Count("pk", filter=Q(state=Run.State.SKIPPED)),
            failed=Count("pk", filter=Q(state=Run.State.FAILED)),
            tokens=Sum("prompt_tokens") + Sum("completion_tokens"),
        )
    )
    found = {row["day"]: Day(**row) for row in rows}
    days = [first + timedelta(days=offset) for offset in range(DAYS)]
    return tuple(found.get(day, Day(day)) for day in days)


def _counts(column: str, agent: Agent, since: datetime) -> dict[str, int]:
    """Return the sums of the counts that the runs keep as JSON objects, largest first."""
    # S608: the column is one of two names of this module; every value is a parameter.
    statement = (
        f"SELECT part.key, sum(part.value::bigint) FROM extraction_run run, jsonb_each_text(run.{column}) part "  # noqa: S608
        "WHERE run.organization_id = %s AND run.agent_id = %s AND run.created_at >= %s GROUP BY 1 ORDER BY 2 DESC, 1"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, (agent.organization_id, agent.pk, since))
        return {str(key): int(count) for key, count in cursor.fetchall()}


def _durations(agent: Agent, since: datetime) -> tuple[int, int]:
    """Return the median and the 95th percentile in milliseconds."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT percentile_disc(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY duration_ms) FROM extraction_run "
            "WHERE organization_id = %s AND agent_id = %s AND created_at >= %s AND state = 'done'",
            (agent.organization_id, agent.pk, since),
        )
        row = cursor.fetchone()
    median, slow = (row[0] if row else None) or (0, 0)
    return int(median), int(slow)
