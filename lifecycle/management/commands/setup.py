"""`manage.py setup FILE`: applies a declarative set-up file."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from lifecycle.setup_file import BadSetup, apply_setup, read_setup


class Command(BaseCommand):
    help = "Apply a TOML file with organizations, users, memberships, agents and grants. Safe to run again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            applied = apply_setup(read_setup(options["file"]))
        except BadSetup as error:
            raise CommandError(str(error)) from None
        self.stdout.write(
            f"Applied: {len(applied.organizations)} organizations, {len(applied.users)} users, "
            f"{len(applied.agents)} agents."
        )
