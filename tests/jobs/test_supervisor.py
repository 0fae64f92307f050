"""The supervisor: starts the cluster, restarts it when it dies or is wedged, ends it, and survives a failing chore."""

import os
import signal
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import DatabaseError
from django.utils import timezone
from django_q.models import OrmQ

from jobs import signs, supervisor, tasks
from jobs.models import Heartbeat
from tests.scratch import eventually

pytestmark = [pytest.mark.django_db, pytest.mark.processes]


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


def folder(supervised: supervisor.Supervisor) -> Path:
    assert supervised._signs is not None
    return supervised._signs.folder


def age(supervised: supervisor.Supervisor, seconds: float) -> None:
    """Let the last sign of life be so old."""
    then = time.time() - seconds
    (folder(supervised) / "life").touch()
    os.utime(folder(supervised) / "life", (then, then))


def starts(cluster: Path) -> int:
    return len(list(cluster.parent.glob("started-*")))


def test_it_starts_the_cluster_and_enqueues_a_heartbeat(supervised: supervisor.Supervisor, cluster: Path) -> None:
    supervised._look()
    supervised._tick()
    assert eventually(lambda: starts(cluster) == 1)
    assert OrmQ.objects.count() == 1
    supervised._tick()
    assert OrmQ.objects.count() == 1  # only a cluster that has been idle for a while is asked again
    age(supervised, supervisor.BEAT_EVERY)
    supervised._tick()
    assert OrmQ.objects.count() == 2


def test_it_restarts_a_cluster_that_died(supervised: supervisor.Supervisor, cluster: Path) -> None:
    supervised._look()
    assert eventually(lambda: starts(cluster) == 1)
    process = supervised._cluster
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)

    def restarted() -> bool:
        supervised._look()
        return starts(cluster) == 2

    assert eventually(restarted)


def test_it_kills_and_restarts_a_cluster_that_looks_alive_and_does_nothing(
    supervised: supervisor.Supervisor, cluster: Path
) -> None:
    supervised._look()
    assert eventually(lambda: starts(cluster) == 1)
    first = supervised._cluster
    age(supervised, 3600)
    supervised._look()
    assert eventually(lambda: starts(cluster) == 2)
    assert first is not None
    assert first.poll() == -signal.SIGKILL


def test_work_that_was_done_keeps_the_cluster(
    supervised: supervisor.Supervisor, cluster: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    supervised._look()
    assert eventually(lambda: starts(cluster) == 1)
    age(supervised, 3600)
    monkeypatch.setenv(signs.VARIABLE, str(folder(supervised)))
    tasks.beat(supervisor.BEAT)
    supervised._look()
    assert starts(cluster) == 1
    assert Heartbeat.objects.get().name == supervisor.BEAT


def test_a_worker_that_is_busy_for_long_keeps_the_cluster_and_the_heartbeat_fresh(
    supervised: supervisor.Supervisor, cluster: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    supervised._look()
    assert eventually(lambda: starts(cluster) == 1)
    past = timezone.now() - timedelta(hours=1)
    Heartbeat.objects.create(name=supervisor.BEAT, at=past)
    monkeypatch.setenv(signs.VARIABLE, str(folder(supervised)))
    with signs.at_work(300):
        age(supervised, 3600)
        supervised._look()
        supervised._tick()
        supervised._tick()
    assert starts(cluster) == 1
    assert Heartbeat.objects.get().at > past + timedelta(minutes=59)
    assert OrmQ.objects.count() == 1  # beats do not pile up behind the work


def test_a_busy_worker_that_was_killed_or_is_overdue_counts_no_longer(
    supervised: supervisor.Supervisor, cluster: Path
) -> None:
    supervised._look()
    for pid, until in ((2**22 + 1, time.time() + 300), (os.getpid(), time.time() - 1)):
        (folder(supervised) / f"busy-{pid}").write_text(str(until))
    age(supervised, 3600)
    assert supervised._signs is not None
    assert supervised._signs.quiet_seconds() > 3500


def test_a_chore_that_fails_stops_no_other(cluster: Path) -> None:
    done: list[str] = []

    def fail() -> None:
        raise ValueError

    supervisor.Supervisor(manage=cluster, chores=[fail, lambda: done.append("second")])._tick()
    assert done == ["second"]


def test_it_goes_on_when_the_database_is_away(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise DatabaseError

    monkeypatch.setattr("jobs.supervisor.connection.close", lambda: None)
    made = supervisor.Supervisor(manage=cluster, chores=[fail])
    made._tick()
    made._end()
