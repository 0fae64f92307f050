"""`manage.py quickstart`: everything on one machine with one command (X01)."""

import logging
import signal
import sys
import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from lifecycle import processes, quickstart
from lifecycle.replay import Report
from lifecycle.setup_file import Applied, BadSetup, apply_setup, read_setup


class Command(BaseCommand):
    help = "Start database, web and worker on this machine, with demo data or a set-up file."
    requires_system_checks: list[str] = []  # noqa: RUF012 (the tables do not exist yet on a first start)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="0 takes any free port")
        parser.add_argument("--data-dir", help="where database, keys and logs are kept")
        parser.add_argument("--setup", type=Path, metavar="FILE", help="apply this file instead of the demo data")
        parser.add_argument("--once", action="store_true", help="do all that, ask one turn, and exit 0 or 1")

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.PRODUCTION:
            raise CommandError("quickstart is for one machine; in production start web and worker by themselves.")
        running: list[processes.Running] = []
        for number in (signal.SIGTERM, signal.SIGINT):  # a shell's background jobs start with SIGINT ignored
            signal.signal(number, _interrupt)
        try:
            self._run(options, running)
        except (processes.StartFailed, BadSetup) as error:
            raise CommandError(str(error)) from None
        except KeyboardInterrupt:
            self.stderr.write("Stopping.")
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            for process in reversed(running):
                processes.end(process)

    def _run(self, options: dict[str, Any], running: list[processes.Running]) -> None:
        logging.getLogger().setLevel(logging.WARNING)  # people read this terminal; the logs are in files
        logs = settings.DATA_DIR / "logs"
        port = processes.free_port(options["port"])
        url = f"http://127.0.0.1:{port}"
        self._say("Preparing the database")
        call_command("migrate", verbosity=0, interactive=False)
        demo = None
        if options["setup"]:
            applied = apply_setup(read_setup(options["setup"]))
        else:
            applied, demo = quickstart.apply_demo()
        key = quickstart.first_key(applied)
        self._say("Starting worker and web")
        running.append(processes.start_worker(logs))
        running.append(processes.start_web(logs, port=port))
        processes.wait_until_answers(f"{url}/healthz", running[-1])
        processes.wait_until_answers(f"{url}/readyz", running[0], seconds=60)
        if demo is not None:
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
            self._say(f"  API key: {key[0]}…  For another one: manage.py create_api_key EMAIL ORGANIZATION --name NAME")
        self._say(f"  Base URL for OpenAI clients: {url}/v1")
        self._say(f"  Data: {settings.DATA_DIR}  Logs: {logs}")

    def _ask_once(self, demo: quickstart.Demo, url: str) -> None:
        asked = quickstart.ask_once(demo, url)
        self._say("")
        self._say(f"Asked through the API: {quickstart.QUESTION}")
        self._say(f"  Reply: {asked.reply}")
        self._say(f"  Memory: {asked.memory}, {asked.facts_used} facts in the prompt")
        if not asked.block_was_used:
            self._say("FAILED: the memory block was not in the prompt.")
            sys.exit(1)
        self._say("OK: the memory block was in the prompt.")

    def _watch(self, running: list[processes.Running]) -> None:
        while True:
            time.sleep(1)
            for process in running:
                if process.ended():
                    raise processes.StartFailed(f"The {process.name} process ended; its log is {process.log}.")


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items())) or "none"
