"""Whether the erasure ledger can be written and is the one that this database's deletions went to; changes nothing."""

import os
from pathlib import Path

from django.conf import settings

from encryption import ledger
from lifecycle.models import Deletion


def unwritable() -> list[str]:
    """Say when no deletion could be recorded: the ledger, or the nearest folder that is there, cannot be written."""
    file = Path(settings.ERASURE_LEDGER)
    if os.path.lexists(file):
        usable = os.path.isfile(file) and os.access(file, os.R_OK | os.W_OK)
    else:
        folder = next(parent for parent in file.absolute().parents if os.path.lexists(parent))
        usable = os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK)
    if usable:
        return []
    return [f"The erasure ledger {file} cannot be written: nobody and nothing can be deleted until it can."]


def lost() -> list[str]:
    """Say when the database has deletions on record and the ledger has none at all: a restore would undo them.

    Several machines may have a ledger each, so one that lacks some deletions is none of this check's business.
    """
    count = Deletion.objects.count()
    file = Path(settings.ERASURE_LEDGER)
    there = os.path.isfile(file)  # answers where Path's own would raise for a folder that is closed to us
    if not count or (there and os.path.getsize(file)):
        return []
    what = f"The erasure ledger {file} is empty" if there else f"There is no erasure ledger at {file}"
    return [f"{what}, and the database has {count} deletions on record: put the ledger back from its backup."]


def unrecorded(entries: list[ledger.Entry]) -> int:
    """Return how many deletions on record in the database are not among the entries of a ledger."""
    kinds = {"memory", *Deletion.Kind.values}  # the others name people and organizations of which they deleted nothing
    told = [entry for entry in entries if entry.kind in kinds]
    known = {(entry.kind == "memory", subject) for entry in told for subject in entry.subjects.values()}
    pairs = Deletion.objects.values_list("memory_only", "subject_id")
    return sum(pair not in known for pair in pairs.iterator())
