"""`python -m benchmarks.kills [ROUNDS]`: kills real workers at five points of a run and counts facts once, twice, lost.

Each round is one turn whose answer holds two facts. A fact that is stored once in the end is right; one that is stored
twice is a duplicate, one that is not there is lost. The lease is 2 seconds.
"""

# ruff: noqa: E402 -- Django is set up before anything of it is imported
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

import django

django.setup()

from django.db import connection
from django.test.utils import setup_databases, teardown_databases
from tqdm import tqdm

from extraction.models import Run
from jobs.models import Heartbeat
from tests import settings as test_settings
from tests.extraction.conftest import ANSWER, World
from tests.scratch import eventually, process, scratch_database
from tests.stub_server import Script, serving
from tests.worker_app import POINTS

ROUNDS = 20
FACTS = 2  # in one answer


def one_round(world: World, point: str) -> Counter[str]:
    """Kill a worker at a point of one run and count what is there in the end."""
    member = world.member()
    world.answer({"text": ANSWER, "delay": 0.5 if point == "during_call" else 0.0}, ANSWER)
    world.fuse.write_text(point)
    began = time.monotonic()
    run = member.say()
    # A killed worker can wedge the whole queue, which the supervisor only knows after its WEDGED_AFTER of a minute.
    ended = world.ended(run, seconds=120)
    seconds = time.monotonic() - began
    run.refresh_from_db()
    stored = Counter(bytes(fact.content_hash) for fact in member.facts())
    return Counter(
        killed=not world.fuse.exists(),
        ended=ended and run.state == Run.State.DONE,
        once=sum(count == 1 for count in stored.values()),
        duplicates=sum(count - 1 for count in stored.values()),
        lost=FACTS - len(stored),
        milliseconds=round(seconds * 1000),
    )


def main(rounds: int) -> int:
    bad = 0
    folder = Path(tempfile.mkdtemp(prefix="memoryproject-kills-"))
    fuse, log = folder / "fuse", folder / "log"
    with test_settings.LEASE:
        made = setup_databases(verbosity=0, interactive=False)
        name = str(connection.settings_dict["NAME"])
        hooks = {"TEST_FUSE": str(fuse), "TEST_PRELOAD": "openai"}
        with (
            scratch_database(name) as database,
            serving(Script()) as model,
            process("manage.py", "worker", database=database, log=log, **hooks),
        ):
            if not eventually(Heartbeat.objects.exists, seconds=120):
                print(f"The worker did not come up; its log is {log}.", file=sys.stderr)
                return 1
            world = World(database, model, fuse, log)
            print(f"{'killed':<14} rounds  killed  ended  facts once  duplicates  lost  mean s")
            for point in POINTS:
                total: Counter[str] = Counter()
                for _ in tqdm(range(rounds), desc=point, leave=False):
                    total += one_round(world, point)
                print(
                    f"{point:<14} {rounds:>6}  {total['killed']:>6}  {total['ended']:>5}  "
                    f"{total['once']:>4} of {FACTS * rounds:<3}  {total['duplicates']:>10}  {total['lost']:>4}  "
                    f"{total['milliseconds'] / rounds / 1000:>6.1f}",
                    flush=True,
                )
                bad += total["duplicates"] + total["lost"] + (rounds - total["ended"]) + (rounds - total["killed"])
        teardown_databases(made, verbosity=0)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))
