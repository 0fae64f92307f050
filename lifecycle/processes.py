"""Starts and ends the web server and the worker of a local deployment; must not know what they serve."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from jobs.supervisor import die_with_parent

BASE_DIR: Final = Path(__file__).resolve().parent.parent
THREADS: Final = 64  # blocking threads of the web process: as many streams at once
POOL: Final = 16  # database connections of the web process; none is held while a model writes
LARGEST_LOG: Final = 10 * 1024 * 1024
STOP_SECONDS: Final = 40.0
_ENDING: Final = frozenset({signal.SIGINT, signal.SIGTERM})


class StartFailed(Exception):
    """A process did not come up; the message says which and where its log is."""


def free_port(wanted: int) -> int:
    """Return the port to listen on (0: any free one). Raises StartFailed when it is taken."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", wanted))
        except PermissionError:
            raise StartFailed(f"Port {wanted} needs more rights than yours; choose one from 1024 up.") from None
        except OSError:
            raise StartFailed(f"Port {wanted} is in use; choose another one with --port.") from None
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def claimed_port(wanted: int) -> Iterator[int]:
    """Keep a port (0: any free one) from every other quickstart of this machine. Raises StartFailed when it is taken.

    Granian would share its port with another one, half of the requests each, and listens only when all is prepared.
    The claim is a socket in Linux's abstract namespace: it has no file, and ends with this process however that ends.
    """
    port = free_port(wanted)
    with socket.socket(socket.AF_UNIX) as claim:
        try:
            claim.bind(f"\0memoryproject/port/{port}")
        except OSError:
            raise StartFailed(f"Port {port} is in use by another quickstart; choose another with --port.") from None
        yield port


@dataclass(frozen=True, slots=True)
class Running:
    """A child process and its log file."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def ended(self) -> bool:
        return self.process.poll() is not None


def _log_file(folder: Path, name: str) -> tuple[Path, IO[bytes]]:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.log"
    if path.exists() and path.stat().st_size > LARGEST_LOG:
        path.replace(path.with_suffix(".log.1"))
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    return path, os.fdopen(descriptor, "ab")


@contextlib.contextmanager
def _signals_held() -> Iterator[None]:
    """Let signals wait while a process is forked: Python swallows an interruption of its hooks, and prints it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _in_child() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
    die_with_parent()


def _start(name: str, command: list[str], *, logs: Path, environment: Mapping[str, str]) -> Running:
    path, file = _log_file(logs, name)
    with file, _signals_held():
        process = subprocess.Popen(  # noqa: S603
            command,
            cwd=BASE_DIR,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,  # Ctrl-C reaches us alone; we end the children in order
            preexec_fn=_in_child,  # noqa: PLW1509
        )
    return Running(name, process, path)


def start_worker(logs: Path) -> Running:
    return _start("worker", [sys.executable, str(BASE_DIR / "manage.py"), "worker"], logs=logs, environment={})


def start_web(
    logs: Path, *, port: int, instance: str, workers: int = 1, threads: int = THREADS, pool: int = POOL
) -> Running:
    """Start granian on loopback: plain WSGI with many blocking threads. Raises StartFailed when something is there.

    Each worker process has so many threads, which is how many streams it serves at once, and database connections.
    """
    free_port(port)
    command = [sys.executable, "-m", "granian", "--interface", "wsgi", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--workers", str(workers), "--blocking-threads", str(threads), "--no-ws", "--log-level", "warning"]
    command += ["memoryproject.wsgi:application"]
    environment = {"MEMORYPROJECT_DATABASE_POOL": str(pool), "MEMORYPROJECT_INSTANCE": instance}
    return _start("web", command, logs=logs, environment=environment)


def wait_until_answers(
    url: str, running: Running, *, instance: str = "", without: Collection[str] = (), seconds: float = 30.0
) -> None:
    """Return when `url` answers 200, or when nothing is wrong but the parts named in `without`.

    Raises StartFailed, also when it is not the `instance` that we started.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not running.ended():
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 (loopback)
                if answer.status == 200:
                    if instance.encode() not in answer.read(1000):
                        raise StartFailed(f"Another server answers at {url}; choose another port with --port.")
                    return
        except urllib.error.HTTPError as refused:
            with refused:
                if without and _wrong_parts(refused) <= {"status", *without}:
                    return
            time.sleep(0.1)
        except OSError:
            time.sleep(0.1)
    raise StartFailed(f"The {running.name} process did not come up; its log is {running.log}.")


def _wrong_parts(refused: urllib.error.HTTPError) -> set[str]:
    """Return the parts that an answer of readiness does not call `ok`; one that cannot be read is wrong as a whole."""
    try:
        found = json.loads(refused.read(10_000))
        return {part for part, state in found.items() if state != "ok"}
    except (ValueError, AttributeError):
        return {"answer"}


def end(running: Running) -> None:
    """Ask a process to end, wait, and kill it and what it left behind if it does not."""
    if not running.ended():
        running.process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            running.process.wait(STOP_SECONDS)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(running.process.pid, signal.SIGKILL)  # it leads a session of its own
    running.process.wait()
