"""Runs races in processes of their own: reads one race a line, as JSON, and prints what each racer got.

It asserts nothing.

The racers are forked from one process that has set Django up; each connects anew to the database that the line names,
and all start together.
"""

import json
import multiprocessing
import sys
import time
import uuid
from collections.abc import Callable
from multiprocessing.synchronize import Barrier
from typing import Any

SCOPE = ("organization_id", "user_id", "agent_id")
type Answer = dict[str, Any]
type Race = Callable[[int, Callable[[], object], Any, Answer], Answer]


def record(number: int, start: Callable[[], object], scope: Any, given: Answer) -> Answer:
    """Record a candidate; `{n}` in key and body is the racer's number."""
    from django.db import transaction
    from django.utils import timezone

    from consent.gate import open_for_member
    from facts.sealing import scope_keys_for_writing
    from facts.services import NewFact, record_candidates

    consented = open_for_member(scope)
    fact = NewFact("profile", given["key"].format(n=number), given["body"].format(n=number), 0.9, ())
    start()
    keys = scope_keys_for_writing(scope)
    with transaction.atomic():
        outcome = record_candidates(consented, [fact], keys=keys, now=timezone.now(), surface="api")  # type: ignore[arg-type]
    return {"by_status": dict(outcome.by_status), "refusals": dict(outcome.refusals)}


def edit(number: int, start: Callable[[], object], scope: Any, given: Answer) -> Answer:
    """Edit the fact; with `delete_from` set, racers from that number on delete it instead."""
    from django.utils import timezone

    from accounts.models import User
    from facts.services import ChangedMeanwhile, delete_fact, edit_fact

    actor, fact_id = User.objects.get(pk=scope.user_id), uuid.UUID(given["fact_id"])
    start()
    try:
        if number >= given.get("delete_from", sys.maxsize):
            delete_fact(scope=scope, fact_id=fact_id, actor=actor, now=timezone.now())
            return {"won": "delete"}
        body = f"Written by racer {number}."
        edit_fact(scope=scope, fact_id=fact_id, body=body, actor=actor, now=timezone.now())
    except ChangedMeanwhile:
        return {"lost": "changed meanwhile"}
    return {"won": body}


def withdraw(number: int, start: Callable[[], object], scope: Any, given: Answer) -> Answer:
    """Racer 0 withdraws consent and counts the rows then; the others write until they are told that it is over."""
    from django.db import transaction
    from django.utils import timezone

    from accounts.models import User
    from consent.gate import open_for_member
    from consent.services import withdraw_consent
    from facts.models import Fact
    from facts.sealing import scope_keys_for_writing
    from facts.services import MemoryClosed, NewFact, record_candidates

    consented, actor = open_for_member(scope), User.objects.get(pk=scope.user_id)
    start()
    if number == 0:
        while Fact.objects.for_scope(scope).count() < given["after"]:
            time.sleep(0.01)
        withdraw_consent(scope=scope, actor=actor, now=timezone.now(), surface="memoryTab")
        return {"rows": Fact.objects.for_scope(scope).count()}
    keys = scope_keys_for_writing(scope)
    written, deadline = 0, time.monotonic() + 20
    while time.monotonic() < deadline:
        fact = NewFact("profile", f"{number}.{written}", "Something.", 0.9, ())
        try:
            with transaction.atomic():
                record_candidates(consented, [fact], keys=keys, now=timezone.now(), surface="api")  # type: ignore[arg-type]
        except MemoryClosed as closed:
            return {"written": written, "told": str(closed.reason)}
        written += 1
    return {"written": written, "told": ""}


RACES: dict[str, Race] = {race.__name__: race for race in (record, edit, withdraw)}


def _run(number: int, barrier: Barrier, results: Any, given: Answer) -> None:
    from django.db import connection

    from consent.scope import Scope

    connection.settings_dict["NAME"] = given["database"]
    scope = Scope(*(uuid.UUID(given[name]) for name in SCOPE))
    try:
        answer = RACES[given["race"]](number, lambda: barrier.wait(timeout=20), scope, given)
    except Exception as error:
        answer = {"error": repr(error)}
        barrier.abort()
    results.put((number, answer))


def run_race(given: Answer) -> list[Answer]:
    """Return what each racer got, by number."""
    fork = multiprocessing.get_context("fork")
    barrier, results = fork.Barrier(given["racers"]), fork.SimpleQueue()
    racers = [fork.Process(target=_run, args=(number, barrier, results, given)) for number in range(given["racers"])]
    for racer in racers:
        racer.start()
    answers = dict(results.get() for _ in racers)
    for racer in racers:
        racer.join(timeout=20)
    return [answers[number] for number in range(given["racers"])]


def main() -> None:
    import django

    django.setup()  # once; it opens no connection that a fork could share
    for line in sys.stdin:
        sys.stdout.write(json.dumps(run_race(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
