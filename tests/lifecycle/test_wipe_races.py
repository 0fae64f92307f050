"""R02, R03 under kill -9 and under everything at once: nothing survives a wipe, nothing deadlocks, runs go on."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import User
from agents.models import Agent
from consent.gate import open_for_member
from consent.models import Consent
from consent.scope import ConsentedScope, Scope
from consent.services import GrantRefused, grant_consent, withdraw_consent
from facts.erasure import Subject
from facts.models import Fact
from facts.retention import sweep
from facts.sealing import scope_keys_for_writing
from facts.services import ChangedMeanwhile, MemoryClosed, delete_fact, record_candidates
from lifecycle.models import PendingWipe
from lifecycle.services import delete_agent, delete_memory, delete_user, retry_wipes
from tests.factories import candidate, grant, make_agent, make_fact, make_member, make_organization
from tests.facts.test_races import scratch
from tests.threads import together

__all__ = ["scratch"]  # a fixture
ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 11, 30, 2, 30, tzinfo=UTC)
ROUNDS = 50


@pytest.fixture(autouse=True)
def ledger_file(settings: Any, tmp_path: Path) -> Path:
    settings.ERASURE_LEDGER = tmp_path / "erasures.jsonl"
    return tmp_path / "erasures.jsonl"


def make_scope() -> Scope:
    organization = make_organization("acme")
    agent = make_agent(organization, "guide")
    user = make_member(organization, agent, "ana@acme.example")
    return grant(Scope(organization.pk, user.pk, agent.pk), user)


@contextmanager
def process(database: str, what: str, argument: object, ledger: Path) -> Iterator["subprocess.Popen[str]"]:
    """A process of `wipers`, killed with -9 at the end."""
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "MEMORYPROJECT_ERASURE_LEDGER": str(ledger),
    }
    with subprocess.Popen(
        [sys.executable, "-m", "tests.lifecycle.wipers", database, what, str(argument)],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as running:
        try:
            yield running
        finally:
            running.kill()


@pytest.mark.processes
@pytest.mark.django_db(transaction=True)
def test_r02_a_run_killed_after_its_second_batch_keeps_both_and_the_next_goes_on(
    scratch: str, ledger_file: Path
) -> None:
    scope = make_scope()
    rows = [
        make_fact(scope, key=f"k{day}", status="deleted", created_at=NOW - timedelta(days=200 - day))
        for day in range(9)
    ]
    with process(scratch, "sweep", NOW.isoformat(), ledger_file) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stdout.readline() == "2\n"
        running.stdin.write("\n")
        running.stdin.flush()
        assert running.stdout.readline() == "2\n"  # committed; the process waits before its third batch
    assert set(Fact.objects.values_list("pk", flat=True)) == {row.pk for row in rows[4:]}
    assert sweep(now=NOW).done == {"deleted": 5}


@pytest.mark.processes
@pytest.mark.django_db(transaction=True)
def test_r03_a_wipe_killed_half_way_leaves_a_deleted_user_and_is_done_by_the_night(
    scratch: str, ledger_file: Path
) -> None:
    scope = make_scope()
    for number in range(6):
        make_fact(scope, key=f"k{number}")
    with connection.cursor() as cursor:
        cursor.execute("CREATE SEQUENCE removed")
        cursor.execute(
            "CREATE FUNCTION hang() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            "IF nextval('removed') = 3 THEN PERFORM pg_sleep(60); END IF; RETURN OLD; END $$"
        )
        cursor.execute("CREATE TRIGGER hang BEFORE DELETE ON facts_fact FOR EACH ROW EXECUTE FUNCTION hang()")
    with process(scratch, "wipe", scope.user_id, ledger_file) as running:
        wait_for("SELECT last_value >= 3 FROM removed", running)
    with connection.cursor() as cursor:  # what a server does by itself once it notices that nobody is there
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()",
            [scratch],
        )
    assert User.objects.get(pk=scope.user_id).deleted_at is not None
    assert Fact.objects.count() == 6
    assert PendingWipe.objects.get().attempts == 0
    with pytest.raises(GrantRefused):
        grant_consent(scope=scope, actor=User.objects.get(), now=NOW, surface="memoryTab")
    assert retry_wipes(now=timezone.now()) == (1, 0)
    assert not Fact.objects.exists()
    assert not Consent.objects.exists()


def wait_for(question: str, running: "subprocess.Popen[str]") -> None:
    """Wait until the database says yes; a process that has ended never lets it, and a busy machine takes its time."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and running.poll() is None:
        with connection.cursor() as cursor:
            cursor.execute(question)
            if cursor.fetchone() == (True,):
                return
        time.sleep(0.02)
    raise AssertionError(question)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("wiped", ["user", "agent", "memory"])
def test_r03_nothing_survives_a_wipe_and_nothing_deadlocks_in_50_rounds_with_grants_and_writes(wiped: str) -> None:
    organization = make_organization("acme")
    for number in range(ROUNDS if wiped != "memory" else 20):
        agent = make_agent(organization, f"guide{number}")
        user = make_member(organization, agent, f"ana{number}@acme.example")
        scope = grant(Scope(organization.pk, user.pk, agent.pk), user)
        fact = make_fact(scope, key="old")
        results = together(*calls(wiped, scope, user, agent, fact))
        bad = [one for one in results if isinstance(one, Exception)]
        assert bad == []
        assert not PendingWipe.objects.exists()  # a wipe that lost a deadlock would wait here
        if wiped != "memory":
            assert not Fact.objects.exists()
            assert not Consent.objects.exists()


def calls(wiped: str, scope: Scope, user: User, agent: Agent, fact: Fact) -> list[Callable[[], None]]:
    consented = open_for_member(scope)
    assert isinstance(consented, ConsentedScope)
    keys = scope_keys_for_writing(scope)

    def write() -> None:
        for number in range(5):
            try:
                with transaction.atomic():
                    record_candidates(
                        consented, [candidate(f"k{number}", "New.")], keys=keys, now=timezone.now(), surface="api"
                    )
            except MemoryClosed:
                return

    def consent() -> None:
        for _ in range(3):
            try:
                withdraw_consent(scope=scope, actor=user, now=timezone.now(), surface="memoryTab")
                grant_consent(scope=scope, actor=user, now=timezone.now(), surface="memoryTab")
            except GrantRefused:
                return

    def delete() -> None:
        try:
            delete_fact(scope=scope, fact_id=fact.pk, actor=user, now=timezone.now())
        except ChangedMeanwhile:
            return

    def wipe() -> None:
        now = timezone.now()
        if wiped == "user":
            delete_user(user=user, actor=None, now=now)
        elif wiped == "agent":
            delete_agent(agent=agent, actor=None, now=now)
        else:
            delete_memory(subject=Subject("user", user.pk), actor=None, now=now)

    def both() -> None:
        """The other way round: whose scopes overlap."""
        delete_memory(subject=Subject("agent", agent.pk), actor=None, now=timezone.now())

    def retention() -> None:
        sweep(now=timezone.now() + timedelta(days=400))

    return [write, consent, delete, wipe, both, retention]
