"""The nightly job and its schedule: pending wipes again, facts, old conversations, one report (R01–R03, T04)."""

from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from typing import Final

import structlog
from django.db import DatabaseError, connection, transaction
from django.utils import timezone
from django_q.models import Schedule

from accounts import idempotency, rates
from database.patience import impatient
from facts.due import DELETED, EXPIRED, SUPERSEDED, Limits
from facts.retention import Step, Swept, sweep
from lifecycle import transcript_retention
from lifecycle.models import RetentionReport
from lifecycle.services import retry_wipes

log = structlog.get_logger(__name__)

SCHEDULE: Final = "retention"
TASK: Final = "lifecycle.tasks.nightly"
AT: Final = time(2, 30, tzinfo=UTC)
_LOCK: Final = 7_203_041  # any number, as long as nothing else in this database locks the same


def run(
    *,
    now: datetime,
    asked_by: str,
    limits: Limits | None = None,
    step: Step = lambda _: None,
    clock: Callable[[], datetime] = timezone.now,
) -> RetentionReport:
    """Do one night's work and return its report; `now` decides what is due, `clock` says when it ended.

    May run twice at once and be killed anywhere. Wipes come first: they were promised at once, and take no part in the
    caps. Nothing waits long for what somebody holds. A part that fails does not keep the others from being done; its
    error is raised at the end, and the report, which says what was done, is not finished then.
    """
    report = RetentionReport.objects.create(asked_by=asked_by, started_at=now)
    failures: list[Exception] = []
    parts: dict[str, Callable[[], object]] = {
        "wipes": lambda: _wipes(report, now),
        "facts": lambda: _facts(report, sweep(now=now, limits=limits, step=step)),
        "transcripts": lambda: _transcripts(report, transcript_retention.sweep(now=now, step=step)),
        "rates": rates.forget_unused,
        "idempotency": lambda: idempotency.forget_old(now=now),
    }
    with impatient():
        for name, part in parts.items():
            try:
                failure = part()  # what it gave up, when it did the rest
            except Exception as error:
                failure = error
            if isinstance(failure, Exception):
                log.error("night_failed", part=name, code=type(failure.__cause__ or failure).__name__)
                failures.append(failure)
        report.finished_at = None if failures else clock()
        report.save()
    if failures:
        raise failures[0]
    return report


def _wipes(report: RetentionReport, now: datetime) -> None:
    report.wipes_done, report.wipes_pending = retry_wipes(now=now)


def _facts(report: RetentionReport, swept: Swept) -> DatabaseError | None:
    report.expired, report.superseded = swept.done[EXPIRED], swept.done[SUPERSEDED]
    report.deleted, report.batches = swept.done[DELETED], swept.batches
    report.waiting |= swept.waiting
    return swept.failure


def _transcripts(report: RetentionReport, aged: transcript_retention.Aged) -> DatabaseError | None:
    report.transcripts = aged.sessions
    report.waiting |= aged.waiting
    return aged.failure


def next_night(now: datetime) -> datetime:
    """Return the next time of the job after `now`, in UTC."""
    now = now.astimezone(UTC)
    tonight = datetime.combine(now.date(), AT)
    return tonight if tonight > now else tonight + timedelta(days=1)


def ensure_schedule(*, now: datetime) -> None:
    """Put the job on the queue's schedule, or put it right; idempotent, also between workers that start at once.

    Nights that were missed are not made up for: the queue runs the job once when it is back (`catch_up` is off).
    """
    wanted = {"func": TASK, "schedule_type": Schedule.DAILY, "repeats": -1}
    if list(Schedule.objects.filter(name=SCHEDULE).values_list(*wanted)) == [tuple(wanted.values())]:
        return
    with transaction.atomic():
        with connection.cursor() as cursor:  # the queue's table knows no unique names
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        twins = Schedule.objects.filter(name=SCHEDULE).order_by("pk").values_list("pk", flat=True)[1:]
        Schedule.objects.filter(pk__in=list(twins)).delete()
        defaults = {**wanted, "next_run": next_night(now)}
        Schedule.objects.update_or_create(name=SCHEDULE, defaults=wanted, create_defaults=defaults)
