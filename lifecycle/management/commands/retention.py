"""`manage.py retention [--dry-run]`: the night's work now, and its report; prints counts only (R01, R02)."""

from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError
from django.utils import timezone
from tqdm import tqdm

from facts.due import KINDS, Limits, survey
from lifecycle import nightly
from lifecycle.models import PendingWipe
from lifecycle.transcript_retention import MOST, TRANSCRIPTS, count_due

LIMITS = Limits()


class Command(BaseCommand):
    help = "Tombstone facts that are over, delete old tombstones and conversations, try pending wipes again."
    requires_system_checks = ()  # needs no key: what is over goes, and wipes are done, under a missing keyring too

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="say what is due and change nothing")
        parser.add_argument("--limit", type=int, default=LIMITS.total, metavar="ROWS", help="rows in all")
        parser.add_argument("--scope-limit", type=int, default=LIMITS.per_scope, metavar="ROWS", help="rows of a scope")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            limits = Limits(total=options["limit"], per_scope=options["scope_limit"])
        except ValueError as error:
            raise CommandError(str(error)) from None
        now = timezone.now()
        found = survey(now=now, limits=limits)
        within = min(found.allowed.total(), limits.total)
        self.stdout.write(f"Due: {_counts(found.due)}. Within the limits: {within}.")
        conversations = count_due(now=now)
        self.stdout.write(f"Conversations due: {conversations}.")
        if options["dry_run"]:
            self.stdout.write(f"Pending wipes: {PendingWipe.objects.count()}. Nothing was changed.")
            return
        total = within + min(conversations, MOST)
        with tqdm(total=total, desc="Retention", unit="row", disable=None) as bar:
            try:
                report = nightly.run(now=now, asked_by="command", limits=limits, step=bar.update)
            except DatabaseError as error:  # its text may quote a row
                code = type(error.__cause__ or error).__name__
                message = f"The database refused a part of the work ({code}); the log says which. Run it again."
                raise CommandError(message) from None
        done = {"expired": report.expired, "superseded": report.superseded, "deleted": report.deleted}
        self.stdout.write(f"Done: {_counts(done)}, in {report.batches} batches. Waiting: {_counts(report.waiting)}.")
        old = report.waiting.get(TRANSCRIPTS, 0)
        self.stdout.write(f"Conversations deleted: {report.transcripts}. Waiting: {old}.")
        self.stdout.write(f"Wipes done: {report.wipes_done}. Wipes pending: {report.wipes_pending}.")
        if report.wipes_pending:
            raise CommandError("Some wipes could not be done; the log says why, and the next run tries again.")


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} {counts[kind]}" for kind in KINDS if counts.get(kind)) or "none"
