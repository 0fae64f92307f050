"""T03: the seals over the audit events are made once, over committed rows, and show each row that was tampered with."""

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from io import StringIO
from threading import Thread
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from accounts.models import Organization
from audit import chain
from audit.models import AuditEvent, AuditSeal
from audit.services import record
from tests.facts.test_races import address
from tests.threads import together

pytestmark = pytest.mark.django_db
EVENT, SEAL = AuditEvent._meta.db_table, AuditSeal._meta.db_table


def acts(count: int, organization_id: uuid.UUID | None) -> list[int]:
    before = AuditEvent.objects.count()
    for number in range(count):
        record("agent.update", actor=None, organization_id=organization_id, details={"n": number, "share": 0.5})
    return list(AuditEvent.objects.order_by("id").values_list("id", flat=True)[before:])


def seal(wait: float = 0.0) -> int:
    return chain.seal(now=timezone.now(), wait=wait)


def found() -> list[chain.Finding]:
    return list(chain.verify(chain.Checked()))


def tamper(statement: str, *values: Any) -> None:
    """Do what a database administrator could: with the refusals off."""
    with connection.cursor() as cursor:
        for word in ("DISABLE", "ENABLE"):
            cursor.execute(f"ALTER TABLE {EVENT} {word} TRIGGER USER")
            cursor.execute(f"ALTER TABLE {SEAL} {word} TRIGGER USER")
            if word == "DISABLE":
                cursor.execute(statement, values)


@pytest.fixture
def chains(organization: Organization) -> tuple[list[int], list[int]]:
    """Sealed events of an organization and of none, in two links each."""
    ours, none = [], []
    for _round in range(2):
        ours += acts(3, organization.pk)
        none += acts(2, None)
        assert seal() > 0
    return ours, none


# --- sealing ----------------------------------------------------------------------------------------------------------


def test_each_organization_has_a_chain_and_events_of_none_have_their_own(
    chains: tuple[list[int], list[int]], organization: Organization
) -> None:
    links = AuditSeal.objects.order_by("id").values_list("organization_id", "number")
    assert sorted(links, key=str) == sorted([(org, n) for org in (organization.pk, None) for n in (1, 2)], key=str)
    checked = chain.Checked()
    assert list(chain.verify(checked)) == []
    assert (checked.chains, checked.seals, checked.unsealed) == (2, 4, 0)
    assert checked.sealed == AuditEvent.objects.count()


def test_sealing_again_seals_nothing_and_what_is_new_waits_for_the_next_round(
    chains: tuple[list[int], list[int]], organization: Organization
) -> None:
    assert seal() == 0
    acts(1, organization.pk)
    checked = chain.Checked()
    assert list(chain.verify(checked)) == []
    assert checked.unsealed == 1
    assert seal() == 1


def test_many_events_are_sealed_in_several_steps(organization: Organization, monkeypatch: pytest.MonkeyPatch) -> None:
    seal()
    monkeypatch.setattr(chain, "STEP", 4)
    acts(10, organization.pk)
    assert seal() == 10
    assert [row.count for row in AuditSeal.objects.order_by("-id")[:3]] == [2, 4, 4]
    assert found() == []


def test_a_worker_seals_every_few_minutes_whoever_sealed_last(organization: Organization) -> None:
    now = timezone.now()
    assert chain.seal_when_due(now=now) > 0
    acts(1, organization.pk)
    assert chain.seal_when_due(now=now + chain.EVERY - timedelta(seconds=1)) == 0
    assert chain.seal_when_due(now=now + chain.EVERY) == 1


def test_a_clock_that_was_ahead_does_not_stop_the_sealing(organization: Organization) -> None:
    now = timezone.now()
    assert chain.seal_when_due(now=now + timedelta(days=365)) > 0
    acts(1, organization.pk)
    assert chain.seal_when_due(now=now) == 1


@pytest.mark.parametrize("statement", [f"UPDATE {SEAL} SET number = 9", f"DELETE FROM {SEAL}", f"TRUNCATE {SEAL}"])
def test_the_database_refuses_to_change_or_remove_a_seal(chains: object, statement: str) -> None:
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


def test_the_value_depends_on_content_alone(organization: Organization) -> None:
    event = AuditEvent.objects.get(pk=acts(1, organization.pk)[0])
    assert json.loads(chain.row_bytes(event))[-1] == {"n": 0, "share": 0.5}
    with timezone.override("Asia/Tokyo"):
        assert chain.row_bytes(AuditEvent.objects.get(pk=event.pk)) == chain.row_bytes(event)


# --- writers and sealers at the same time -----------------------------------------------------------------------------


@contextmanager
def writer() -> Iterator[psycopg.Connection]:
    """A transaction that has taken an id and has not ended."""
    with psycopg.connect(address(str(connection.settings_dict["NAME"]))) as other:
        other.execute(
            f"INSERT INTO {EVENT} (at, action, surface, reason, request_id, details)"
            " VALUES (now(), 'agent.update', '', '', '', '{}')"
        )
        yield other


@pytest.mark.django_db(transaction=True)
def test_a_lower_id_that_commits_later_is_never_passed_over() -> None:
    with writer() as other:
        acts(1, None)  # a higher id, committed first
        assert seal() == 0
        other.commit()
    assert seal() == 2
    assert found() == []


@pytest.mark.django_db(transaction=True)
def test_the_sealer_waits_for_a_writer_and_holds_nobody_up() -> None:
    with writer() as other:
        acts(1, None)

        def seal_apart() -> None:
            seal(wait=20)
            connection.close()

        sealer = Thread(target=seal_apart)
        sealer.start()
        sealer.join(0.3)
        assert sealer.is_alive()
        acts(1, None)  # another writer goes straight through
        other.commit()
    sealer.join(20)
    assert not sealer.is_alive()
    assert AuditSeal.objects.get().count in (2, 3)
    assert found() == []


@pytest.mark.django_db(transaction=True)
def test_readers_and_writers_elsewhere_do_not_delay_the_seal(organization: Organization) -> None:
    with psycopg.connect(address(str(connection.settings_dict["NAME"]))) as other:
        other.execute(f"SELECT count(*) FROM {EVENT}")
        other.execute("UPDATE accounts_organization SET name = 'x'")
        assert seal() > 0
        other.rollback()


@pytest.mark.django_db(transaction=True)
def test_two_sealers_and_a_writer_at_once_seal_everything_once() -> None:
    acts(20, None)

    def write() -> int:
        return len(acts(20, None))

    for _round in range(5):
        outcomes = together(lambda: seal(wait=5), lambda: seal(wait=5), write)
        assert not [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    seal(wait=5)
    assert sum(AuditSeal.objects.values_list("count", flat=True)) == AuditEvent.objects.count() == 120
    assert found() == []


# --- what was tampered with -------------------------------------------------------------------------------------------


def test_a_removed_event_shows(chains: tuple[list[int], list[int]], organization: Organization) -> None:
    gone = chains[0][1]
    tamper(f"DELETE FROM {EVENT} WHERE id = %s", gone)
    (finding,) = found()
    assert (finding.organization_id, finding.number, finding.removed) == (organization.pk, 1, (gone,))


@pytest.mark.parametrize(
    "change", ["action = 'fact.edit'", "details = '{}'", "at = at + interval '1 microsecond'", "actor_id = NULL"]
)
def test_a_changed_event_shows(organization: Organization, change: str) -> None:
    record("agent.update", actor=organization, organization_id=organization.pk, details={"n": 1})
    event = AuditEvent.objects.latest("id").pk
    seal()
    tamper(f"UPDATE {EVENT} SET {change} WHERE id = %s", event)
    (finding,) = found()
    assert finding.changed == (event,)


def test_an_event_put_in_later_shows(chains: tuple[list[int], list[int]], organization: Organization) -> None:
    tamper(f"UPDATE {EVENT} SET organization_id = %s WHERE id = %s", organization.pk, chains[1][0])
    here, there = sorted(found(), key=lambda finding: str(finding.organization_id is None))
    assert (here.organization_id, here.inserted) == (organization.pk, (chains[1][0],))
    assert (there.organization_id, there.removed) == (None, (chains[1][0],))


@pytest.mark.parametrize("number", [0, -5])
def test_an_event_put_in_below_the_first_id_shows(
    chains: tuple[list[int], list[int]], organization: Organization, number: int
) -> None:
    tamper(
        f"INSERT INTO {EVENT} (id, at, action, organization_id, surface, reason, request_id, details) "
        "VALUES (%s, now(), 'fact.delete', %s, '', '', '', '{}')",
        number,
        organization.pk,
    )
    assert [finding.inserted for finding in found()] == [(number,)]


def test_an_event_put_in_between_the_seals_of_a_chain_shows(chains: tuple[list[int], list[int]]) -> None:
    elsewhere = uuid.uuid4()
    tamper(f"UPDATE {EVENT} SET organization_id = %s WHERE id = %s", elsewhere, chains[0][0])
    assert {finding.organization_id: finding.inserted for finding in found()}[elsewhere] == (chains[0][0],)


@pytest.mark.parametrize("number", [1, 2])
def test_a_removed_seal_shows(chains: object, organization: Organization, number: int) -> None:
    tamper(f"DELETE FROM {SEAL} WHERE organization_id = %s AND number = %s", organization.pk, number)
    assert [finding.organization_id for finding in found()] == [organization.pk]


def test_a_seal_that_was_made_to_fit_breaks_the_chain(
    chains: tuple[list[int], list[int]], organization: Organization
) -> None:
    """Whoever changes an event and its leaf must also make the value anew, and then the next link does not follow."""
    changed = chains[0][0]
    tamper(f"UPDATE {EVENT} SET reason = 'x' WHERE id = %s", changed)
    first = AuditSeal.objects.get(organization_id=organization.pk, number=1)
    events = list(AuditEvent.objects.filter(organization_id=organization.pk, id__lte=first.up_to_id).order_by("id"))
    leaves = b"".join(map(chain._leaf, events))
    tamper(f"UPDATE {SEAL} SET leaves = %s WHERE id = %s", leaves, first.pk)
    assert [(finding.number, bool(finding.broken)) for finding in found()] == [(1, True)]
    value = chain._value(b"", first, list(map(chain.row_bytes, events)))
    tamper(f"UPDATE {SEAL} SET value = %s WHERE id = %s", value, first.pk)
    assert [(finding.number, bool(finding.broken)) for finding in found()] == [(2, True)]


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("change", ["sealed_at = sealed_at - interval '1 day'", "up_to_id = up_to_id + 1000000"])
def test_the_time_and_the_reach_of_a_seal_are_sealed_too(
    chains: object, organization: Organization, change: str, number: int
) -> None:
    tamper(f"UPDATE {SEAL} SET {change} WHERE organization_id = %s AND number = %s", organization.pk, number)
    assert next(finding.number for finding in found() if finding.organization_id == organization.pk) == number


def test_seals_of_before_their_time_was_sealed_hold_and_newer_ones_follow_them(
    organization: Organization, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chain, "_value", chain._former_value)
    first, *_rest = acts(3, organization.pk)
    assert seal() >= 3
    monkeypatch.undo()
    acts(3, organization.pk)
    assert seal() == 3
    assert found() == []
    tamper(f"UPDATE {EVENT} SET reason = 'x' WHERE id = %s", first)
    assert [(finding.number, finding.changed) for finding in found()] == [(1, (first,))]


# --- the command ------------------------------------------------------------------------------------------------------


def test_verify_audit_says_that_all_holds(chains: object) -> None:
    out = StringIO()
    call_command("verify_audit", stdout=out)
    assert out.getvalue().startswith("All chains hold: 2 chains, 4 seals over ")


def test_verify_audit_names_what_does_not_hold_and_fails(
    chains: tuple[list[int], list[int]], organization: Organization
) -> None:
    tamper(f"DELETE FROM {EVENT} WHERE id = %s", chains[0][0])
    tamper(f"UPDATE {EVENT} SET reason = 'x' WHERE id = %s", chains[0][5])
    out = StringIO()
    with pytest.raises(CommandError, match="2 links do not hold"):
        call_command("verify_audit", stdout=out)
    assert f"organization {organization.pk}, seal 1: removed {chains[0][0]}" in out.getvalue()
    assert f"organization {organization.pk}, seal 2: changed {chains[0][5]}" in out.getvalue()


@pytest.mark.django_db(transaction=True)
def test_verify_audit_takes_one_view_and_writes_nothing() -> None:
    acts(3, None)
    seal(wait=5)
    call_command("verify_audit", stdout=StringIO())
    acts(1, None)
