"""Keeps the queue's cluster alive: starts it, sends it a heartbeat task, kills and restarts it when none comes back.

A cluster whose next-in-line worker was killed looks alive and does nothing, so only work that is done counts. A worker
that is busy counts as alive for as long as its task may take.
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
from datetime import timedelta
from pathlib import Path
from typing import Final

import structlog
from django.db import DatabaseError, connection
from django.utils import timezone
from django_q.tasks import async_task

from jobs.models import Heartbeat
from jobs.signs import VARIABLE, Signs

log = structlog.get_logger(__name__)

BEAT: Final = "queue"
BEAT_EVERY: Final = 10.0  # seconds
LOOK_EVERY: Final = 1.0  # seconds; a cluster that died leaves workers that go on, and they must not for long
WEDGED_AFTER: Final = timedelta(seconds=60)
START_WITHIN: Final = timedelta(seconds=120)  # on a busy machine a cluster takes long to load
WORKER_SILENT_AFTER: Final = timedelta(seconds=60)  # without a beat for so long, pages and probes say so
STOP_SECONDS: Final = 30.0
_PR_SET_PDEATHSIG: Final = 1


def die_with_parent() -> None:
    """Ask the kernel to end this process with its parent (Linux); for a child, before it runs its program."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


class Supervisor:
    """Runs until `stop`; `chores` are called every `BEAT_EVERY` seconds, and one that fails stops no other."""

    def __init__(self, *, manage: Path, chores: Sequence[Callable[[], object]]) -> None:
        # The queue does what needs no key under a missing keyring too.
        self._command = [sys.executable, str(manage), "qcluster", "--skip-checks"]
        self._chores = chores
        self._stopping = threading.Event()
        self._cluster: subprocess.Popen[bytes] | None = None
        self._signs: Signs | None = None
        self._beat_sent = False

    def run(self) -> None:
        next_tick = 0.0
        try:
            while not self._stopping.is_set():
                self._look()
                if time.monotonic() >= next_tick:
                    next_tick = time.monotonic() + BEAT_EVERY
                    self._tick()
                self._stopping.wait(LOOK_EVERY)
        finally:
            self._end()

    def stop(self) -> None:
        self._stopping.set()

    def _look(self) -> None:
        """Start the cluster, also again: after it died, its orphans first, and when it only looks alive."""
        if self._cluster is None:
            self._start()
        elif _has_ended(self._cluster):
            log.error("queue_died")
            self._kill()
            self._start()
        elif self._is_wedged():
            log.error("queue_wedged")
            self._kill()
            self._start()

    def _is_wedged(self) -> bool:
        if self._signs is None:
            return False
        allowed = WEDGED_AFTER if self._signs.begun() else START_WITHIN
        return self._signs.quiet_seconds() > allowed.total_seconds()

    def _tick(self) -> None:
        """Send a beat through the queue, note the last one, and do the chores."""
        try:
            self._beat()
        except DatabaseError as error:
            self._without_database(error)
        for chore in self._chores:
            try:
                chore()
            except DatabaseError as error:
                self._without_database(error)
            except Exception as error:
                log.error("chore_failed", exc_info=error)

    def _beat(self) -> None:
        quiet = timedelta(seconds=self._signs.quiet_seconds() if self._signs else 0.0)
        alive_at = timezone.now() - quiet
        # A queue that is busy with long work lives, though a beat would have to wait its turn.
        Heartbeat.objects.filter(name=BEAT, at__lt=alive_at).update(at=alive_at)
        # Only an idle cluster must be asked, so beats never pile up behind work.
        if not self._beat_sent or quiet.total_seconds() > BEAT_EVERY / 2:
            async_task("jobs.tasks.beat", BEAT, task_name="beat")
            self._beat_sent = True

    def _without_database(self, error: DatabaseError) -> None:
        log.error("supervisor_without_database", code=type(error).__name__)
        connection.close()

    def _start(self) -> None:
        self._signs = Signs()
        # A session of its own: a signal to the group of the supervisor must not reach the cluster's workers, which
        # hang when all are told to stop at once.
        self._cluster = subprocess.Popen(  # noqa: S603
            self._command,
            env={**os.environ, VARIABLE: str(self._signs.folder)},
            start_new_session=True,
            preexec_fn=die_with_parent,  # noqa: PLW1509
        )
        self._beat_sent = False
        log.info("queue_started", pid=self._cluster.pid)

    def _end(self) -> None:
        if self._cluster is None:
            return
        if not _has_ended(self._cluster):
            self._cluster.send_signal(signal.SIGTERM)  # to the parent alone: it lets running tasks finish
        deadline = time.monotonic() + STOP_SECONDS
        while not _has_ended(self._cluster) and time.monotonic() < deadline:
            time.sleep(0.05)
        self._kill()

    def _kill(self) -> None:
        """Kill what is left of the cluster's process group, and only then forget its number."""
        if self._cluster is None:
            return
        if self._cluster.returncode is None:  # not yet reaped, so the number still means this group
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._cluster.pid, signal.SIGKILL)
            self._cluster.wait()
        if self._signs is not None:
            self._signs.remove()


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether a child has ended; it is left unreaped, so that its process group can still be named."""
    if process.returncode is not None:
        return True
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True
