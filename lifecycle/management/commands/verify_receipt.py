"""`manage.py verify_receipt FILE`: whether this deployment signed a receipt of a deletion and nobody changed it."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from lifecycle.receipts import BadReceipt, verify


class Command(BaseCommand):
    help = "Verify a receipt of a deletion; exit 1 when it is not this deployment's, or was changed."
    requires_system_checks = ()  # needs no key: receipts are signed under the secret key

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            found = verify(options["file"].read_text())
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{options['file']} cannot be read ({type(error).__name__}).") from None
        except BadReceipt as error:
            raise CommandError(str(error)) from None
        what = "memory of " if found["what"] == "memory" else ""
        state = f"wiped at {found['wiped_at']}" if found["wiped_at"] else "the wipe waits"
        self.stdout.write(f"Valid: {what}{found['subject']['kind']} {found['subject']['id']}, {state}.")
