"""`manage.py memory_replay_erasures`: does the erasures of the ledger again after a restore; safe to run twice."""

from collections import Counter
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from tqdm import tqdm

from encryption import ledger
from lifecycle.erasures import replay_erasures
from lifecycle.ledger_checks import unrecorded


class Command(BaseCommand):
    help = "After a restore, and before anybody is let in: erase again what was erased since the backup."
    requires_system_checks = ()  # needs no key: what was erased must go before the keyring is mended

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--ledger", type=Path, help="instead of MEMORYPROJECT_ERASURE_LEDGER")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            entries, unreadable = ledger.read(options["ledger"] or Path(settings.ERASURE_LEDGER))
        except ledger.LedgerError as error:
            raise CommandError(str(error)) from None
        with tqdm(total=len(entries), desc="Erasures", unit="erasure", disable=None) as bar:
            done = replay_erasures(entries, now=timezone.now(), step=bar.update)
        self.stdout.write(f"Applied: {_counts(done.applied)}. Already gone: {_counts(done.already)}.")
        missing = unrecorded(entries)
        if missing:
            self.stdout.write(f"Deletions on record in the database that this ledger does not have: {missing}.")
        for failure in done.failed:
            self.stdout.write(f"Not finished: {failure.kind} {failure.entry_id} ({failure.code}).")
        problems = []
        if done.failed:
            failed = _counts(Counter(failure.kind for failure in done.failed))
            problems.append(f"Not finished: {failed}. Mend what the log and `doctor` name, and run this again.")
        if done.unknown or unreadable:
            problems.append(f"Not applied: {_counts(done.unknown)}; lines that cannot be read: {unreadable}.")
        if problems:
            raise CommandError(" ".join(problems))
        if missing and not entries:
            raise CommandError("The ledger is empty, so nothing was applied. Put the right one back and run it again.")


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items())) or "none"
