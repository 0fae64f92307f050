"""`manage.py support_staff EMAIL [--revoke]`: who may delete people, organizations and agents in the admin (R04)."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import User
from accounts.services import set_support


class Command(BaseCommand):
    help = "Let somebody delete subjects in the admin as support staff, or no longer."
    requires_system_checks = ()  # needs no key: people can be deleted under a missing keyring too

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email")
        parser.add_argument("--revoke", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.with_email(options["email"]).live().first()
        if user is None:
            raise CommandError(f"There is no account with the address {options['email']}.")
        changed = set_support(user=user, allowed=not options["revoke"])
        self.stdout.write("Done." if changed else "It was so already.")
