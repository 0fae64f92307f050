"""The erasure ledger: an append-only file outside the database that outlives a restore. Imports no Django.

One JSON object a line: id, kind, subjects (ids by name), at. It says that something was erased, never what was in it.
"""

import fcntl
import json
import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

# Of subjects and their memory; then what members do themselves.
KINDS: Final = frozenset(
    {"organization_keys", "organization", "agent", "user", "memory", "withdrawal", "fact", "session"}
)
YEARS: Final = range(2000, 9999)  # beyond them some zone or the database runs out of calendar


class LedgerError(Exception):
    """The ledger cannot be written or read; the sentence names the file and the reason."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One erasure. `subjects` are ids by name, as {"organization": …}."""

    id: uuid.UUID
    kind: str
    subjects: Mapping[str, uuid.UUID]
    at: datetime

    def line(self) -> bytes:
        subjects = {name: str(subject) for name, subject in self.subjects.items()}
        values = {"id": str(self.id), "kind": self.kind, "subjects": subjects, "at": self.at.isoformat()}
        return json.dumps(values, separators=(",", ":")).encode() + b"\n"


def append(file: Path, kind: str, at: datetime, **subjects: uuid.UUID) -> Entry:
    """Write one erasure to disk before returning it; several processes may append at once. Raises LedgerError."""
    if kind not in KINDS or at.tzinfo is None:
        raise ValueError("an erasure has a known kind and an aware time")
    entry = Entry(uuid.uuid4(), kind, subjects, at)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            size = os.fstat(descriptor).st_size
            # A line that a crash cut off must not swallow this one.
            torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
            line = b"\n" * torn + entry.line()
            if os.write(descriptor, line) != len(line):
                raise OSError("short write")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if size == 0:
            _sync_folder(file.parent)
    except OSError as error:
        raise LedgerError(f"The erasure ledger {file} cannot be written ({type(error).__name__}).") from None
    return entry


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read(file: Path) -> tuple[list[Entry], int]:
    """Return the erasures, oldest first and each once, and how many lines are none. Raises LedgerError.

    Files of several machines may be concatenated: ids tell entries apart.
    """
    try:
        lines = file.read_bytes().split(b"\n")
    except FileNotFoundError:
        raise LedgerError(f"There is no erasure ledger at {file}.") from None
    except OSError as error:
        raise LedgerError(f"The erasure ledger {file} cannot be read ({type(error).__name__}).") from None
    entries: dict[uuid.UUID, Entry] = {}
    unreadable = 0
    for line in filter(None, lines):
        entry = _parse(line)
        if entry is None:
            unreadable += 1
        else:
            entries.setdefault(entry.id, entry)
    return sorted(entries.values(), key=lambda entry: entry.at), unreadable


def _parse(line: bytes) -> Entry | None:
    try:
        raw = json.loads(line)
        subjects = {str(name): uuid.UUID(subject) for name, subject in raw["subjects"].items()}
        entry = Entry(uuid.UUID(raw["id"]), str(raw["kind"]), subjects, _instant(raw["at"]))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None
    return entry


def _instant(text: str) -> datetime:
    """Return an aware time in UTC. Raises ValueError, and OverflowError at the ends of the calendar."""
    at = datetime.fromisoformat(text)
    if at.tzinfo is None or at.year not in YEARS:
        raise ValueError("no time of an erasure")
    return at.astimezone(UTC)
