"""`manage.py worker`: runs the background work until it is told to stop."""

import signal
from pathlib import Path
from typing import Any

import structlog
from django.conf import settings
from django.core.checks import run_checks
from django.core.management.base import BaseCommand
from django.utils import timezone

from audit.chain import seal_when_due
from extraction.runs import sweep
from jobs.supervisor import Supervisor
from lifecycle.nightly import ensure_schedule

log = structlog.get_logger(__name__)


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
    requires_system_checks = ()  # retention, wipes and seals need no key; runs wait for it

    def handle(self, *args: Any, **options: Any) -> None:
        for found in run_checks():
            log.error("check_failed", code=found.id, sentence=found.msg)
        chores = [sweep_now, seal_audit, ensure_schedule_now]
        supervisor = Supervisor(manage=Path(settings.BASE_DIR) / "manage.py", chores=chores)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: supervisor.stop())
        supervisor.run()
