"""What the queue calls: the clock comes from here, an exception that leaves here carries no text."""

import structlog
from django.utils import timezone

from lifecycle.nightly import run

log = structlog.get_logger(__name__)


class NightlyCrashed(Exception):
    """Something unexpected happened; its cause is cut off, since a database error quotes the failing row."""


def nightly() -> None:
    """Do the night's work."""
    try:
        report = run(now=timezone.now(), asked_by="schedule")
    except Exception as error:
        log.error("nightly_crashed", exc_info=error)
        raise NightlyCrashed(type(error).__name__) from None
    waiting = sum(report.waiting.values())
    log.info(
        "nightly_done",
        deleted=report.deleted,
        transcripts=report.transcripts,
        waiting=waiting,
        wipes_pending=report.wipes_pending,
    )
