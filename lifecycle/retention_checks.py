"""Whether the nightly job does its work: what it should have done nights ago, and when it last ran; changes nothing."""

from datetime import datetime, timedelta
from typing import Final

from django.db.models import Count, Max, Min, Q
from django.utils import timezone

from facts.due import KEEP_SUPERSEDED, KEEP_TOMBSTONES, Limits, survey
from facts.models import Fact, FactQuerySet
from lifecycle.models import RetentionReport
from lifecycle.transcript_retention import limited_organizations, sessions_due

BEHIND: Final = timedelta(days=3)  # a night may fail, and a scope with more than a night's limit waits for the next


def retention() -> list[str]:
    """What has been due for more than three nights, with the oldest day; the last night, when that is as long ago."""
    now = timezone.now()
    late = now - BEHIND
    found = [
        sentence
        for what, rows, column in (
            ("have expired and are live", Fact.objects.live().filter(expires_at__lt=late), "expires_at"),
            ("were superseded and are kept", _superseded(late), "superseded_at"),
            (
                f"are tombstones of more than {(KEEP_TOMBSTONES + BEHIND).days} days",
                Fact.objects.filter(status="deleted", deleted_at__lt=late - KEEP_TOMBSTONES),
                "deleted_at",
            ),
        )
        for sentence in _behind(what, **rows.aggregate(count=Count("pk"), oldest=Min(column)))
    ]
    found += _old_conversations(late)
    last = RetentionReport.objects.aggregate(last=Max("finished_at"))["last"]
    if last is None:
        return [*found, "the nightly job has never ended: is a worker running?"] if found else []
    if last < late and (found or survey(now=now, limits=Limits()).due.total()):
        found.append(f"the nightly job last ended on {last:%Y-%m-%d %H:%M} UTC: is a worker running?")
    return found


def _old_conversations(late: datetime) -> list[str]:
    """Sessions that were due `late` already, as `transcript_retention` counts them."""
    due = [sessions_due(organization, now=late) for organization in limited_organizations(late)]
    count = sum(sessions.count() for sessions in due)
    if not count:
        return []
    oldest = min(sessions[0].last_activity_at for sessions in due if sessions)
    what = f"{count} conversations are older than their organization keeps them, the oldest of {oldest:%Y-%m-%d}"
    return [f"retention is behind: {what}"]


def _superseded(late: datetime) -> FactQuerySet:
    return Fact.objects.filter(
        Q(superseded_at__lt=late - KEEP_SUPERSEDED) | Q(expires_at__lt=late), status="superseded"
    )


def _behind(what: str, *, count: int, oldest: datetime | None) -> list[str]:
    return [f"retention is behind: {count} facts {what}, the oldest since {oldest:%Y-%m-%d}"] if count else []
