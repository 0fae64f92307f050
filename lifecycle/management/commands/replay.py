"""`manage.py replay FILE …`: feeds a transcript through the same pipeline as a live chat (X02)."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from tqdm import tqdm

from accounts.models import User
from agents.access import agents_for
from agents.models import Agent
from consent.scope import Scope
from consent.services import GrantRefused, grant_consent
from conversations.surfaces import Surface
from lifecycle.command_line import quiet_logs
from lifecycle.replay import replay, report, wait
from lifecycle.transcripts import BadTranscript, exchanges, read_transcript


class Command(BaseCommand):
    help = "Replay a transcript (JSON lines, OpenAI messages, or several sessions) as turns of one member."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--agent", required=True, metavar="ORGANIZATION/AGENT")
        parser.add_argument("--user", required=True, metavar="EMAIL")
        parser.add_argument("--surface", default=Surface.DASHBOARD_CHAT.value, choices=Surface.values)
        parser.add_argument("--consent", action="store_true", help="grant consent first (not in production)")
        parser.add_argument("--wait", action="store_true", help="return when the background work is done")

    def handle(self, *args: Any, **options: Any) -> None:
        user, agent = self._find(options)
        try:
            sessions = read_transcript(options["file"])
        except BadTranscript as error:
            raise CommandError(str(error)) from None
        if options["consent"]:
            self._grant(user, agent)
        total = sum(len(exchanges(messages)) for messages in sessions)
        with quiet_logs(), tqdm(total=total, desc="Turns", unit="turn", disable=None) as bar:
            done = replay(sessions, agent=agent, user=user, surface=Surface(options["surface"]), step=bar.update)
        self.stdout.write(f"Sessions: {len(done.session_ids)}. Turns: {done.turns.total()}.")
        if not options["wait"]:
            self.stdout.write("Extraction goes on in the background.")
            return
        with tqdm(total=report_total(done.session_ids), desc="Extraction", unit="run", disable=None) as bar:
            finished = wait(done.session_ids, step=lambda count: bar.update(count - bar.n))
        found = report(done.session_ids)
        for title, counts in (
            ("Runs by state", found.runs),
            ("Facts by status", found.facts),
            ("Refusals by reason", found.refusals),
        ):
            self.stdout.write(f"{title}: {_counts(counts)}")
        if not finished:
            raise CommandError("Some runs did not end; is the worker in order? See manage.py doctor.")

    def _find(self, options: dict[str, Any]) -> tuple[User, Agent]:
        user = User.objects.with_email(options["user"]).live().first()
        if user is None:
            raise CommandError(f"There is no user {options['user']}.")
        organization, _, slug = options["agent"].partition("/")
        agent = agents_for(user).filter(organization__slug=organization, slug=slug).first()
        if agent is None:
            raise CommandError(f"There is no agent {options['agent']} that {options['user']} may use.")
        return user, agent

    def _grant(self, user: User, agent: Agent) -> None:
        if settings.PRODUCTION:
            raise CommandError("--consent is refused in production: members grant consent themselves.")
        scope = Scope(agent.organization_id, user.pk, agent.pk)
        try:
            grant_consent(scope=scope, actor=user, now=timezone.now(), surface="replay")
        except GrantRefused as error:
            raise CommandError(f"Consent cannot be granted: {error.code}.") from None


def report_total(session_ids: list[Any]) -> int:
    return sum(report(session_ids).runs.values())


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items())) or "none"
