"""Makes and starts the one PostgreSQL server of a data folder; the caller holds the folder's start lock."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path

import psycopg
from psycopg import sql

from lifecycle.postgres_binaries import PostgresError, client_account, programs, server_account
from lifecycle.postgres_processes import POLL_SECONDS, ROLE, Cluster, alive_lock, children, postmaster_of, stop_running

MAJOR_VERSION = "18"

START_SECONDS = 300.0  # recovery after a crash replays at most max_wal_size
START_ATTEMPTS = 3  # somebody may kill the server while it starts
ORPHAN_SECONDS = 15.0  # what is left of a killed server normally ends within one

SETTINGS: Mapping[str, str] = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "fsync": "on",
    "jit": "off",  # the wheel carries no LLVM
    "timezone": "UTC",
    "log_timezone": "UTC",
    # A week of logs, each day's file written over a week later.
    "logging_collector": "on",
    "log_directory": "log",
    "log_filename": "postgresql-%a.log",
    "log_file_mode": "0600",
    "log_rotation_age": "1d",
    "log_rotation_size": "0",
    "log_truncate_on_rotation": "on",
    # Statements, their parameters and the messages of their errors hold members' data: they go to the client only.
    # `log` leaves out warnings and errors of statements, and keeps starts, crashes, recoveries and panics.
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_min_duration_statement": "-1",
    "log_statement": "none",
    "log_checkpoints": "off",
    "log_autovacuum_min_duration": "-1",
}


def ensure_running(
    cluster: Cluster, *, database: str, settings: Mapping[str, str], say: Callable[[str], None], start_lock: int
) -> None:
    """Start the server unless it answers, and make the database when missing; raises PostgresError, OSError."""
    if not _answers(cluster, database):
        binaries = programs(say)
        if not cluster.folder.exists():
            say("Making a new database cluster")
            _initialize(cluster, binaries, start_lock, sync=settings.get("fsync") != "off")
        _check_version(cluster)
        say("Starting PostgreSQL")
        _start(cluster, binaries, database, settings)


def _answers(cluster: Cluster, database: str) -> bool:
    """Say whether the server lets us in, and make the database when it does; nothing less counts as running."""
    try:
        connection = psycopg.connect(cluster.dsn("postgres"), connect_timeout=5, autocommit=True)
    except psycopg.OperationalError:
        return False
    with connection:
        try:
            known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database]).fetchone()
            if known is None:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))
        except psycopg.Error as error:
            if connection.broken:
                return False
            raise PostgresError(f"PostgreSQL runs but cannot make the database {database}: {error}") from error
    return True


def _initialize(cluster: Cluster, binaries: Path, start_lock: int, *, sync: bool) -> None:
    """Make the cluster beside its place and move it there whole, so that a cut leaves nothing half made."""
    draft = cluster.data_dir / "postgres.new"
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700)
    _give(draft)
    options = ["--username", ROLE, "--auth", "peer", "--encoding", "UTF8", "--data-checksums", "--no-instructions"]
    options += ["--locale-provider", "builtin", "--builtin-locale", "C.UTF-8", "--locale", "C"]
    if not sync:
        options.append("--no-sync")
    with _reachable(draft) as (path, descriptors):
        # The start lock goes along, so that nobody begins anew beside an initdb whose launcher was killed.
        child = _run(cluster, [binaries / "bin" / "initdb", "-D", path, *options], (start_lock, *descriptors))
    if child.wait() != 0:
        problem = _log_tail(cluster)
        shutil.rmtree(draft, ignore_errors=True)
        raise PostgresError(f"PostgreSQL cannot make a database cluster in {cluster.data_dir}: {problem}")
    draft.rename(cluster.folder)


def _check_version(cluster: Cluster) -> None:
    found = (cluster.folder / "PG_VERSION").read_text().strip()
    if found != MAJOR_VERSION:
        raise PostgresError(
            f"{cluster.folder} was made by PostgreSQL {found}, but the installed one is {MAJOR_VERSION}: "
            "dump the data with the old version and restore it with the new one."
        )


def _start(cluster: Cluster, binaries: Path, database: str, settings: Mapping[str, str]) -> None:
    attempts = 0
    silent_since = time.monotonic()
    deadline = silent_since + START_SECONDS
    while not _answers(cluster, database):
        now = time.monotonic()
        if (alive := alive_lock(cluster)) is not None:
            try:
                if attempts == START_ATTEMPTS:
                    raise PostgresError(f"PostgreSQL does not start in {cluster.data_dir}: {_log_tail(cluster)}")
                _spawn(cluster, binaries, settings, alive)
                attempts += 1
            finally:
                os.close(alive)
        if postmaster_of(cluster) is not None:
            silent_since = now
        elif now - silent_since > ORPHAN_SECONDS:
            # Remains of a killed server, or one whose socket was deleted: nobody can reach them any more.
            stop_running(cluster)
            silent_since, attempts = now, 0
        if now > deadline:
            raise PostgresError(f"PostgreSQL runs but does not answer at {cluster.socket}: {_log_tail(cluster)}")
        time.sleep(POLL_SECONDS)


def _spawn(cluster: Cluster, binaries: Path, settings: Mapping[str, str], alive: int) -> None:
    """Start the postmaster, which inherits the lock `alive`; holding it proves that what the last one left is stale."""
    if cluster.folder.stat().st_uid != server_account().uid:
        _give(cluster.folder)
    _drop_old_logs(cluster)
    _prepare_socket_folder(cluster)
    for stale in (cluster.folder / "postmaster.pid", cluster.socket, cluster.socket.with_name(".s.PGSQL.5432.lock")):
        stale.unlink(missing_ok=True)
    _write(cluster.folder / "pg_hba.conf", f"local all {ROLE} peer map=launcher\n")
    _write(cluster.folder / "pg_ident.conf", f'launcher "{client_account().name}" {ROLE}\n')
    options = {**SETTINGS, **settings, "unix_socket_directories": str(cluster.socket_folder)}
    arguments = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
    with _reachable(cluster.folder) as (path, descriptors):
        child = _run(cluster, [binaries / "bin" / "postgres", "-D", path, *arguments], (alive, *descriptors))
    children[:] = [known for known in children if known.poll() is None] + [child]


def _run(cluster: Cluster, command: list[str | Path], descriptors: tuple[int, ...]) -> subprocess.Popen[bytes]:
    account, client = server_account(), client_account()
    library = str(Path(command[0]).parents[1] / "lib")
    with cluster.lock("log").open("wb") as log:
        return subprocess.Popen(  # noqa: S603 -- our own unpacked programs
            command,
            cwd="/",
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC", "LD_LIBRARY_PATH": library},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=descriptors,
            start_new_session=True,  # Ctrl-C in a terminal is for the launcher
            user=account.uid if client.uid == 0 else None,
            group=account.gid if client.uid == 0 else None,
            extra_groups=[] if client.uid == 0 else None,
            umask=0o077,
        )


@contextmanager
def _reachable(folder: Path) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield a path by which the server's account reaches `folder`, and the descriptors that it must inherit.

    Root's data may lie below folders that are closed to that account (/root, mktemp -d): an open descriptor leads past
    them without opening them to anybody.
    """
    if client_account().uid != 0 or sys.platform != "linux":
        yield str(folder), ()
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield f"/proc/self/fd/{descriptor}", (descriptor,)
    finally:
        os.close(descriptor)


def _prepare_socket_folder(cluster: Cluster) -> None:
    """Make the folder for the socket; /tmp is everybody's, so one that another account made is refused."""
    account, client = server_account(), client_account()
    base = cluster.socket_folder.parent
    with suppress(FileExistsError):
        base.mkdir(mode=0o700)
    try:
        descriptor = os.open(base, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        raise PostgresError(f"{base} is not a folder of yours ({error.strerror}); remove it.") from error
    try:
        if os.fstat(descriptor).st_uid != client.uid:
            raise PostgresError(f"{base} belongs to another user; have it removed.")
        os.fchmod(descriptor, 0o711 if client.uid == 0 else 0o700)
        name = cluster.socket_folder.name
        with suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=descriptor)
        if client.uid == 0:
            os.chown(name, account.uid, account.gid, dir_fd=descriptor, follow_symlinks=False)
    finally:
        os.close(descriptor)


def _write(path: Path, text: str) -> None:
    """Write a file anew; never through a link that the server's account could have put there."""
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "w") as file:
        file.write(text)
        if client_account().uid == 0:
            os.fchown(file.fileno(), server_account().uid, server_account().gid)


def _give(folder: Path) -> None:
    """Hand a folder to the server's account; a whole cluster when a user `postgres` came after the first start."""
    account = server_account()
    if client_account().uid == 0:
        for parent, _, files in os.walk(folder):
            for path in (parent, *(os.path.join(parent, name) for name in files)):
                os.chown(path, account.uid, account.gid, follow_symlinks=False)


def _drop_old_logs(cluster: Cluster) -> None:
    # PostgreSQL truncates a weekday's file only if it runs at midnight.
    for path in (cluster.folder / "log").glob("*.log"):
        if time.time() - path.lstat().st_mtime > timedelta(days=6).total_seconds():
            path.unlink()


def _log_tail(cluster: Cluster) -> str:
    """Return the last lines that a program wrote before or instead of starting."""
    written = cluster.lock("log").read_text(errors="replace").strip().splitlines()[-6:]
    logs = sorted((cluster.folder / "log").glob("*.log"), key=lambda path: path.stat().st_mtime)
    if logs:
        written += logs[-1].read_text(errors="replace").strip().splitlines()[-6:]
    return "\n".join(written) or "it says nothing"
