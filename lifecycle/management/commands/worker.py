"""`manage.py worker`: runs the background work until it is told to stop."""

import signal
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils import timezone

from audit.chain import seal_when_due
from extraction.runs import sweep
from jobs.supervisor import Supervisor
from lifecycle.nightly import ensure_schedule


def sweep_now() -> None:
    """Enqueue extraction runs whose task was lost or put back."""
    sweep(now=timezone.now())


def seal_audit() -> None:
    """Seal the audit events of the last minutes."""
    seal_when_due(now=timezone.now())


def ensure_schedule_now() -> None:
    """Keep the nightly job on the schedule."""
    ensure_schedule(now=timezone.now())


class Command(BaseCommand):
    help = "Run the queue's workers under a supervisor that restarts them when they are stuck."

    def handle(self, *args: Any, **options: Any) -> None:
        chores = [sweep_now, seal_audit, ensure_schedule_now]
        supervisor = Supervisor(manage=Path(settings.BASE_DIR) / "manage.py", chores=chores)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: supervisor.stop())
        supervisor.run()
