"""How the background work is doing: depths, ages, counts and codes; must not open a task's arguments or its result."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Count, Max, Min, Q
from django_q.conf import Conf
from django_q.models import OrmQ, Schedule, Task

from extraction.models import Run
from jobs.models import Heartbeat
from jobs.supervisor import BEAT, WORKER_SILENT_AFTER
from lifecycle.models import PendingWipe, RetentionReport
from lifecycle.nightly import SCHEDULE

RECENT_TASKS: Final = timedelta(days=7)  # how far back failures are counted
RECENT_RUNS: Final = timedelta(days=1)  # there is one for each turn


@dataclass(frozen=True, slots=True)
class Failures:
    """How often one task, or a run with one code, failed lately, and when it last did."""

    name: str
    count: int
    last_at: datetime


@dataclass(frozen=True, slots=True)
class Queue:
    """Tasks that wait and that a worker has taken; since when the oldest ones do."""

    waiting: int
    oldest_waiting: timedelta | None
    taken: int
    oldest_taken: timedelta | None


@dataclass(frozen=True, slots=True)
class QueueReport:
    """One look at the background work; ages are those at the time of the look."""

    heartbeat: timedelta | None  # None: no worker has ever shown that it is alive
    silent: bool
    queue: Queue
    runs: Mapping[str, int]  # open extraction runs by state
    oldest_run_due: timedelta | None
    wipes_pending: int
    last_night: RetentionReport | None
    next_night: datetime | None
    failed_tasks: tuple[Failures, ...]
    failed_runs: tuple[Failures, ...]


def look(*, now: datetime) -> QueueReport:
    """Gather the report: a dozen small reads, none of them over a table that grows with use, save by an index."""
    beat = Heartbeat.objects.filter(name=BEAT).values_list("at", flat=True).first()
    runs = Run.objects.filter(state__in=[Run.State.WAITING, Run.State.RUNNING]).order_by()
    due = runs.filter(state=Run.State.WAITING, due_at__lte=now).aggregate(at=Min("due_at"))["at"]
    return QueueReport(
        heartbeat=_age(beat, now),
        silent=beat is None or now - beat > WORKER_SILENT_AFTER,
        queue=_queue(now),
        runs=Counter(dict(runs.values_list("state").annotate(Count("pk")))),
        oldest_run_due=_age(due, now),
        wipes_pending=PendingWipe.objects.count(),
        last_night=RetentionReport.objects.order_by("-started_at").first(),
        next_night=Schedule.objects.filter(name=SCHEDULE).values_list("next_run", flat=True).first(),
        failed_tasks=_failed_tasks(now),
        failed_runs=_failed_runs(now),
    )


def _age(at: datetime | None, now: datetime) -> timedelta | None:
    """Return how long ago it was, in whole seconds; a clock that runs ahead makes it no negative age."""
    return None if at is None else max(timedelta(), timedelta(seconds=int((now - at).total_seconds())))


def _queue(now: datetime) -> Queue:
    """Read the queue's table. A task's `lock` is when it was put there or, once taken, until when it may run."""
    free, taken = Q(lock__lte=now), Q(lock__gt=now)
    found = OrmQ.objects.aggregate(
        waiting=Count("pk", filter=free),
        taken=Count("pk", filter=taken),
        oldest_waiting=Min("lock", filter=free),
        oldest_taken=Min("lock", filter=taken),
    )
    until = found["oldest_taken"]
    taken_at = until - timedelta(seconds=Conf.RETRY) if until else None
    return Queue(found["waiting"], _age(found["oldest_waiting"], now), found["taken"], _age(taken_at, now))


def _failed_tasks(now: datetime) -> tuple[Failures, ...]:
    failed = Task.objects.filter(success=False, stopped__gt=now - RECENT_TASKS).order_by().values("func")
    counted = failed.annotate(count=Count("pk"), last=Max("stopped")).order_by("-last")
    return tuple(Failures(row["func"], row["count"], row["last"]) for row in counted)


def _failed_runs(now: datetime) -> tuple[Failures, ...]:
    failed = Run.objects.filter(state=Run.State.FAILED, created_at__gt=now - RECENT_RUNS).order_by()
    counted = failed.values("error_code").annotate(count=Count("pk"), last=Max("finished_at")).order_by("-last")
    return tuple(Failures(row["error_code"], row["count"], row["last"] or now) for row in counted)
