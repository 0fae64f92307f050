"""Applies the erasure ledger to a restored database, as often as one likes; must not write to the ledger."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from encryption.erasure import destroy_again
from encryption.ledger import Entry
from facts.erasure import SUBJECT_KINDS, Subject
from lifecycle.services import repeat_deletion


@dataclass(slots=True)
class Replayed:
    """Entries by kind: applied (something was there), already gone, and of kinds that this version cannot apply."""

    applied: Counter[str] = field(default_factory=Counter)
    already: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)


def _organization_keys(entry: Entry, subject: Subject, now: datetime) -> int:
    return destroy_again(organization_id=subject.id, now=now)


def _deletion(entry: Entry, subject: Subject, now: datetime) -> int:
    return repeat_deletion(entry.kind, subject, at=entry.at, now=now)


# How each kind of erasure is done again: returns how much was still there.
APPLY: Mapping[str, Callable[[Entry, Subject, datetime], int]] = {
    "organization_keys": _organization_keys,
    "organization": _deletion,
    "agent": _deletion,
    "user": _deletion,
    "memory": _deletion,
}


def _subject(entry: Entry) -> Subject | None:
    """Return the subject that an entry of a known kind names; the memory of any kind of subject may be erased."""
    wanted = SUBJECT_KINDS
    if entry.kind != "memory":
        wanted = tuple(kind for kind in wanted if kind == entry.kind.removesuffix("_keys"))
    named = [Subject(kind, entry.subjects[kind]) for kind in wanted if kind in entry.subjects]
    return named[0] if len(named) == 1 else None


def replay_erasures(
    entries: Iterable[Entry], *, now: datetime, step: Callable[[int], object] = lambda _: None
) -> Replayed:
    """Do every recorded erasure again, oldest first, each in a transaction of its own."""
    outcome = Replayed()
    for entry in entries:
        apply, subject = APPLY.get(entry.kind), _subject(entry)
        if apply is None or subject is None:
            outcome.unknown[entry.kind] += 1
        elif apply(entry, subject, now):
            outcome.applied[entry.kind] += 1
        else:
            outcome.already[entry.kind] += 1
        step(1)
    return outcome
