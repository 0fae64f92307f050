"""`manage.py create_api_key EMAIL ORGANIZATION --name NAME`: prints the key alone on standard output."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import ApiKey, Membership, User
from accounts.services import create_api_key
from screening.text import UnacceptableText


class Command(BaseCommand):
    help = "Create an API key of a member. Everyone who uses the key shares the member's memory."
    requires_system_checks = ()  # needs no key: without memory the API still answers

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email")
        parser.add_argument("organization")
        parser.add_argument("--name", required=True)
        parser.add_argument("--scope", choices=ApiKey.Scope.values, default=ApiKey.Scope.CHAT, help="what it opens")
        parser.add_argument("--no-memory", action="store_true", help="the key neither reads nor writes memory")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.with_email(options["email"]).live().first()
        if user is None:
            raise CommandError(f"There is no user {options['email']}.")
        membership = (
            Membership.objects.filter(
                user=user, organization__slug=options["organization"], organization__deleted_at__isnull=True
            )
            .select_related("organization")
            .first()
        )
        if membership is None:
            raise CommandError(f"{options['email']} is no member of {options['organization']}.")
        try:
            key = create_api_key(
                organization=membership.organization,
                user=user,
                name=options["name"],
                memory_enabled=not options["no_memory"],
                scope=options["scope"],
            )
        except UnacceptableText as error:
            raise CommandError(f"--name: {error}") from None
        self.stderr.write("Everyone who uses this key shares its owner's memory. It is shown only now:")
        self.stdout.write(key.secret)
