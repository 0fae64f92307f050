"""`manage.py operator_staff EMAIL [--revoke]`: who may set up model providers at /operator/providers/ (C05)."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import User
from agents.operating import set_operator


class Command(BaseCommand):
    help = "Let somebody set up model providers as staff of the deployment, or no longer."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email")
        parser.add_argument("--revoke", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.with_email(options["email"]).live().first()
        if user is None:
            raise CommandError(f"There is no account with the address {options['email']}.")
        changed = set_operator(user=user, allowed=not options["revoke"])
        self.stdout.write("Done." if changed else "It was so already.")
