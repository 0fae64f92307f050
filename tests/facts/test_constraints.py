"""F03–F06: the database itself keeps what the services promise, and nothing in it holds a fact's text."""

import base64
import hashlib
import uuid
from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from accounts.models import User
from consent.scope import Scope
from facts.models import LIFETIME, Fact
from facts.services import delete_fact, edit_fact
from tests.factories import candidate, make_fact, record_facts

pytestmark = pytest.mark.django_db
NOW = timezone.now()


@pytest.fixture
def fact(scope: Scope) -> Fact:
    return make_fact(scope, created_at=NOW)


@pytest.mark.parametrize(
    ("values", "constraint"),
    [
        ({"expires_at": NOW + LIFETIME + timedelta(microseconds=1)}, "fact_expiry_at_most_180_days"),
        ({"created_at": NOW - timedelta(seconds=1)}, "fact_expiry_at_most_180_days"),
        ({"status": "approved"}, "fact_status"),
        ({"memory_type": "secret"}, "fact_memory_type"),
        ({"confidence": 1.01}, "fact_confidence"),
        ({"confidence": -0.01}, "fact_confidence"),
        ({"confidence": float("nan")}, "fact_confidence"),
        ({"confidence": float("inf")}, "fact_confidence"),
        ({"source_ids": [uuid.UUID(int=number) for number in range(6)]}, "fact_sources_at_most_5"),
        ({"status": "deleted"}, "fact_tombstone_has_time"),
        ({"deleted_at": NOW}, "fact_tombstone_has_time"),
        ({"status": "superseded"}, "fact_superseded_has_time"),
    ],
)
def test_f03_the_database_refuses_a_broken_row(fact: Fact, values: dict[str, object], constraint: str) -> None:
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        Fact.objects.filter(pk=fact.pk).update(**values)


@pytest.mark.parametrize(
    "values",
    [
        {"expires_at": NOW + LIFETIME},
        {"expires_at": NOW - timedelta(days=1)},
        {"confidence": 0.0},
        {"confidence": 1.0},
        {"source_ids": []},
        {"source_ids": [uuid.UUID(int=number) for number in range(5)]},
        {"status": "deleted", "deleted_at": NOW},
        {"status": "superseded", "superseded_at": NOW},
    ],
)
def test_f03_the_database_accepts_the_limits(fact: Fact, values: dict[str, object]) -> None:
    assert Fact.objects.filter(pk=fact.pk).update(**values) == 1


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/New_York"])
@pytest.mark.parametrize("month", [2, 8])
def test_f05_180_days_are_180_times_24_hours_whatever_the_clocks_do(scope: Scope, zone: str, month: int) -> None:
    """A restore may run on a server whose own time zone changes its clocks within these days."""
    created_at = datetime(2026, month, 1, 12, tzinfo=UTC)
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('timezone', %s, true)", [zone])
    make_fact(scope, created_at=created_at, expires_at=created_at + 180 * timedelta(hours=24))
    with pytest.raises(IntegrityError, match="fact_expiry_at_most_180_days"), transaction.atomic():
        make_fact(scope, key="x", created_at=created_at, expires_at=created_at + timedelta(days=180, microseconds=1))


@pytest.mark.parametrize("status", ["active", "pending", "conflict"])
def test_f06_a_live_fact_is_unique_whatever_its_status(scope: Scope, fact: Fact, status: str) -> None:
    with pytest.raises(IntegrityError, match="fact_live_once"), transaction.atomic():
        make_fact(scope, status=status)
    make_fact(scope, status=status, key="other")
    make_fact(scope, status=status, body="Lives in Faro.")
    make_fact(scope, status=status, memory_type="semantic")


@pytest.mark.parametrize("status", ["deleted", "superseded"])
def test_f06_dead_rows_hold_no_slot(scope: Scope, fact: Fact, status: str) -> None:
    for _ in range(2):
        make_fact(scope, status=status)
    with pytest.raises(IntegrityError, match="fact_live_once"), transaction.atomic():
        Fact.objects.exclude(pk=fact.pk).update(status="active", deleted_at=None)


def test_f06_the_same_hashes_in_another_scope_are_no_clash(scope: Scope, fact: Fact, colleague: User) -> None:
    fact.pk, fact.user_id = uuid.uuid4(), colleague.pk
    fact.save(force_insert=True)


# --- F04 --------------------------------------------------------------------------------------------------------------


def whole_database() -> str:
    """Return every row of every table as text, bytes in hexadecimal."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public'")
        tables = [name for (name,) in cursor.fetchall()]
        rows: list[str] = []
        for table in tables:
            cursor.execute(f"SELECT row_to_json(t)::text FROM {table} t")
            rows += [row for (row,) in cursor.fetchall()]
    return "\n".join(rows).casefold()


def traces(text: str) -> set[str]:
    """Return the forms in which a text could lie in a database: plain, encoded, or under a hash without a key."""
    found: set[str] = set()
    for spelling in {text, " ".join(text.split()), text.casefold(), text.strip()}:
        raw = spelling.encode()
        found |= {spelling, raw.hex(), base64.b64encode(raw).decode()}
        for name in ("md5", "sha1", "sha256", "sha512", "blake2b"):
            digest = hashlib.new(name, raw).digest()
            found |= {digest.hex(), base64.b64encode(digest).decode()}
    return {trace.casefold() for trace in found}


def test_f04_nothing_in_the_database_holds_a_fact_or_an_unkeyed_hash_of_it(
    consented: Scope, owner: User, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = {
        "key": "quokka.sanctuary",
        "first": "Feeds the quokka Marzipan on Thursdays.",
        "other": "Feeds the wombat Nougat on Fridays.",
        "edited": "Feeds the numbat Praline on Sundays.",
    }
    record_facts(consented, candidate(texts["key"], texts["first"]))
    record_facts(consented, candidate(texts["key"], texts["other"]))  # a conflict
    record_facts(consented, candidate(texts["key"], texts["other"]))  # a duplicate
    first = Fact.objects.get(status="active")
    edit_fact(scope=consented, fact_id=first.pk, body=texts["edited"], actor=owner, now=timezone.now())
    delete_fact(scope=consented, fact_id=Fact.objects.get(status="conflict").pk, actor=owner, now=timezone.now())
    dump = whole_database()
    assert str(first.pk) in dump  # the dump is worth looking at
    assert "fact.edit" in dump
    printed = capsys.readouterr()
    shown = (caplog.text + printed.out + printed.err).casefold()
    for text in texts.values():
        for trace in traces(text):
            assert trace not in dump
            assert trace not in shown
    for word in ("quokka", "marzipan", "wombat", "nougat", "numbat", "praline"):
        assert word not in dump
        assert word.encode().hex() not in dump


@pytest.mark.parametrize("column", ["id", "user", "organization", "agent", "memory_type", "dek_version"])
def test_f04_ciphertext_moved_to_another_row_does_not_open(
    scope: Scope, fact: Fact, colleague: User, stranger: User, column: str
) -> None:
    """Done in SQL, as somebody who can write to the database could."""
    from encryption.envelope import BadRecord
    from facts.sealing import scope_keys, scope_keys_for_writing

    home = scope_keys(scope)
    assert home.open(fact.pk, "profile", bytes(fact.sealed)).body == "Lives in Porto."
    foreign = {
        "user": Scope(scope.organization_id, colleague.pk, scope.agent_id),
        "agent": Scope(scope.organization_id, scope.user_id, colleague.pk),
        "organization": Scope(_organization_of(stranger), scope.user_id, scope.agent_id),
    }.get(column, scope)
    row_id = uuid.uuid4() if column == "id" else fact.pk
    row_type = "semantic" if column == "memory_type" else "profile"
    sealed = bytearray(fact.sealed)
    if column == "dek_version":
        sealed[6] ^= 3
    with pytest.raises(BadRecord):
        scope_keys_for_writing(foreign).open(row_id, row_type, bytes(sealed))


def _organization_of(user: User) -> uuid.UUID:
    from accounts.models import Membership

    return Membership.objects.get(user=user).organization_id
