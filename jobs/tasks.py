"""What the queue runs for its own sake."""

from django.utils import timezone

from jobs.models import Heartbeat


def beat(name: str) -> None:
    """Show that the queue carries a task from end to end."""
    Heartbeat.objects.update_or_create(name=name, defaults={"at": timezone.now()})
