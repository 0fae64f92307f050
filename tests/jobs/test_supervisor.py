"""The supervisor: starts the cluster, restarts it when it dies or is wedged, ends it, and survives a failing chore."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import DatabaseError
from django.utils import timezone
from django_q.models import OrmQ

from jobs import supervisor, tasks
from jobs.models import Heartbeat

pytestmark = [pytest.mark.django_db, pytest.mark.processes]


def eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    """Stands for `manage.py qcluster`: notes its start and sleeps."""
    program = tmp_path / "manage.py"
    program.write_text(
        "import os, pathlib, time\n"
        f"pathlib.Path({str(tmp_path)!r}, f'started-{{os.getpid()}}').touch()\n"
        "time.sleep(600)\n"
    )
    return program


@pytest.fixture
def supervised(cluster: Path) -> Iterator[supervisor.Supervisor]:
    made = supervisor.Supervisor(manage=cluster, chores=[])
    yield made
    made._end()


def starts(cluster: Path) -> int:
    return len(list(cluster.parent.glob("started-*")))


def test_it_starts_the_cluster_and_enqueues_a_heartbeat(supervised: supervisor.Supervisor, cluster: Path) -> None:
    supervised._tick()
    assert eventually(lambda: starts(cluster) == 1)
    assert OrmQ.objects.count() == 1
    supervised._tick()
    assert OrmQ.objects.count() == 1  # a beat that has not come back yet is not sent again


def test_it_restarts_a_cluster_that_died(supervised: supervisor.Supervisor, cluster: Path) -> None:
    supervised._tick()
    assert eventually(lambda: starts(cluster) == 1)
    process = supervised._cluster
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    supervised._tick()
    assert eventually(lambda: starts(cluster) == 2)


def test_it_kills_and_restarts_a_cluster_that_looks_alive_and_does_nothing(
    supervised: supervisor.Supervisor, cluster: Path
) -> None:
    supervised._tick()
    assert eventually(lambda: starts(cluster) == 1)
    first = supervised._cluster
    supervised._started_at = timezone.now() - timedelta(hours=1)
    supervised._tick()
    assert eventually(lambda: starts(cluster) == 2)
    assert first is not None
    assert first.poll() == -signal.SIGKILL


def test_a_heartbeat_that_came_through_keeps_the_cluster(supervised: supervisor.Supervisor, cluster: Path) -> None:
    supervised._tick()
    assert eventually(lambda: starts(cluster) == 1)
    supervised._started_at = timezone.now() - timedelta(hours=1)
    tasks.beat(supervisor.BEAT)
    supervised._tick()
    assert starts(cluster) == 1
    assert Heartbeat.objects.get().name == supervisor.BEAT


def test_it_goes_on_when_the_database_is_away(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise DatabaseError

    monkeypatch.setattr("jobs.supervisor.connection.close", lambda: None)
    made = supervisor.Supervisor(manage=cluster, chores=[fail])
    made._tick()
    made._end()
