"""`manage.py quickstart`: everything on one machine with one command (X01)."""

import itertools
import logging
import secrets
import signal
import sys
import time
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from consent.apps import check_kill_switch
from consent.gate import kill_switch_on
from encryption.apps import check_keyring
from lifecycle import local, processes, quickstart
from lifecycle.replay import Report
from lifecycle.setup_file import Applied, BadSetup, apply_setup, read_setup

STOPPING = (signal.SIGTERM, signal.SIGINT)
DATABASE_EVERY = 3  # seconds


class Command(BaseCommand):
    help = "Start database, web and worker on this machine, with demo data or a set-up file."
    requires_system_checks: list[str] = []  # noqa: RUF012 (the tables do not exist yet on a first start)

    def create_parser(self, prog_name: str, subcommand: str, **options: Any) -> CommandParser:
        """Read no abbreviations: `--data`, which only `--data-dir` is, must not pass for the default folder."""
        return super().create_parser(prog_name, subcommand, allow_abbrev=False, **options)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=_port, default=8000, help="0 takes any free port")
        parser.add_argument("--data-dir", help="where database, keys and logs are kept")
        parser.add_argument("--setup", type=Path, metavar="FILE", help="apply this file instead of the demo data")
        parser.add_argument("--once", action="store_true", help="do all that, ask one turn, and exit 0 or 1")

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.PRODUCTION:
            raise CommandError("quickstart is for one machine; in production start web and worker by themselves.")
        running: list[processes.Running] = []
        self._stopping = False
        try:
            for number in STOPPING:  # a shell's background jobs start with SIGINT ignored
                signal.signal(number, self._interrupt)
            with processes.claimed_port(options["port"]) as port:
                self._run(options, port, running)
        except (processes.StartFailed, BadSetup) as error:
            raise CommandError(str(error)) from None
        except KeyboardInterrupt:
            self.stderr.write("Stopping.")
        finally:
            self._stopping = True
            for process in reversed(running):
                processes.end(process)

    def _run(self, options: dict[str, Any], port: int, running: list[processes.Running]) -> None:
        logging.getLogger().setLevel(logging.WARNING)  # people read this terminal; the logs are in files
        logs = settings.DATA_DIR / "logs"
        url = f"http://127.0.0.1:{port}"
        for warning in check_kill_switch():
            self._say(f"WARNING: {warning.msg} {warning.hint}")
        self._say("Preparing the database")
        demo = None
        with quickstart.alone():
            call_command("migrate", verbosity=0, interactive=False)
            if options["setup"]:
                applied = apply_setup(read_setup(options["setup"]))
            else:
                applied, demo = quickstart.apply_demo()
            key = quickstart.first_key(applied)
        unusable = self._say_keyring()
        self._say("Starting worker and web")
        running.append(processes.start_worker(logs))
        instance = secrets.token_hex(16)
        running.append(processes.start_web(logs, port=port, instance=instance))
        processes.wait_until_answers(f"{url}/healthz", running[-1], instance=instance)
        without = ["keyring"] if unusable else []
        processes.wait_until_answers(f"{url}/readyz", running[0], without=without, seconds=60)
        if unusable:
            self._say("The demo conversation is left out: nothing can be remembered without the keyring.")
        elif kill_switch_on():
            self._say("Memory is off (AGENT_MEMORY_KILL_SWITCH): nothing is remembered, no fact reaches a prompt.")
        elif demo is not None:
            self._print_demo(demo, self._replay(demo))
        self._print_sign_ins(url, applied, key, logs)
        if options["once"]:
            if demo is not None:
                self._ask_once(demo, url)
            return
        self._say("Running. Ctrl-C stops everything.")
        self._watch(running)

    def _say(self, sentence: str) -> None:
        self.stdout.write(sentence)
        self.stdout.flush()

    def _say_keyring(self) -> bool:
        """Say what is wrong with the keyring, and return whether anything is."""
        wrong = check_keyring()
        for error in wrong:
            self._say(f"WARNING: {error.msg} {error.hint or ''}".rstrip())
        if wrong:
            self._say(
                "WARNING: Until the keyring is put right, nothing that was remembered can be read, and nothing is "
                "remembered. Members can delete facts and withdraw consent."
            )
        return bool(wrong)

    def _replay(self, demo: quickstart.Demo) -> Report:
        with (
            tqdm(total=quickstart.demo_turns(), desc="Demo conversation", unit="turn", disable=None) as turns,
            tqdm(desc="Extraction", unit="run", disable=None) as runs,
        ):

            def ended(count: int, total: int) -> None:
                runs.total = total
                runs.update(count - runs.n)

            return quickstart.replay_demo(demo, turns=turns.update, runs=ended)

    def _print_demo(self, demo: quickstart.Demo, found: Report) -> None:
        self._say("")
        self._say(f"What {demo.user.name}'s demo conversation left with agent {demo.agent.public_name}:")
        self._say(f"  Facts by status: {_counts(quickstart.facts_by_status(demo.scope))}")
        self._say(f"  Refusals by reason: {_counts(found.refusals)}")
        self._say(f"  Extraction runs: {_counts(found.runs)}")
        self._say("  The next turn receives:")
        for line in quickstart.next_block(demo.scope).splitlines():
            self._say(f"    {line}")
        self._say("")

    def _print_sign_ins(self, url: str, applied: Applied, key: tuple[str, str | None] | None, logs: Path) -> None:
        self._say(f"Web: {url}/")
        for sign_in in applied.sign_ins:
            self._say(f"  Sign in: {sign_in.email}  {sign_in.password or '(password from the environment)'}")
        if key and key[1]:
            self._say(f"  API key (shown only now): {key[1]}")
        elif key:
            self._say(f"  API key: {key[0]}…")
        self._say(f"  Base URL for OpenAI clients: {url}/v1")
        self._say(f"  Data: {settings.DATA_DIR}  Logs: {logs}")
        folder = local.data_dir_option()
        self._say(f"  Another key: uv run manage.py create_api_key EMAIL ORGANIZATION --name NAME{folder}")
        self._say(f"  Is all in order: uv run manage.py doctor{folder}")

    def _ask_once(self, demo: quickstart.Demo, url: str) -> None:
        asked = quickstart.ask_once(demo, url)
        self._say("")
        self._say(f"Asked through the API: {quickstart.QUESTION}")
        self._say(f"  Reply: {asked.reply}")
        self._say(f"  Memory: {asked.memory}, {asked.facts_used} facts in the prompt")
        if kill_switch_on():
            good, found = asked.without_memory, "memory is off, and no memory block was in the prompt."
        else:
            good, found = asked.block_was_used, "the memory block was in the prompt."
        if not good:
            self._say(f"FAILED: it is not so that {found}")
            sys.exit(1)
        self._say(f"OK: {found}")

    def _watch(self, running: list[processes.Running]) -> None:
        """Return never: end with a process of ours that ended, and put the embedded database back when it is gone."""
        answered = True
        for second in itertools.count():
            if self._stopping:  # an interruption just when a process is forked is swallowed by Python
                raise KeyboardInterrupt
            time.sleep(1)
            for process in running:
                if process.ended():
                    raise processes.StartFailed(f"The {process.name} process ended; its log is {process.log}.")
            if second % DATABASE_EVERY == 0:
                answered = self._watch_database(answered)

    def _interrupt(self, *_: Any) -> None:
        if not self._stopping:  # a second signal must not cut the stopping short
            self._stopping = True
            raise KeyboardInterrupt

    def _watch_database(self, answered: bool) -> bool:
        answers = quickstart.database_answers()
        if answers and not answered:
            self._say("PostgreSQL answers again.")
        elif not answers and local.embedded():
            self._say("PostgreSQL ended; it is started again.")
            local.revive()
        elif answered and not answers:
            self._say("PostgreSQL does not answer; web and worker wait for it.")
        return answers


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 9 and int(text) < 65536):
        raise ArgumentTypeError(f"{text!r} is no port; use a number from 0 to 65535.")
    return int(text)


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items())) or "none"
