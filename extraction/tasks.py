"""What the queue calls: the clock comes from here, an exception that leaves here carries no text."""

from uuid import UUID

from django.conf import settings
from django.utils import timezone

from extraction import services
from jobs.signs import at_work


class ExtractionCrashed(Exception):
    """Something unexpected happened in a run; its cause is cut off, since it may quote what a member said."""


def extract(run_id: str) -> None:
    """Do one extraction run."""
    try:
        with at_work(settings.QUEUE_TIMEOUT):
            services.extract(UUID(run_id), clock=timezone.now)
    except Exception as error:
        services.log.error("extraction_crashed", run_id=run_id, exc_info=error)
        raise ExtractionCrashed(type(error).__name__) from None
