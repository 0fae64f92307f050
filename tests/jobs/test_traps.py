"""The queue's known traps in real processes: killed workers, sentinels and parents, signals, and double delivery."""

import os
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django_q.tasks import async_task

from jobs.models import Heartbeat
from tests.scratch import alive, descendants, eventually, process, scratch_database

pytestmark = pytest.mark.processes
type Process = subprocess.Popen[bytes]


@pytest.fixture(scope="module")
def database(migrated: str, django_db_blocker: Any) -> Iterator[str]:
    with django_db_blocker.unblock(), scratch_database(migrated) as name:
        yield name


@pytest.fixture
def worker(database: str, tmp_path: Path) -> Iterator[Process]:
    """`manage.py worker` with a single queue worker, which is thus the next in line, and a probe of 3 seconds."""
    command = ("manage.py", "worker")
    with process(*command, database=database, log=tmp_path / "log", TEST_WORKERS="1", TEST_WEDGED="3") as started:
        assert works(), (tmp_path / "log").read_text()
        yield started


def works() -> bool:
    """Whether a new task goes through soon; what a wedged cluster has taken stays locked, so it is asked again."""
    name = f"probe-{uuid.uuid4().hex[:8]}"
    arrived = Heartbeat.objects.filter(name=name).exists

    def asked() -> bool:
        async_task("jobs.tasks.beat", name, task_name="probe")
        return eventually(arrived, seconds=2)

    return eventually(asked, seconds=40)


def family(worker: Process) -> tuple[int, int, list[int]]:
    """Return the cluster's parent, its sentinel, and the sentinel's children: the worker, the monitor, the pusher."""
    assert eventually(lambda: len(descendants(worker.pid)) == 5, seconds=40)
    parent, sentinel, *others = descendants(worker.pid)
    return parent, sentinel, others


def ended(pids: list[int]) -> bool:
    return eventually(lambda: not [pid for pid in pids if alive(pid)], seconds=60)


def test_each_process_of_the_cluster_may_be_killed_and_work_goes_on_without_orphans(worker: Process) -> None:
    for victim in ("idle worker", "sentinel", "parent"):
        parent, sentinel, others = family(worker)
        before = [parent, sentinel, *others]
        time.sleep(0.5)  # the worker waits for its next task then, and holds the lock that all workers share
        os.kill({"idle worker": others[0], "sentinel": sentinel, "parent": parent}[victim], signal.SIGKILL)
        assert ended(before), f"orphans go on after the {victim} was killed"
        assert works(), f"no task goes through after the {victim} was killed"


def test_sigterm_ends_everything_soon_and_a_killed_supervisor_takes_its_cluster_along(
    worker: Process, database: str, tmp_path: Path
) -> None:
    parent, sentinel, others = family(worker)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(15) == 0
    assert not [pid for pid in (parent, sentinel, *others) if alive(pid)]
    with process("manage.py", "worker", database=database, log=tmp_path / "second", TEST_WORKERS="1") as second:
        assert works()
        parent, sentinel, others = family(second)
        second.kill()
        second.wait()
        assert ended([parent, sentinel, *others])


def test_a_task_that_waits_behind_others_is_not_delivered_again_meanwhile() -> None:
    # The lock of a task starts when the pusher takes it, not when a worker begins.
    cluster: dict[str, Any] = settings.Q_CLUSTER
    ahead = cluster["queue_limit"] / cluster["workers"]
    assert cluster["bulk"] == 1
    assert cluster["retry"] > cluster["timeout"] * (ahead + 1)
    assert cluster["ack_failures"] is True
    assert cluster["save_limit"] == -1
    assert cluster["catch_up"] is False
    assert cluster["timeout"] < settings.EXTRACTION_LEASE_SECONDS
    assert "pool" not in settings.DATABASES["default"]["OPTIONS"]
