"""Tells whether the server of a data folder lives, and ends it; starts nothing and trusts no recorded process id.

Every process of the server inherits a lock on `postgres.alive` from the launcher. It goes away with the last of them,
so neither kill -9 nor a reboot, a zombie or a reused process id can pass for a running server.
"""

import fcntl
import hashlib
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from lifecycle.postgres_binaries import PostgresError, client_account, server_account

ROLE = "memoryproject"

STOP_SECONDS = 60.0  # a fast shutdown ends with a checkpoint, slow on a busy disk
POLL_SECONDS = 0.03

# Servers that this process started: only their parent can reap them.
children: list[subprocess.Popen[bytes]] = []


@dataclass(frozen=True)
class Cluster:
    """The places that belong to one data folder, whose path must be absolute and free of links."""

    data_dir: Path

    @property
    def folder(self) -> Path:
        """PostgreSQL's own folder."""
        return self.data_dir / "postgres"

    @property
    def socket_folder(self) -> Path:
        """A folder of at most 60 bytes (a socket's path may have 107), the same for all processes of a user."""
        digest = hashlib.sha256(os.fsencode(self.data_dir)).hexdigest()[:16]
        return Path(f"/tmp/memoryproject-{client_account().uid}/{digest}")  # noqa: S108 -- owner checked below

    @property
    def socket(self) -> Path:
        return self.socket_folder / ".s.PGSQL.5432"

    def lock(self, name: str) -> Path:
        return self.data_dir / f"postgres.{name}"

    def dsn(self, database: str) -> str:
        """Return the URL; `requirepeer` makes the client refuse a socket that another account has put there."""
        host, peer = quote(str(self.socket_folder), safe=""), quote(server_account().name, safe="")
        return f"postgresql://{ROLE}@{host}:5432/{quote(database, safe='')}?requirepeer={peer}"


def stop_running(cluster: Cluster) -> None:
    """Stop the server in PostgreSQL's fast way, and harder when that does not end it; raises PostgresError."""
    for number, patience in ((signal.SIGINT, STOP_SECONDS), (signal.SIGQUIT, 10.0), (signal.SIGKILL, 10.0)):
        if _ended(cluster, 0):
            break
        postmaster = postmaster_of(cluster)
        alone = [postmaster] if postmaster else []
        # Without a postmaster, these are what is left of a killed server; each of them understands all three signals.
        for pid in (number == signal.SIGINT and alone) or _processes(cluster) or alone:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        if _ended(cluster, patience):
            break
    else:
        raise PostgresError(f"The PostgreSQL server of {cluster.data_dir} does not stop; end its processes by hand.")
    # A killed server leaves its socket behind, and then the folder stays for the next start.
    with suppress(OSError):
        cluster.socket_folder.rmdir()


def alive_lock(cluster: Cluster) -> int | None:
    """Return the descriptor of the lock that a running server would hold; None when some process of it lives."""
    descriptor = os.open(cluster.lock("alive"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def _ended(cluster: Cluster, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while (alive := alive_lock(cluster)) is None:
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    os.close(alive)
    children[:] = [known for known in children if known.poll() is None]
    return True


def postmaster_of(cluster: Cluster) -> int | None:
    """Return the id of the process that listens, even while it starts, stops or is full; 0 when it cannot be told."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(1)
        try:
            client.connect(str(cluster.socket))
        except (ConnectionRefusedError, FileNotFoundError):
            return None
        except OSError:
            return 0  # its queue is full
        if sys.platform == "linux":
            pid, _, _ = struct.unpack("3i", client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            return int(pid)
    with suppress(OSError, ValueError):
        return int((cluster.folder / "postmaster.pid").read_text().split("\n", 1)[0])
    return 0


def _processes(cluster: Cluster) -> list[int]:
    """Return the ids of the server's processes: each works inside of the cluster's folder, a zombie works nowhere.

    Empty where there is no /proc or it is closed to us, as to root in a container.
    """
    home = cluster.folder.stat()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if os.path.samestat((entry / "cwd").stat(), home):
                found.append(int(entry.name))
    return found
