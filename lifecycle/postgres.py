"""Lends the embedded PostgreSQL to any number of processes and stops it after the last; imports no Django.

A user holds a shared lock on `postgres.users` in the data folder. The lock goes away with its process, so a user that
was killed counts no longer. Starting and stopping happen under an exclusive lock on `postgres.start`.
"""

import fcntl
import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from lifecycle.postgres_binaries import PostgresError, cache_dir, client_account, locked
from lifecycle.postgres_processes import Cluster, stop_running
from lifecycle.postgres_server import ensure_running

__all__ = [
    "EmbeddedPostgres",
    "PostgresError",
    "cache_dir",
    "default_data_dir",
    "dsn",
    "lease",
    "lease_for_tests",
    "stop",
    "usual_data_dir",
]

DATABASE = "memoryproject"


def default_data_dir() -> Path:
    """Return the data folder: MEMORYPROJECT_DATA_DIR, or `memoryproject` in the user's XDG data folder (X01)."""
    if stated := os.environ.get("MEMORYPROJECT_DATA_DIR"):
        return Path(stated).expanduser().absolute()
    return usual_data_dir()


def usual_data_dir() -> Path:
    """Return the data folder of those who name none."""
    base = Path(os.environ.get("XDG_DATA_HOME", ""))
    # A relative XDG path is to be ignored; it could also lead into a checkout.
    return (base if base.is_absolute() else Path.home() / ".local" / "share") / "memoryproject"


def dsn(data_dir: Path, database: str = DATABASE) -> str:
    """Return the URL of a database of the embedded server, without starting or touching anything.

    It is the same for all processes of a user. The host is the percent-encoded folder of a Unix socket: read the URL
    with `psycopg.conninfo.conninfo_to_dict`.
    """
    return _cluster(data_dir).dsn(database)


class EmbeddedPostgres:
    """A lease on the embedded server (X01): entering starts it when needed, the last one to leave stops it.

    `settings` are PostgreSQL's own and count only when this lease is the one that starts the server; `fsync=off` is
    for tests alone. `say` gets a sentence before each step that takes long. Entering raises PostgresError.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        settings: Mapping[str, str] | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.url = dsn(data_dir)
        self._cluster = _cluster(data_dir)
        self._settings = dict(settings or {})
        self._say = say
        self._held: tuple[int, int] | None = None  # the descriptor, and the process that took it

    def open(self) -> Self:
        """Take the lease; raises PostgresError."""
        with _folder_errors(self._cluster):
            _prepare(self._cluster.data_dir)
            with locked(self._cluster.lock("start")) as start_lock:
                self._held = _share(self._cluster.lock("users")), os.getpid()
                try:
                    ensure_running(
                        self._cluster,
                        database=DATABASE,
                        settings=self._settings,
                        say=self._say,
                        start_lock=start_lock,
                    )
                except BaseException:
                    self._release()
                    raise
        return self

    def close(self) -> None:
        """Give the lease back, and stop the server if nobody else has one; raises PostgresError."""
        # A forked child shares the descriptor: the lease stays the parent's to give back.
        if self._held is not None and self._held[1] == os.getpid():
            with _folder_errors(self._cluster), locked(self._cluster.lock("start")):
                self._release()

    def _release(self) -> None:
        assert self._held is not None  # noqa: S101 -- for the type checker
        os.close(self._held[0])
        self._held = None
        if not _in_use(self._cluster):
            stop_running(self._cluster)

    def __enter__(self) -> str:
        return self.open().url

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def lease(
    data_dir: Path, *, settings: Mapping[str, str] | None = None, say: Callable[[str], None] = lambda _: None
) -> EmbeddedPostgres:
    """Return a lease for use as `with lease(data_dir) as url:`."""
    return EmbeddedPostgres(data_dir, settings=settings, say=say)


def lease_for_tests(say: Callable[[str], None] = lambda _: None) -> EmbeddedPostgres:
    """Return a lease on this checkout's cluster for pytest: kept in the cache between runs, fast and not crash-safe."""
    checkout = hashlib.sha256(os.fsencode(Path(__file__).resolve().parents[1])).hexdigest()[:8]
    unsafe = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
    return EmbeddedPostgres(cache_dir() / f"tests-{checkout}", settings=unsafe, say=say)


def stop(data_dir: Path) -> None:
    """Stop the server whoever uses it; raises PostgresError."""
    cluster = _cluster(data_dir)
    with _folder_errors(cluster):
        if cluster.folder.exists():
            with locked(cluster.lock("start")):
                stop_running(cluster)


def _cluster(data_dir: Path) -> Cluster:
    return Cluster(Path(os.path.realpath(data_dir)))


def _prepare(data_dir: Path) -> None:
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = data_dir.stat()
    if found.st_uid != client_account().uid or found.st_mode & stat.S_IWOTH:
        raise PostgresError(f"{data_dir} belongs to another user or to everybody; choose a folder of your own.")


def _share(path: Path) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    return descriptor


def _in_use(cluster: Cluster) -> bool:
    descriptor = os.open(cluster.lock("users"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)


@contextmanager
def _folder_errors(cluster: Cluster) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise PostgresError(
            f"The data folder {cluster.data_dir} cannot be used: {error}. "
            "Choose one that you can write to with MEMORYPROJECT_DATA_DIR."
        ) from error
