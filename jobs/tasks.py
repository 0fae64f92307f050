"""What the queue runs for its own sake."""

from django.utils import timezone

from jobs.models import Heartbeat
from jobs.signs import at_work

BEAT_SECONDS = 30.0  # more than it takes to write one row


def beat(name: str) -> None:
    """Show that the queue carries a task from end to end."""
    with at_work(BEAT_SECONDS):
        Heartbeat.objects.update_or_create(name=name, defaults={"at": timezone.now()})
