"""F04: facts of every status move to a new data key, killed anywhere, while others read and write."""

import os
import subprocess
import sys
import uuid
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import Organization, User
from consent.scope import Scope
from encryption.kept import UNWRAPPED
from encryption.models import OrganizationKey
from encryption.rotation import RETIRE_AFTER, TooEarly, new_dek
from encryption.services import KEEP_SECONDS, forget_keys, organization_keys
from facts import rotation
from facts.models import Fact
from facts.prompt import read_block
from facts.services import edit_fact, list_facts
from tests.factories import candidate, fill, make_fact, record_facts
from tests.facts.test_races import address, scratch

__all__ = ["scratch"]  # a fixture
pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[2]
BEYOND_THE_RECORD = (
    "status",
    "key_hash",
    "content_hash",
    "confidence",
    "source_ids",
    "supersedes_id",
    "expires_at",
    "created_at",
    "updated_at",
    "superseded_at",
    "deleted_at",
    "memory_type",
)


def bodies(scope: Scope) -> list[str]:
    """What another process reads, which keeps nothing."""
    forget_keys()
    return sorted(row.opened.body if row.opened else "cannot be read" for row in list_facts(scope, now=timezone.now()))


def rotate(scope: Scope, **options: Any) -> rotation.Moved:
    return rotation.rotate([scope.organization_id], grace=0, **options)


def beyond_the_record() -> dict[uuid.UUID, Any]:
    return {row[0]: row[1:] for row in Fact.objects.values_list("pk", *BEYOND_THE_RECORD)}


def test_facts_of_every_status_are_sealed_anew_and_nothing_else_changes(consented: Scope) -> None:
    statuses = ("active", "pending", "conflict", "superseded", "deleted")
    for status in statuses:
        make_fact(consented, key=f"key.{status}", body=f"Is {status}.", status=status)
    before, read, sealed = beyond_the_record(), bodies(consented), dict(Fact.objects.values_list("pk", "sealed"))
    steps: list[int] = []
    assert rotation.to_move([consented.organization_id]) == 5
    outcome = rotate(consented, step=steps.append)
    assert (outcome.done, outcome.failed.total(), sum(steps)) == (5, 0, 5)
    assert rotation.by_version(consented.organization_id) == {2: 5}
    assert not rotation.stale([consented.organization_id]).exists()
    assert beyond_the_record() == before
    assert bodies(consented) == read
    for row in Fact.objects.all():
        assert (row.row_version, row.dek_version) == (2, 2)
        assert bytes(row.sealed) != bytes(sealed[row.pk])


def test_only_the_organization_that_is_named_is_rotated(consented: Scope, stranger: User) -> None:
    make_fact(consented)
    other = Scope(Organization.objects.get(slug="other").pk, stranger.pk, consented.agent_id)
    make_fact(other)
    rotate(consented)
    assert rotation.by_version(other.organization_id) == {1: 1}
    assert set(rotation.with_active_keys()) == {consented.organization_id, other.organization_id}
    assert rotation.with_active_keys([other.organization_id]) == [other.organization_id]


def test_a_rotation_that_was_killed_goes_on_under_the_same_key(
    consented: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(consented, 25)
    monkeypatch.setattr(rotation, "BATCH", 10)

    def killed(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rotate(consented, step=killed)
    assert rotation.by_version(consented.organization_id) == {1: 15, 2: 10}
    assert rotation.to_move([consented.organization_id]) == 15
    assert "cannot be read" not in bodies(consented)
    assert rotate(consented).done == 15
    assert rotation.by_version(consented.organization_id) == {2: 25}
    assert rotate(consented).done == 25  # an ended one is followed by a new one
    assert rotation.by_version(consented.organization_id) == {3: 25}


def test_a_rotation_that_was_killed_while_it_waited_goes_on_under_the_same_key(consented: Scope) -> None:
    """With nothing left, it is the age of the newest key that tells an unfinished rotation from an ended one."""
    make_fact(consented)
    scope_ids = [consented.organization_id]

    def killed(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rotation.rotate(scope_ids, grace=65, sleep=killed)
    assert rotation.to_move(scope_ids, grace=65) == 0
    waited: list[float] = []
    rotation.rotate(scope_ids, grace=65, sleep=waited.append)
    assert 55 < waited[0] <= 65
    assert rotation.by_version(consented.organization_id) == {2: 1}
    OrganizationKey.objects.update(created_at=timezone.now() - timedelta(seconds=66))
    assert rotation.rotate(scope_ids, grace=65, sleep=waited.append).done == 1  # an ended one is followed by a new one
    assert rotation.by_version(consented.organization_id) == {3: 1}


def test_the_first_data_key_of_an_organization_is_no_rotation(consented: Scope) -> None:
    make_fact(consented)
    assert rotation.rotate([consented.organization_id], grace=65, sleep=lambda _: None).done == 1


def test_what_others_write_under_the_former_key_is_moved_after_the_grace_time(consented: Scope) -> None:
    """The first version is still kept by a process that writes while the rotation waits."""
    make_fact(consented)
    kept = organization_keys(consented.organization_id)
    waited: list[float] = []

    def somebody_writes(seconds: float) -> None:
        waited.append(seconds)
        UNWRAPPED.put(consented.organization_id, kept, until=float("inf"))
        record_facts(consented, candidate("pet.cat", "Has a cat."))
        assert rotation.by_version(consented.organization_id) == {1: 1, 2: 1}
        forget_keys()

    outcome = rotation.rotate([consented.organization_id], grace=65, sleep=somebody_writes)
    assert outcome.done == 2
    assert 60 < waited[0] <= 65
    assert rotation.by_version(consented.organization_id) == {2: 2}
    assert rotation.GRACE_SECONDS > KEEP_SECONDS


def test_a_reader_who_keeps_the_former_keys_fetches_the_new_ones_once(
    consented: Scope, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    fill(consented, 10)
    kept = organization_keys(consented.organization_id)
    rotate(consented)
    UNWRAPPED.put(consented.organization_id, kept, until=float("inf"))
    with django_assert_max_num_queries(3):  # gate and rows, does the version exist, the keys
        assert read_block(consented, surface=None, now=timezone.now()).state == "used"
    with django_assert_max_num_queries(1):
        read_block(consented, surface=None, now=timezone.now())


def test_an_editor_who_keeps_the_former_keys_writes_under_the_new_one(consented: Scope, owner: User) -> None:
    fact = make_fact(consented)
    kept = organization_keys(consented.organization_id)
    rotate(consented)
    UNWRAPPED.put(consented.organization_id, kept, until=float("inf"))
    heir = edit_fact(scope=consented, fact_id=fact.pk, body="Lives in Faro.", actor=owner, now=timezone.now())
    assert heir.dek_version == 2
    assert bodies(consented) == ["Lives in Faro."]


def test_records_that_name_a_version_which_is_nowhere_cost_one_query(
    consented: Scope, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    fill(consented, 5)
    for row in Fact.objects.all():
        sealed = bytearray(row.sealed)
        sealed[6] = 9
        Fact.objects.filter(pk=row.pk).update(sealed=bytes(sealed))
    with django_assert_max_num_queries(2):
        assert read_block(consented, surface=None, now=timezone.now()).state == "read_failed"


def test_a_record_that_does_not_open_is_counted_once_left_as_it_is_and_stops_nobody(consented: Scope) -> None:
    good, bad = make_fact(consented), make_fact(consented, key="pet.cat", body="Has a cat.")
    Fact.objects.filter(pk=bad.pk).update(sealed=bytes(good.sealed))
    outcome = rotate(consented)
    assert (outcome.done, dict(outcome.failed)) == (1, {"tampered": 1})
    bad.refresh_from_db()
    assert (bytes(bad.sealed), bad.dek_version, bad.row_version) == (bytes(good.sealed), 1, 1)
    assert [row.pk for row in rotation.stale([consented.organization_id])] == [bad.pk]
    always = rotation.NewKey.ALWAYS  # else one bad record would keep every later rotation from beginning
    assert rotation.to_move([consented.organization_id], new_key=always) == 2
    assert rotate(consented).done == 0
    assert rotate(consented, new_key=always).done == 1
    assert rotation.by_version(consented.organization_id) == {1: 1, 3: 1}


def test_a_missing_key_is_counted_and_nothing_is_changed(consented: Scope, settings: Any) -> None:
    make_fact(consented)
    settings.KEYRING_JSON, settings.KEYRING_FILE = "", None
    forget_keys()
    outcome = rotate(consented)
    assert (outcome.done, dict(outcome.failed)) == (0, {"keyring_missing": 1})
    assert rotation.by_version(consented.organization_id) == {1: 1}
    assert rotation.rotate([uuid.uuid4()], grace=0).failed == {"no_keys": 1}


def test_a_row_at_another_version_than_was_read_is_not_overwritten(consented: Scope) -> None:
    fact = make_fact(consented)
    assert rotation._swap([(b"new", 2, fact.pk, fact.row_version + 1)]) == 0
    fact.refresh_from_db()
    assert fact.dek_version == 1
    assert rotation._swap([]) == 0


@pytest.mark.django_db(transaction=True)
def test_rows_that_somebody_holds_are_left_to_the_next_pass(consented: Scope) -> None:
    """Who waits for nothing takes part in no deadlock."""
    held, free = make_fact(consented), make_fact(consented, key="pet.cat", body="Has a cat.")
    new_dek(consented.organization_id, after=1)
    from tests.threads import together

    with transaction.atomic():
        Fact.objects.select_for_update(no_key=True).get(pk=held.pk)
        together(lambda: rotation._move_organization(consented.organization_id, rotation.Moved(), lambda _: None))
        assert dict(Fact.objects.values_list("pk", "dek_version")) == {held.pk: 1, free.pk: 2}
    assert rotate(consented).done == 1


def test_old_keys_are_retired_only_when_nothing_is_left_under_them(consented: Scope) -> None:
    make_fact(consented)
    new_dek(consented.organization_id, after=1)
    later = timezone.now() + RETIRE_AFTER + timedelta(seconds=1)
    assert rotation.retire_old(consented.organization_id, now=later) == []
    rotate(consented, new_key=rotation.NewKey.NEVER)
    with pytest.raises(TooEarly):
        rotation.retire_old(consented.organization_id, now=timezone.now())
    assert rotation.retire_old(consented.organization_id, now=later) == [1]
    assert OrganizationKey.objects.get(purpose="dek", version=1).state == "destroyed"
    assert bodies(consented) == ["Lives in Porto."]


@pytest.fixture
def in_processes(scratch: str) -> Callable[..., str]:
    """Run the rehearsal on a copy of the migrated database."""

    def run(*arguments: str) -> str:
        connection.close()
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.rotation", "--in-place", *arguments],
            cwd=ROOT,
            env=os.environ | {"DATABASE_URL": address(scratch), "DJANGO_SETTINGS_MODULE": "tests.settings"},
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.mark.processes
def test_no_read_fails_and_no_write_is_lost_while_a_rotation_is_killed(in_processes: Callable[..., str]) -> None:
    printed = in_processes("--facts", "300", "--processes", "2", "--kills", "1", "--grace", "0")
    assert "killed after" in printed
    assert "Failed: 0." in printed
    assert printed.rstrip().endswith("sound")
