"""A copy of the migrated test database that real processes share, and the processes; asserts nothing."""

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
from django.db import connection
from psycopg import sql
from psycopg.conninfo import make_conninfo

ROOT = Path(__file__).resolve().parents[1]


def address(database: str) -> str:
    """Return the connection string of a database beside the test database."""
    parts = connection.settings_dict
    values = {"host": parts["HOST"], "port": parts["PORT"], "user": parts["USER"], "password": parts["PASSWORD"]}
    return make_conninfo(dbname=database, **{name: value for name, value in values.items() if value})


def outside(statement: sql.Composed) -> None:
    with psycopg.connect(address("postgres"), autocommit=True) as server:
        server.execute(statement)


def drop_visitors(database: str) -> None:
    """End every connection to a database but this thread's own, which is closed."""
    connection.close()
    with psycopg.connect(address("postgres"), autocommit=True) as server:
        server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [database])


@contextmanager
def scratch_database(original: str) -> Iterator[str]:
    """Point the default connection at a copy of `original`: what is written here, other processes see."""
    drop_visitors(original)  # a database that is copied must have none
    before, name = str(connection.settings_dict["NAME"]), f"{original}_{uuid.uuid4().hex[:8]}"
    outside(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(original)))
    connection.settings_dict["NAME"] = name
    try:
        yield name
    finally:
        connection.close()
        connection.settings_dict["NAME"] = before
        outside(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def environment(database: str, **more: str) -> dict[str, str]:
    return os.environ | {"DJANGO_SETTINGS_MODULE": "tests.worker_settings", "TEST_DATABASE": database} | more


@contextmanager
def process(*command: str, database: str, log: Path, **more: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run `python COMMAND`; afterwards it and all its descendants are killed."""
    with log.open("ab") as file:
        started = subprocess.Popen(
            [sys.executable, *command],
            cwd=ROOT,
            env=environment(database, **more),
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    try:
        yield started
    finally:
        for pid in [started.pid, *descendants(started.pid)]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        started.wait()


def eventually(condition: Callable[[], bool], *, seconds: float = 20.0, every: float = 0.05) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(every)
    return False


def children(pid: int) -> list[int]:
    """Return the direct children of a process, oldest first."""
    found = Path(f"/proc/{pid}/task/{pid}/children")
    try:
        return sorted((int(child) for child in found.read_text().split()), key=_started)
    except FileNotFoundError:
        return []


def _started(pid: int) -> int:
    """Return when a process began, in the kernel's ticks; numbers of processes are used again."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])


def descendants(pid: int) -> list[int]:
    return [found for child in children(pid) for found in (child, *descendants(child))]


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not reaped does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
