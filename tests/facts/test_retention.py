"""R01, R02: what retention tombstones and deletes, its caps, its order, and what it says about what waits."""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import Random
from threading import Event
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import DatabaseError, connection, transaction

from accounts.models import User
from agents.models import Agent
from audit.models import AuditEvent
from consent.scope import Scope
from facts import retention
from facts.due import BATCH, Limits, survey
from facts.models import Fact
from facts.retention import sweep
from tests.factories import grant, make_fact
from tests.refusals import QUIETLY, among, refusing
from tests.threads import together

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 30, 2, 30, tzinfo=UTC)
DAY = timedelta(days=1)
TABLE = "facts_fact"
type Tombstones = Callable[..., list[Fact]]


@pytest.fixture
def tombstones(consented: Scope) -> Tombstones:
    """Make tombstones of the owner, or of another scope, whose deletion is so many days before NOW."""

    def make(*days: float, scope: Scope = consented) -> list[Fact]:
        rows = [make_fact(scope, key=f"old.{day}", status="deleted", created_at=NOW - day * DAY) for day in days]
        return sorted(rows, key=lambda row: row.created_at)

    return make


@pytest.fixture
def other(colleague: User, agent: Agent) -> Scope:
    """The colleague's scope, with consent granted."""
    return grant(Scope(agent.organization_id, colleague.pk, agent.pk), colleague)


def status(fact: Fact) -> str:
    return str(Fact.objects.values_list("status", flat=True).get(pk=fact.pk))


@pytest.mark.parametrize("before", ["active", "pending", "conflict"])
def test_r01_an_expired_live_row_becomes_a_tombstone_and_stays_for_180_days(consented: Scope, before: str) -> None:
    fact = make_fact(consented, status=before, created_at=NOW - 2 * DAY, expires_at=NOW)
    assert sweep(now=NOW).done == {"expired": 1}
    row = Fact.objects.get()
    assert (row.pk, row.status, row.deleted_at, row.updated_at) == (fact.pk, "deleted", NOW, NOW)
    assert sweep(now=NOW + timedelta(days=180) - timedelta(microseconds=1)).done == {}
    assert sweep(now=NOW + timedelta(days=180)).done == {"deleted": 1}
    assert not Fact.objects.exists()


def test_r01_a_live_row_that_has_not_expired_is_left_alone(consented: Scope) -> None:
    make_fact(consented, created_at=NOW, expires_at=NOW + timedelta(microseconds=1))
    swept = sweep(now=NOW)
    assert (swept.done, swept.batches, swept.waiting) == ({}, 0, {})
    assert not AuditEvent.objects.filter(action__startswith="retention").exists()


def test_r01_a_superseded_row_is_eligible_when_its_own_expiry_has_passed_or_after_30_days(consented: Scope) -> None:
    old = make_fact(consented, key="a", status="superseded", created_at=NOW - 30 * DAY)
    young = make_fact(consented, key="b", status="superseded", created_at=NOW - 30 * DAY + timedelta(seconds=1))
    over = make_fact(consented, key="c", status="superseded", created_at=NOW - 2 * DAY, expires_at=NOW)
    both = make_fact(consented, key="d", status="superseded", created_at=NOW - 31 * DAY, expires_at=NOW)
    assert sweep(now=NOW).done == {"superseded": 3}
    assert [status(fact) for fact in (old, young, over, both)] == ["deleted", "superseded", "deleted", "deleted"]


def test_r01_180_days_are_counted_in_hours_whatever_zone_now_comes_in(tombstones: Tombstones) -> None:
    """Berlin's clocks went back on 25 October: 180 local days before NOW are 180 days and an hour in UTC."""
    tombstones(180)
    local = NOW.astimezone(ZoneInfo("Europe/Berlin"))
    assert sweep(now=local - timedelta(seconds=1)).done == {}
    assert sweep(now=local).done == {"deleted": 1}


def test_r01_the_session_s_time_zone_moves_no_boundary(tombstones: Tombstones, consented: Scope) -> None:
    tombstones(180, 179.99)
    make_fact(consented, status="superseded", created_at=NOW - 30 * DAY + timedelta(seconds=1))
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL TIME ZONE 'America/New_York'")
    assert sweep(now=NOW).done == {"deleted": 1}


def test_r01_a_clock_that_went_back_deletes_nothing(tombstones: Tombstones) -> None:
    tombstones(180, 181)
    assert sweep(now=NOW - 30 * DAY).done == {}


def test_r02_the_oldest_go_first_and_what_waits_is_reported(tombstones: Tombstones) -> None:
    rows = tombstones(185, 190, 181, 200, 183)
    swept = sweep(now=NOW, limits=Limits(total=3, batch=2))
    assert (swept.done, swept.batches, swept.waiting) == ({"deleted": 3}, 2, {"deleted": 2})
    assert set(Fact.objects.values_list("pk", flat=True)) == {row.pk for row in rows[3:]}
    assert sweep(now=NOW, limits=Limits(total=3)).done == {"deleted": 2}


def test_r02_a_busy_scope_does_not_starve_the_others(tombstones: Tombstones, other: Scope) -> None:
    busy = tombstones(*(300 + number for number in range(9)))
    tombstones(181, 182, scope=other)
    assert sweep(now=NOW, limits=Limits(per_scope=4, batch=2)).waiting == {"deleted": 5}
    assert not Fact.objects.for_scope(other).exists()
    assert set(Fact.objects.values_list("pk", flat=True)) == {row.pk for row in busy[4:]}  # its oldest went


def test_r02_the_cap_of_a_scope_holds_over_all_kinds_and_the_most_overdue_go_first(
    tombstones: Tombstones, consented: Scope
) -> None:
    tombstones(181, 190)  # due since one and ten days
    make_fact(consented, key="e", created_at=NOW - 20 * DAY, expires_at=NOW - 5 * DAY)
    make_fact(consented, key="f", created_at=NOW - 20 * DAY, expires_at=NOW - timedelta(hours=1))
    make_fact(consented, key="s", status="superseded", created_at=NOW - 33 * DAY)  # due since three days
    swept = sweep(now=NOW, limits=Limits(per_scope=3))
    assert swept.done == {"deleted": 1, "expired": 1, "superseded": 1}
    assert swept.waiting == {"deleted": 1, "expired": 1}


def test_r02_rows_of_one_instant_are_capped_exactly(consented: Scope) -> None:
    """A scope's expired rows are tombstoned in one statement, so many share one time."""
    for number in range(7):
        make_fact(consented, key=f"k{number}", status="deleted", created_at=NOW - 200 * DAY)
    assert [sweep(now=NOW, limits=Limits(per_scope=3, batch=2)).done["deleted"] for _ in range(4)] == [3, 3, 1, 0]


def test_r02_tombstoning_leaves_room_for_deletion(tombstones: Tombstones, consented: Scope) -> None:
    tombstones(181, 182, 183)
    for number in range(6):
        make_fact(consented, key=f"k{number}", created_at=NOW - DAY, expires_at=NOW - timedelta(hours=number))
    assert sweep(now=NOW, limits=Limits(total=4)).done == {"expired": 2, "deleted": 2}


def test_r02_each_batch_has_an_audit_row_with_counts_only(tombstones: Tombstones) -> None:
    tombstones(181, 182, 183)
    sizes: list[int] = []
    sweep(now=NOW, limits=Limits(batch=2), step=sizes.append)
    events = AuditEvent.objects.filter(action="retention.delete").order_by("pk")
    assert [event.details for event in events] == [{"kind": "deleted", "count": 2}, {"kind": "deleted", "count": 1}]
    assert {(event.actor_id, event.subject_user_id, event.object_id) for event in events} == {(None, None, None)}
    assert sizes == [2, 1]


def test_r02_a_survey_changes_nothing_and_knows_the_caps(tombstones: Tombstones, other: Scope) -> None:
    tombstones(181, 182, 183, 184)
    tombstones(181, scope=other)
    found = survey(now=NOW, limits=Limits(per_scope=3))
    assert (found.due, found.allowed, found.busy.users) == ({"deleted": 5}, {"deleted": 4}, [found.busy.users[0]])
    assert Fact.objects.count() == 5


def test_r02_limits_that_make_no_sense_are_refused() -> None:
    for wrong in ({"total": 0}, {"per_scope": -1}, {"batch": BATCH + 1}):
        with pytest.raises(ValueError, match="limits"):
            Limits(**wrong)


@pytest.mark.django_db(transaction=True)
def test_r02_two_runs_at_once_share_the_rows(tombstones: Tombstones) -> None:
    rows = tombstones(*(181 + number for number in range(60)))

    def run() -> int:
        return sweep(now=NOW, limits=Limits(batch=3)).done["deleted"]

    done = together(run, run)
    assert [one for one in done if isinstance(one, Exception)] == []
    assert sum(one for one in done if isinstance(one, int)) == len(rows)  # no row counted twice
    assert not Fact.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_r02_a_row_that_somebody_holds_is_left_for_the_next_run(tombstones: Tombstones) -> None:
    held, rest = tombstones(182, 181)
    holding, swept = Event(), Event()

    def hold() -> None:
        with transaction.atomic():
            Fact.objects.select_for_update(no_key=True).get(pk=held.pk)
            holding.set()
            assert swept.wait(timeout=10)

    def run() -> dict[str, int]:
        assert holding.wait(timeout=10)
        outcome = sweep(now=NOW)
        swept.set()
        return {"done": outcome.done["deleted"], "waiting": outcome.waiting["deleted"]}

    assert together(hold, run) == [None, {"done": 1, "waiting": 1}]
    assert not Fact.objects.filter(pk=rest.pk).exists()
    assert sweep(now=NOW).done == {"deleted": 1}


def test_t03_each_member_s_history_says_how_many_facts_the_night_let_expire(consented: Scope, other: Scope) -> None:
    for key in ("a", "b"):
        make_fact(consented, key=key, created_at=NOW - 2 * DAY, expires_at=NOW)
    make_fact(other, created_at=NOW - 2 * DAY, expires_at=NOW)
    make_fact(other, key="superseded", status="superseded", created_at=NOW - 90 * DAY)
    sweep(now=NOW)
    told = AuditEvent.objects.filter(action="fact.expire").values_list(
        "organization_id", "subject_user_id", "agent_id", "actor_id", "details"
    )
    assert sorted(told, key=lambda event: event[4]["count"]) == [
        (other.organization_id, other.user_id, other.agent_id, None, {"count": 1}),
        (consented.organization_id, consented.user_id, consented.agent_id, None, {"count": 2}),
    ]


@pytest.mark.parametrize(("total", "sizes"), [(100, [2, 2, 2, 1]), (5, [2, 2, 1])])
def test_r02_a_batch_that_grew_after_it_was_planned_is_planned_anew(
    tombstones: Tombstones, total: int, sizes: list[int]
) -> None:
    tombstones(200, 195, 190, 185)
    told: list[int] = []

    def step(count: int) -> None:
        if not told:
            tombstones(188, 187, 186)
        told.append(count)

    sweep(now=NOW, limits=Limits(batch=2, total=total), step=step)
    assert told == sizes
    assert Fact.objects.count() == 7 - sum(sizes)


def test_r02_rows_whose_change_a_trigger_undoes_are_not_done_and_end_no_walk(consented: Scope) -> None:
    age = timedelta(minutes=1)
    rows = [make_fact(consented, key=f"k{n}", created_at=NOW - 2 * DAY, expires_at=NOW - n * age) for n in range(6)]
    with refusing("UPDATE", TABLE, among(rows[0]), by="RETURN OLD"):
        swept = sweep(now=NOW, limits=Limits(total=1000))
    assert (swept.done, swept.waiting) == ({"expired": 5}, {"expired": 1})
    assert swept.batches < 10


@pytest.mark.django_db(transaction=True)
def test_r02_rows_that_go_while_they_are_surveyed_are_no_trouble(tombstones: Tombstones) -> None:
    tombstones(200, 199, 198)

    def wrap(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if "numbered" in sql:
            together(lambda: Fact.objects.all().delete())
        return execute(sql, params, many, context)

    with connection.execute_wrapper(wrap):
        assert survey(now=NOW, limits=Limits(per_scope=2)).allowed == {}


def test_r02_more_rows_of_one_instant_than_a_batch_stop_no_walk(tombstones: Tombstones) -> None:
    tombstones(200, *[190] * 5, 185)
    told: list[int] = []
    assert sweep(now=NOW, limits=Limits(batch=2), step=told.append).done == {"deleted": 7}
    assert max(told) == 2


@pytest.mark.parametrize("batch", [1, 2, 5_000])
def test_r02_rows_that_the_database_refuses_wait_and_all_others_go(tombstones: Tombstones, batch: int) -> None:
    rows = tombstones(*range(181, 190))
    with refusing("DELETE", TABLE, among(rows[0], rows[5])):
        swept = sweep(now=NOW, limits=Limits(batch=batch))
        assert (swept.done, swept.waiting, swept.failure) == ({"deleted": 7}, {"deleted": 2}, None)
        assert {fact.pk for fact in Fact.objects.all()} == {rows[0].pk, rows[5].pk}
        assert sweep(now=NOW).done == {}  # the next night ends as well
    assert sweep(now=NOW).done == {"deleted": 2}


def test_r02_refused_rows_of_one_instant_are_passed_over_too(consented: Scope) -> None:
    at = NOW - 2 * DAY
    rows = [make_fact(consented, key=f"k{number}", created_at=at, expires_at=NOW) for number in range(7)]
    with refusing("UPDATE", TABLE, among(rows[2], rows[3])):
        swept = sweep(now=NOW, limits=Limits(batch=2))
    assert (swept.done, swept.waiting) == ({"expired": 5}, {"expired": 2})


def test_r02_a_part_that_is_refused_altogether_is_given_up_and_told_and_the_others_are_done(
    tombstones: Tombstones, consented: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "MOST_REFUSED", 2)
    live = [make_fact(consented, key=f"k{n}", created_at=NOW - 2 * DAY, expires_at=NOW) for n in range(5)]
    tombstones(181, 182)
    with refusing("UPDATE", TABLE, among(*live)):
        swept = sweep(now=NOW)
    assert isinstance(swept.failure, DatabaseError)
    assert (swept.done, swept.waiting) == ({"deleted": 2}, {"expired": 5})


def test_r02_rows_that_a_trigger_passes_over_without_a_word_end_no_walk(consented: Scope) -> None:
    at = NOW - 2 * DAY
    rows = [make_fact(consented, key=f"k{number}", created_at=at, expires_at=NOW) for number in range(9)]
    with refusing("UPDATE", TABLE, among(*rows[:4]), by=QUIETLY):
        swept = sweep(now=NOW, limits=Limits(batch=2))
    assert (swept.done, swept.waiting) == ({"expired": 5}, {"expired": 4})


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("limit", [1, 2, 100_000])
def test_r02_rows_held_and_rows_refused_at_one_instant_end_no_walk_and_keep_no_other(
    consented: Scope, limit: int
) -> None:
    at = NOW - 200 * DAY
    rows = [make_fact(consented, key=f"k{number}", status="deleted", created_at=at) for number in range(5)]
    with refusing("DELETE", TABLE, among(rows[1], rows[2])), transaction.atomic():
        Fact.objects.select_for_update(no_key=True).get(pk=rows[0].pk)
        (swept,) = together(lambda: sweep(now=NOW, limits=Limits(total=limit, batch=min(limit, 2))))
    assert not isinstance(swept, Exception)
    assert swept.done == {"deleted": min(limit, 2)}


@pytest.mark.django_db(transaction=True)
def test_r02_a_table_that_somebody_holds_ends_no_night(tombstones: Tombstones) -> None:
    tombstones(181, 182)
    holding, swept = Event(), Event()

    def hold() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE facts_fact IN SHARE MODE")
            holding.set()
            assert swept.wait(timeout=10)

    def run() -> tuple[int, int]:
        assert holding.wait(timeout=10)
        outcome = sweep(now=NOW)
        swept.set()
        return outcome.done.total(), outcome.waiting["deleted"]

    assert together(hold, run) == [None, (0, 2)]
    assert sweep(now=NOW).done == {"deleted": 2}


@pytest.mark.parametrize("seed", range(12))
def test_r02_a_night_does_as_much_as_its_limits_let_it_and_takes_the_most_overdue_of_a_scope(
    consented: Scope, other: Scope, seed: int
) -> None:
    """Against a plain model: each scope's most overdue rows up to its cap, half of the night at least for deletion."""
    draw = Random(seed)
    due: dict[Scope, list[tuple[datetime, str]]] = {consented: [], other: []}
    for number in range(draw.randint(5, 30)):
        scope, kind = draw.choice(list(due)), draw.choice(["expired", "superseded", "deleted"])
        since = NOW - timedelta(minutes=number + 1)  # no two are due at the same instant
        begun = {"expired": 90 * DAY, "superseded": 30 * DAY, "deleted": 180 * DAY}[kind]
        status = {"expired": "active"}.get(kind, kind)
        expires_at = since if kind == "expired" else None
        make_fact(scope, key=f"k{number}", status=status, created_at=since - begun, expires_at=expires_at)
        due[scope].append((since, kind))
    limits = Limits(total=draw.randint(1, 30), per_scope=draw.randint(1, 12), batch=draw.randint(1, 5))
    allowed = Counter(kind for rows in due.values() for _since, kind in sorted(rows)[: limits.per_scope])
    tombstones = allowed["expired"] + allowed["superseded"]
    tombstoned = min(tombstones, max(limits.total // 2, limits.total - allowed["deleted"]))
    swept = sweep(now=NOW, limits=limits)
    assert swept.done["deleted"] == min(allowed["deleted"], limits.total - tombstoned)
    assert swept.done["expired"] + swept.done["superseded"] == tombstoned
    assert swept.done.total() + swept.waiting.total() == sum(map(len, due.values()))
