"""F01, F06, F07, F10 between real processes, each with its own connection to a copy of the migrated database."""

import json
import os
import subprocess
import sys
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from threading import Timer
from typing import Any

import psycopg
import pytest
from django.db import connection
from psycopg import sql
from psycopg.conninfo import make_conninfo

from accounts.models import User
from consent.models import Consent
from consent.scope import Scope
from facts.models import LIVE, Fact
from facts.services import MAX_LIVE, list_facts
from tests.factories import fill, grant, make_agent, make_fact, make_member, make_organization

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]
RACERS = 8
type Race = Callable[..., list[dict[str, Any]]]
ROOT = Path(__file__).parents[2]


def address(database: str) -> str:
    """Return the connection string of a database beside the test database."""
    parts = connection.settings_dict
    values = {"host": parts["HOST"], "port": parts["PORT"], "user": parts["USER"], "password": parts["PASSWORD"]}
    return make_conninfo(dbname=database, **{name: value for name, value in values.items() if value})


def outside(statement: sql.Composed) -> None:
    with psycopg.connect(address("postgres"), autocommit=True) as server:
        server.execute(statement)


@pytest.fixture
def scratch(transactional_db: None) -> Iterator[str]:
    """A copy of the migrated test database, in autocommit: what is written here, other processes see."""
    connection.close()  # a database that is copied must have no visitors
    original, name = str(connection.settings_dict["NAME"]), f"races_{uuid.uuid4().hex[:12]}"
    outside(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(original)))
    connection.settings_dict["NAME"] = name
    try:
        yield name
    finally:
        connection.close()
        connection.settings_dict["NAME"] = original
        outside(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def scope(scratch: str) -> Scope:
    """The scope of a member who has granted consent."""
    organization = make_organization("acme")
    agent = make_agent(organization, "guide")
    user = make_member(organization, agent, "ana@acme.example")
    return grant(Scope(organization.pk, user.pk, agent.pk), user)


@pytest.fixture(scope="module")
def crew() -> Iterator[subprocess.Popen[str]]:
    """The process that forks the racers: Django is set up once for all races."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.facts.racers"],
        cwd=ROOT,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def race(crew: subprocess.Popen[str], scratch: str, scope: Scope) -> Race:
    """Let eight processes do the same thing at the same time; return what each got."""

    def run(name: str, **given: object) -> list[dict[str, Any]]:
        given |= {"race": name, "racers": RACERS, "database": scratch}
        given |= {key: str(value) for key, value in asdict(scope).items()}
        assert crew.stdin is not None
        assert crew.stdout is not None
        watchdog = Timer(60, crew.kill)
        watchdog.start()
        crew.stdin.write(json.dumps(given) + "\n")
        crew.stdin.flush()
        line = crew.stdout.readline()
        watchdog.cancel()
        assert line, "the racers are gone"
        answers: list[dict[str, Any]] = json.loads(line)
        assert not [answer for answer in answers if "error" in answer], answers
        return answers

    return run


def summed(answers: list[dict[str, Any]], part: str) -> Counter[str]:
    total: Counter[str] = Counter()
    for answer in answers:
        total.update(answer[part])
    return total


def live(scope: Scope) -> int:
    return Fact.objects.for_scope(scope).live().count()


def test_f07_eight_processes_at_199_facts_make_200(race: Race, scope: Scope) -> None:
    fill(scope, MAX_LIVE - 1)
    answers = race("record", key="race.{n}", body="Racer {n} was here.")
    assert summed(answers, "by_status") == {"active": 1}
    assert summed(answers, "refusals") == {"cap": RACERS - 1}
    assert live(scope) == MAX_LIVE == 200


def test_f06_eight_processes_that_record_the_same_fact_make_one_row(race: Race, scope: Scope) -> None:
    """No key of the organization exists before: they also race for the first seal."""
    answers = race("record", key="home.city", body="Lives in Porto.")
    assert summed(answers, "by_status") == {"active": 1}
    assert summed(answers, "refusals") == {"duplicate": RACERS - 1}
    (listed,) = list_facts(scope, now=Fact.objects.get().created_at)
    assert listed.opened is not None
    assert listed.opened.body == "Lives in Porto."


def test_e05_eight_processes_that_disagree_make_one_active_fact_and_conflicts(race: Race, scope: Scope) -> None:
    answers = race("record", key="home.city", body="Lives in city {n}.")
    assert summed(answers, "by_status") == {"active": 1, "conflict": RACERS - 1}
    assert live(scope) == RACERS


def test_f10_eight_processes_that_edit_one_fact_have_one_winner(race: Race, scope: Scope) -> None:
    fact = make_fact(scope)
    answers = race("edit", fact_id=str(fact.pk))
    won = [answer["won"] for answer in answers if "won" in answer]
    assert len(won) == 1
    assert [answer for answer in answers if "lost" in answer] == [{"lost": "changed meanwhile"}] * (RACERS - 1)
    (listed,) = list_facts(scope, now=fact.created_at)
    assert listed.opened is not None
    assert [listed.opened.body] == won
    assert sorted(Fact.objects.values_list("status", flat=True)) == ["active", "superseded"]


def test_f11_edits_and_deletions_of_one_fact_have_one_winner(race: Race, scope: Scope) -> None:
    fact = make_fact(scope)
    answers = race("edit", fact_id=str(fact.pk), delete_from=RACERS // 2)
    won = [answer["won"] for answer in answers if "won" in answer]
    assert len(won) == 1
    expected = ["deleted"] if won == ["delete"] else ["active", "superseded"]
    assert sorted(Fact.objects.values_list("status", flat=True)) == expected


def test_f01_nothing_is_written_after_a_withdrawal_has_answered(race: Race, scope: Scope) -> None:
    answers = race("withdraw", after=5)
    withdrawn, writers = answers[0], answers[1:]
    assert {writer["told"] for writer in writers} == {"withdrawn"}
    assert Fact.objects.filter(status__in=LIVE).count() == withdrawn["rows"] > 0
    assert not Consent.objects.get().granted
    assert User.objects.get().is_live
