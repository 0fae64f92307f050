"""Applies the erasure ledger to a restored database, as often as one likes; must not write to the ledger."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from encryption.erasure import destroy_again
from encryption.ledger import Entry


@dataclass(slots=True)
class Replayed:
    """Entries by kind: applied (something was there), already gone, and of kinds that this version cannot apply."""

    applied: Counter[str] = field(default_factory=Counter)
    already: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)


def _organization_keys(entry: Entry, now: datetime) -> int:
    return destroy_again(organization_id=entry.subjects["organization"], now=now)


# How each kind of erasure is done again: returns how much was still there.
APPLY: Mapping[str, Callable[[Entry, datetime], int]] = {"organization_keys": _organization_keys}


def replay_erasures(
    entries: Iterable[Entry], *, now: datetime, step: Callable[[int], object] = lambda _: None
) -> Replayed:
    """Do every recorded erasure again, oldest first, each in a transaction of its own."""
    outcome = Replayed()
    for entry in entries:
        apply = APPLY.get(entry.kind)
        if apply is None or (entry.kind == "organization_keys" and "organization" not in entry.subjects):
            outcome.unknown[entry.kind] += 1
        elif apply(entry, now):
            outcome.applied[entry.kind] += 1
        else:
            outcome.already[entry.kind] += 1
        step(1)
    return outcome
