"""Keeps the queue's cluster alive: starts it, sends it a heartbeat task, kills and restarts it when none comes back.

A cluster whose next-in-line worker was killed looks alive and does nothing, so only a task that went through counts.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import structlog
from django.db import DatabaseError, connection
from django.utils import timezone
from django_q.tasks import async_task

from jobs.models import Heartbeat

log = structlog.get_logger(__name__)

BEAT: Final = "queue"
BEAT_EVERY: Final = 10.0  # seconds
WEDGED_AFTER: Final = timedelta(seconds=60)
STOP_SECONDS: Final = 30.0
_PR_SET_PDEATHSIG: Final = 1


def die_with_parent() -> None:
    """Ask the kernel to end this process with its parent (Linux); for a child, before it runs its program."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


class Supervisor:
    """Runs until `stop`; `chores` are called every `BEAT_EVERY` seconds, and one that fails stops no other."""

    def __init__(self, *, manage: Path, chores: Sequence[Callable[[], object]]) -> None:
        self._command = [sys.executable, str(manage), "qcluster"]
        self._chores = chores
        self._stopping = threading.Event()
        self._cluster: subprocess.Popen[bytes] | None = None
        self._started_at = timezone.now()
        self._beat_sent_at: datetime | None = None

    def run(self) -> None:
        try:
            while not self._stopping.is_set():
                self._tick()
                self._stopping.wait(BEAT_EVERY)
        finally:
            self._end()

    def stop(self) -> None:
        self._stopping.set()

    def _tick(self) -> None:
        if self._cluster is None or self._cluster.poll() is not None:
            self._start()
        try:
            last = Heartbeat.objects.filter(name=BEAT).values_list("at", flat=True).first()
            if timezone.now() - max(self._started_at, last or self._started_at) > WEDGED_AFTER:
                log.error("queue_wedged")
                self._kill()
                self._start()
            if self._beat_sent_at is None or (last is not None and last > self._beat_sent_at):
                self._beat_sent_at = timezone.now()
                async_task("jobs.tasks.beat", BEAT, task_name="beat")
            for chore in self._chores:
                chore()
        except DatabaseError as error:
            log.error("supervisor_without_database", code=type(error).__name__)
            connection.close()

    def _start(self) -> None:
        # A session of its own: a signal to the group of the supervisor must not reach the cluster's workers, which
        # hang when all are told to stop at once.
        self._cluster = subprocess.Popen(  # noqa: S603
            self._command,
            start_new_session=True,
            preexec_fn=die_with_parent,  # noqa: PLW1509
        )
        self._started_at = timezone.now()
        self._beat_sent_at = None
        log.info("queue_started", pid=self._cluster.pid)

    def _end(self) -> None:
        if self._cluster is None or self._cluster.poll() is not None:
            return
        self._cluster.send_signal(signal.SIGTERM)  # to the parent alone: it lets running tasks finish
        deadline = time.monotonic() + STOP_SECONDS
        while self._cluster.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
        self._kill()

    def _kill(self) -> None:
        if self._cluster is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._cluster.pid, signal.SIGKILL)
        self._cluster.wait()
