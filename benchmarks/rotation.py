"""Rehearses the rotation of a data key: facts are read and written by several processes, and the rotation is killed.

`uv run python -m benchmarks.rotation [--facts 20000] [--processes 4] [--kills 3]` prints failed reads and lost writes
(both must be 0) and times, and exits 1 otherwise. It runs on a cluster of its own in a temporary folder; with
`--in-place`, on the migrated and empty database of DATABASE_URL.
"""

import argparse
import contextlib
import multiprocessing
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

MANAGE = Path(__file__).resolve().parents[1] / "manage.py"
PER_SCOPE = 100  # facts of a member; half of what she may have, so that new ones find room
PAUSE = 0.01  # seconds between two actions of a process


@dataclass(slots=True)
class Tally:
    """What one process did and what went wrong."""

    reads: int = 0
    writes: int = 0
    failed_reads: int = 0
    lost_writes: int = 0
    failed_writes: Counter[str] = field(default_factory=Counter)
    read_times: list[float] = field(default_factory=list)


@contextlib.contextmanager
def deployment(*, in_place: bool) -> Iterator[None]:
    """A cluster, a keyring and a migrated database that are gone afterwards."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryproject.settings")
    os.environ["MEMORYPROJECT_LOG_LEVEL"] = "ERROR"
    if in_place:
        yield
        return
    from lifecycle import local, postgres

    with tempfile.TemporaryDirectory(prefix="rotation-") as folder:
        os.environ["MEMORYPROJECT_DATA_DIR"] = folder
        local.prepare(Path(folder))
        try:
            with postgres.lease(Path(folder)) as url:
                os.environ["DATABASE_URL"] = url
                run("migrate", "--verbosity", "0")
                yield
        finally:
            postgres.stop(Path(folder))


def run(*arguments: str) -> str:
    """Run a management command in a process of its own; raises CalledProcessError."""
    done = subprocess.run([sys.executable, MANAGE, *arguments], check=True, capture_output=True, text=True)
    return done.stdout


def populate(facts: int) -> list[Any]:
    """Put members with facts of every status in place and return their scopes."""
    from django.utils import timezone

    from accounts.models import Membership, User
    from accounts.services import create_organization
    from agents.services import get_or_create_provider, save_agent
    from consent.models import Consent
    from consent.scope import Scope

    organization = create_organization(slug="rehearsal", name="Rehearsal")
    provider = get_or_create_provider(kind="offline", base_url="", actor=None)
    agent = save_agent(
        organization=organization,
        slug="guide",
        name="Guide",
        system_prompt="",
        provider=provider,
        model="offline-rules-1",
        actor=None,
    )
    scopes = []
    for number in range(-(-facts // PER_SCOPE)):
        user = User.objects.create(email=f"member{number}@example.com", password="!")
        Membership.objects.create(organization=organization, user=user)
        now = timezone.now()
        Consent.objects.create(
            organization=organization, user=user, agent=agent, granted=True, text_version=1, granted_at=now
        )
        scopes.append(Scope(organization.pk, user.pk, agent.pk))
        count = min(PER_SCOPE, facts - number * PER_SCOPE)
        record(scopes[-1], [f"Fact {index} of member {number}." for index in range(count)])
    return scopes


def record(scope: Any, bodies: list[str]) -> None:
    from django.db import transaction
    from django.utils import timezone

    from consent.gate import open_for_member
    from consent.scope import ConsentedScope
    from facts.sealing import scope_keys_for_writing
    from facts.services import NewFact, record_candidates

    consented = open_for_member(scope)
    assert isinstance(consented, ConsentedScope)
    keys = scope_keys_for_writing(scope)
    new = [NewFact("profile", f"key.{uuid.uuid4().hex}", body, 0.9, ()) for body in bodies]
    with transaction.atomic():
        record_candidates(consented, new, keys=keys, now=timezone.now(), surface="api")


def member(number: int, mine: list[Any], everybody: list[Any], stop: Event, results: Any) -> None:
    """Read everybody's memory and change one's own scopes' until told to stop; then look for every write again."""
    dice, tally = random.Random(number), Tally()
    expected = {scope: {body: fact_id for fact_id, body in read(scope, tally).items()} for scope in mine}
    while not stop.is_set():
        read(dice.choice(everybody), tally)
        scope = dice.choice(mine)
        try:
            write(scope, expected[scope], dice)
            tally.writes += 1
        except Exception as error:  # counted by name: any of them is a finding
            tally.failed_writes[type(error).__name__] += 1
        time.sleep(PAUSE)
    for scope, bodies in expected.items():
        tally.lost_writes += len(set(bodies) ^ set(read(scope, tally).values()))
    results.put(tally)


def read(scope: Any, tally: Tally) -> dict[Any, str]:
    """Read as the Memory tab and as the prompt does; return the bodies of the live facts by id."""
    from django.utils import timezone

    from facts.prompt import read_block
    from facts.services import list_facts

    began = time.perf_counter()
    listed = list_facts(scope, now=timezone.now())
    state = read_block(scope, surface=None, now=timezone.now()).state
    tally.read_times.append(time.perf_counter() - began)
    tally.reads += 1
    tally.failed_reads += state not in {"used", "empty"} or any(row.opened is None for row in listed)
    return {row.row.pk: row.opened.body for row in listed if row.opened}


def write(scope: Any, bodies: dict[str, Any], dice: random.Random) -> None:
    """Edit, delete or add one fact, and note in `bodies` what was acknowledged."""
    from django.utils import timezone

    from accounts.models import User
    from facts.models import Fact
    from facts.services import delete_fact, edit_fact

    body = f"Written {uuid.uuid4().hex}."
    chance = dice.random()
    if not bodies or (chance < 0.2 and len(bodies) < PER_SCOPE + 20):
        record(scope, [body])
        bodies[body] = Fact.objects.for_scope(scope).live().order_by("-created_at").values_list("pk", flat=True)[0]
        return
    old = dice.choice(sorted(bodies))
    actor = User.objects.get(pk=scope.user_id)
    if chance < 0.4:
        delete_fact(scope=scope, fact_id=bodies.pop(old), actor=actor, now=timezone.now())
        return
    heir = edit_fact(scope=scope, fact_id=bodies[old], body=body, actor=actor, now=timezone.now())
    del bodies[old]
    bodies[body] = heir.pk


def rotate_until_killed(organization_id: uuid.UUID, share: float) -> int:
    """Rotate, kill the process when only this share of the records is left, and return how many are."""
    from facts.rotation import stale

    process = subprocess.Popen(
        [sys.executable, MANAGE, "memory_keys", "rotate", "--all", "--grace", "600"], stderr=subprocess.DEVNULL
    )
    total = left = 0
    while process.poll() is None:
        left = stale([organization_id]).count()
        total = max(total, left)
        if total and left <= total * share:
            break
        time.sleep(0.01)
    process.kill()
    process.wait()
    return left


def rehearse(*, facts: int, processes: int, kills: int, grace: float) -> bool:
    """Run the rehearsal and print its figures; True when nothing failed, was lost, or is left."""
    import django

    django.setup()
    from django.db import connections

    from encryption.services import forget_keys
    from facts.models import Fact
    from facts.rotation import by_version

    scopes = populate(facts)
    organization_id = scopes[0].organization_id
    print(f"facts {Fact.objects.count()}, members {len(scopes)}, processes {processes}, kills {kills}")
    fork = multiprocessing.get_context("fork")
    stop, results = fork.Event(), fork.SimpleQueue()
    connections.close_all()
    forget_keys()
    members = [
        fork.Process(target=member, args=(number, scopes[number::processes], scopes, stop, results))
        for number in range(processes)
    ]
    for one in members:
        one.start()
    began = time.perf_counter()
    for number in range(kills):
        # Each run goes on where the last one ended, so the shares are of what that one left.
        left = rotate_until_killed(organization_id, (kills - number) / (kills + 1 - number))
        print(f"killed after {time.perf_counter() - began:.1f} s with {left} records left")
    run("memory_keys", "rotate", "--all", "--grace", str(grace))
    print(f"rotated after {time.perf_counter() - began:.1f} s, the grace time of {grace:.0f} s included")
    under = by_version(organization_id)
    stop.set()
    tallies = [results.get() for _ in members]
    for one in members:
        one.join()
    if not grace:  # what was written under the former key since then is what the next run is for
        print(f"records by data key before the last run: {under}")
        run("memory_keys", "rotate", "--all", "--grace", "0")
        under = by_version(organization_id)
    print(f"records by data key: {under}")
    print(run("memory_keys", "verify").strip())
    return report(tallies) and len(under) == 1


def report(tallies: list[Tally]) -> bool:
    failed_writes = sum((tally.failed_writes for tally in tallies), Counter[str]())
    failed_reads, lost = (sum(getattr(tally, name) for tally in tallies) for name in ("failed_reads", "lost_writes"))
    times = sorted(seconds for tally in tallies for seconds in tally.read_times)
    print(f"reads {sum(tally.reads for tally in tallies)}, failed {failed_reads}")
    print(f"writes {sum(tally.writes for tally in tallies)}, lost {lost}, failed {dict(failed_writes)}")
    print(f"read time p50 {statistics.median(times) * 1000:.1f} ms, p99 {times[len(times) * 99 // 100] * 1000:.1f} ms")
    return not (failed_reads or lost or failed_writes)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, default=20_000)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--grace", type=float, default=65.0)
    parser.add_argument("--in-place", action="store_true")
    options = parser.parse_args()
    with deployment(in_place=options.in_place):
        sound = rehearse(facts=options.facts, processes=options.processes, kills=options.kills, grace=options.grace)
    print("sound" if sound else "NOT SOUND")
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
