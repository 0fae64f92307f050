"""`manage.py verify_audit`: walks every audit chain and says which events were removed, changed or put in later."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection, transaction

from audit import chain

SHOWN = 20  # ids in one line; the rest are counted


class Command(BaseCommand):
    help = "Check that no sealed audit event was removed, changed or inserted; exit 1 with the ids when one was."
    requires_system_checks = ()  # needs no key

    def handle(self, *args: Any, **options: Any) -> None:
        checked, findings = chain.Checked(), 0
        with transaction.atomic():
            if len(connection.savepoint_ids) == 0:  # one view of events and seals; a sealer may be at work
                with connection.cursor() as cursor:
                    cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            for finding in chain.verify(checked):
                findings += 1
                self.stdout.write(_line(finding))
        summary = f"{checked.chains} chains, {checked.seals} seals over {checked.sealed} events, "
        summary += f"{checked.unsealed} events not yet sealed."
        if findings:
            raise CommandError(f"{findings} links do not hold: {summary}")
        self.stdout.write(f"All chains hold: {summary}")


def _line(finding: chain.Finding) -> str:
    whose = f"organization {finding.organization_id}" if finding.organization_id else "no organization"
    kinds = {"removed": finding.removed, "changed": finding.changed, "inserted": finding.inserted}
    parts = [f"{kind} {_ids(ids)}" for kind, ids in kinds.items() if ids]
    return f"{whose}, seal {finding.number}: {'; '.join([*parts, finding.broken] if finding.broken else parts)}"


def _ids(ids: tuple[int, ...]) -> str:
    more = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
    return ", ".join(map(str, ids[:SHOWN])) + more
