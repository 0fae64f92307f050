"""Destroyed keys stay destroyed: the ledger outlives a restore and is replayed as often as one likes."""

import json
import os
import subprocess
import sys
import uuid
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from accounts.models import Organization
from consent.scope import Scope
from encryption import erasure, ledger
from encryption.erasure import destroy_organization_keys
from encryption.models import OrganizationKey
from encryption.services import KeyUnavailable, ensure_organization_keys, forget_keys, organization_keys
from facts.services import delete_fact, list_facts
from tests.factories import make_fact, make_organization

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)


@pytest.fixture
def ledger_file(tmp_path: Path, settings: Any) -> Path:
    settings.ERASURE_LEDGER = tmp_path / "kept apart" / "erasures.jsonl"
    return Path(settings.ERASURE_LEDGER)


def replay(*arguments: str) -> str:
    call_command("memory_replay_erasures", *arguments, stdout=(out := StringIO()))
    return out.getvalue()


def rows_of(organization: Organization) -> list[OrganizationKey]:
    return list(OrganizationKey.objects.filter(organization=organization).order_by("pk"))


@pytest.mark.django_db
def test_destroyed_keys_are_overwritten_recorded_and_never_made_again(
    ledger_file: Path, organization: Organization
) -> None:
    ensure_organization_keys(organization.pk)
    assert destroy_organization_keys(organization_id=organization.pk, now=NOW) == 2
    for row in OrganizationKey.objects.all():
        assert (bytes(row.wrapped), row.state, row.destroyed_at) == (b"", "destroyed", NOW)
    for ask in (organization_keys, ensure_organization_keys):  # this process kept them until now
        with pytest.raises(KeyUnavailable, match="no_keys"):
            ask(organization.pk)
    entries, unreadable = ledger.read(ledger_file)
    assert unreadable == 0
    assert [(entry.kind, entry.subjects, entry.at) for entry in entries] == [
        ("organization_keys", {"organization": organization.pk}, NOW)
    ]
    assert destroy_organization_keys(organization_id=organization.pk, now=NOW) == 0
    assert len(ledger.read(ledger_file)[0]) == 1


@pytest.mark.django_db
def test_facts_of_destroyed_keys_cannot_be_read_and_can_be_deleted(
    ledger_file: Path, consented: Scope, owner: Any
) -> None:
    fact = make_fact(consented)
    destroy_organization_keys(organization_id=consented.organization_id, now=NOW)
    assert [row.opened for row in list_facts(consented, now=timezone.now())] == [None]
    delete_fact(scope=consented, fact_id=fact.pk, actor=owner, now=timezone.now())


@pytest.mark.django_db
def test_an_organization_that_never_sealed_anything_gets_no_keys_after_its_erasure(
    ledger_file: Path, organization: Organization
) -> None:
    assert destroy_organization_keys(organization_id=organization.pk, now=NOW) == 0
    with pytest.raises(KeyUnavailable, match="no_keys"):
        ensure_organization_keys(organization.pk)
    assert not ledger_file.exists()


@pytest.mark.django_db(transaction=True)
def test_nothing_is_destroyed_when_the_ledger_cannot_be_written(ledger_file: Path, organization: Organization) -> None:
    ensure_organization_keys(organization.pk)
    ledger_file.mkdir(parents=True)
    with pytest.raises(ledger.LedgerError, match="cannot be written"):
        destroy_organization_keys(organization_id=organization.pk, now=NOW)
    assert set(OrganizationKey.objects.values_list("state", flat=True)) == {"active"}
    forget_keys()
    organization_keys(organization.pk)


@pytest.mark.django_db(transaction=True)
def test_the_ledger_is_on_disk_before_the_keys_are_gone(
    ledger_file: Path, organization: Organization, monkeypatch: pytest.MonkeyPatch
) -> None:
    ensure_organization_keys(organization.pk)

    def append_and_crash(*args: Any, **named: Any) -> None:
        ledger.append(*args, **named)
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(erasure, "ledger", type("Crashing", (), {"append": staticmethod(append_and_crash)}))
        with pytest.raises(ZeroDivisionError):
            destroy_organization_keys(organization_id=organization.pk, now=NOW)
    assert len(ledger.read(ledger_file)[0]) == 1
    assert set(OrganizationKey.objects.values_list("state", flat=True)) == {"active"}
    assert destroy_organization_keys(organization_id=organization.pk, now=NOW) == 2  # the retry


@pytest.mark.django_db
def test_what_a_restore_brings_back_is_destroyed_again_as_often_as_one_likes(
    ledger_file: Path, organization: Organization
) -> None:
    other = make_organization("other")
    for one in (organization, other):
        ensure_organization_keys(one.pk)
    backup = rows_of(organization)
    destroy_organization_keys(organization_id=organization.pk, now=NOW)
    OrganizationKey.objects.filter(organization=organization).delete()
    OrganizationKey.objects.bulk_create(backup)
    forget_keys()
    organization_keys(organization.pk)  # the restore did bring them back
    assert "Applied: organization_keys 1. Already gone: none." in replay()
    with pytest.raises(KeyUnavailable, match="no_keys"):
        ensure_organization_keys(organization.pk)
    assert "Applied: none. Already gone: organization_keys 1." in replay()
    organization_keys(other.pk)
    assert len(ledger.read(ledger_file)[0]) == 1  # a replay records nothing


@pytest.mark.django_db
def test_a_replay_survives_a_backup_from_before_the_first_key_and_one_without_the_organization(
    ledger_file: Path, organization: Organization
) -> None:
    for organization_id in (organization.pk, uuid.uuid4()):
        ledger.append(ledger_file, "organization_keys", NOW, organization=organization_id)
    assert "Already gone: organization_keys 2." in replay()
    with pytest.raises(KeyUnavailable, match="no_keys"):
        ensure_organization_keys(organization.pk)


@pytest.mark.django_db
def test_a_replay_says_what_it_cannot_apply(ledger_file: Path, organization: Organization) -> None:
    ensure_organization_keys(organization.pk)
    ledger.append(ledger_file, "organization_keys", NOW, organization=organization.pk)
    ledger_file.write_bytes(ledger_file.read_bytes() + b'{"id": "cut off')
    entry = ledger.Entry(uuid.uuid4(), "of a later version", {}, NOW)
    with ledger_file.open("ab") as file:
        file.write(b"\n" + entry.line())
    with pytest.raises(CommandError, match=r"of a later version 1; lines that cannot be read: 1"):
        replay()
    assert set(OrganizationKey.objects.values_list("state", flat=True)) == {"destroyed"}


DEEP = b"[" * 200_000
LATE = b'{"id":"%s","kind":"memory","subjects":{"user":"%s"},"at":"9999-12-31T23:59:59-23:59"}'
EARLY = b'{"id":"%s","kind":"memory","subjects":{"user":"%s"},"at":"0001-01-01T00:00:00+23:59"}'


@pytest.mark.django_db
@pytest.mark.parametrize("line", [DEEP, LATE, EARLY], ids=["deep", "late", "early"])
def test_a_line_that_no_machine_wrote_keeps_no_other_from_its_erasure(
    ledger_file: Path, organization: Organization, line: bytes
) -> None:
    ensure_organization_keys(organization.pk)
    ledger.append(ledger_file, "organization_keys", NOW, organization=organization.pk)
    ids = (str(uuid.uuid4()).encode(), str(uuid.uuid4()).encode())
    ledger_file.write_bytes((line % ids if b"%s" in line else line) + b"\n" + ledger_file.read_bytes())
    with pytest.raises(CommandError, match="lines that cannot be read: 1"):
        replay()
    assert set(OrganizationKey.objects.values_list("state", flat=True)) == {"destroyed"}


@pytest.mark.django_db
def test_a_replay_without_a_ledger_is_an_error_and_another_file_can_be_named(
    ledger_file: Path, tmp_path: Path, organization: Organization
) -> None:
    with pytest.raises(CommandError, match="no erasure ledger"):
        replay()
    ensure_organization_keys(organization.pk)
    elsewhere = tmp_path / "elsewhere.jsonl"
    ledger.append(elsewhere, "organization_keys", NOW, organization=organization.pk)
    assert "Applied: organization_keys 1" in replay("--ledger", str(elsewhere))
    assert connection.vendor == "postgresql"


def test_a_line_that_a_crash_cut_off_swallows_no_other(tmp_path: Path) -> None:
    file, subject = tmp_path / "ledger", uuid.uuid4()
    first = ledger.append(file, "organization_keys", NOW, organization=subject)
    with file.open("ab") as opened:
        opened.write(b'{"id": "half a li')
    second = ledger.append(file, "organization_keys", NOW, organization=subject)
    assert ledger.read(file) == ([first, second], 1)
    assert file.stat().st_mode & 0o777 == 0o600


def test_the_ledger_holds_ids_kind_and_time_alone(tmp_path: Path) -> None:
    file, subject = tmp_path / "ledger", uuid.uuid4()
    entry = ledger.append(file, "organization_keys", NOW, organization=subject)
    assert json.loads(file.read_text()) == {
        "id": str(entry.id),
        "kind": "organization_keys",
        "subjects": {"organization": str(subject)},
        "at": "2026-05-04T12:00:00+00:00",
    }
    with pytest.raises(ValueError, match="known kind"):
        ledger.append(file, "something", NOW)
    with pytest.raises(ValueError, match="aware"):
        ledger.append(file, "user", NOW.replace(tzinfo=None), user=subject)


def test_concatenated_ledgers_name_each_erasure_once_and_oldest_first(tmp_path: Path) -> None:
    later = ledger.append(tmp_path / "a", "organization_keys", NOW.replace(year=2027), organization=uuid.uuid4())
    earlier = ledger.append(tmp_path / "b", "organization_keys", NOW, organization=uuid.uuid4())
    both = tmp_path / "both"
    both.write_bytes((tmp_path / "a").read_bytes() * 2 + (tmp_path / "b").read_bytes())
    assert ledger.read(both) == ([earlier, later], 0)


APPEND = """
import sys, uuid
from datetime import UTC, datetime
from pathlib import Path
from encryption.ledger import append
for _ in range(50):
    append(Path(sys.argv[1]), "organization_keys", datetime.now(UTC), organization=uuid.uuid4())
"""


@pytest.mark.processes
def test_several_processes_append_whole_lines(tmp_path: Path) -> None:
    file = tmp_path / "ledger"
    root = Path(__file__).parents[2]
    running = [subprocess.Popen([sys.executable, "-c", APPEND, str(file)], cwd=root) for _ in range(3)]
    assert [process.wait(timeout=60) for process in running] == [0, 0, 0]
    entries, unreadable = ledger.read(file)
    assert (len(entries), unreadable) == (150, 0)


def test_erasure_reaches_no_code_that_decrypts() -> None:
    code = (
        "import os, sys, django; os.environ['DJANGO_SETTINGS_MODULE'] = 'memoryproject.settings'; "
        "from django.conf import settings; settings.configure(INSTALLED_APPS=['django.contrib.auth', "
        "'django.contrib.contenttypes', 'accounts', 'encryption'], AUTH_USER_MODEL='accounts.User', "
        "ERASURE_LEDGER='x', KEYRING_JSON='', KEYRING_FILE=None); django.setup(); import encryption.erasure; "
        "assert not {'encryption.envelope', 'encryption.services', 'cryptography'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], env=os.environ, check=False)
    assert done.returncode == 0
