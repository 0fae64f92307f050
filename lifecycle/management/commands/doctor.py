"""`manage.py doctor`: checks every invariant, repairs nothing, exits 1 when something is wrong."""

import sys
from typing import Any

from django.core.management.base import BaseCommand

from lifecycle.doctor import findings

SHOWN = 20


class Command(BaseCommand):
    help = "Check the invariants of the store: facts, records, keys, consent, orphans, backlog."
    requires_system_checks = ()  # names what is wrong; a check that fails must not silence the others

    def handle(self, *args: Any, **options: Any) -> None:
        healthy = True
        for name, wrong in findings():
            self.stdout.write(f"{name}: {'ok' if not wrong else f'{len(wrong)} wrong'}")
            for sentence in wrong[:SHOWN]:
                self.stdout.write(f"  {sentence}")
            if len(wrong) > SHOWN:
                self.stdout.write(f"  and {len(wrong) - SHOWN} more")
            healthy = healthy and not wrong
        if not healthy:
            sys.exit(1)
