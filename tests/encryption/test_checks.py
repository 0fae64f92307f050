"""`manage.py check` fails on a keyring that cannot be used or that does not open what is there."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import DatabaseError
from django.utils import timezone

from accounts.models import Organization
from encryption import apps, rotation
from encryption.apps import check_keyring
from encryption.keyfile import write_private
from encryption.keys import new_keyring_json
from encryption.models import OrganizationKey
from encryption.services import ensure_organization_keys
from lifecycle import health


def ids() -> list[str]:
    return [str(error.id) for error in check_keyring()]


@pytest.fixture
def ring_file(tmp_path: Path, settings: Any) -> Path:
    file = tmp_path / "keyring.json"
    write_private(file, new_keyring_json())
    settings.KEYRING_JSON, settings.KEYRING_FILE = "", file
    return file


@pytest.mark.django_db
def test_a_keyring_that_opens_what_is_there_passes(organization: Organization, ring_file: Path) -> None:
    assert ids() == []
    ensure_organization_keys(organization.pk)
    assert ids() == []


@pytest.mark.django_db
def test_keys_without_their_kek_are_an_error_that_says_how_many(organization: Organization, ring_file: Path) -> None:
    ensure_organization_keys(organization.pk)
    write_private(ring_file, new_keyring_json())
    (error,) = check_keyring()
    assert (error.id, "2 wrapped keys need it" in error.msg) == ("encryption.E_UNKNOWN_KEK", True)
    with pytest.raises(SystemCheckError, match="2 wrapped keys need it"):
        call_command("check")
    OrganizationKey.objects.update(state="destroyed", wrapped=b"", destroyed_at=timezone.now())
    assert ids() == []


@pytest.mark.django_db
def test_another_kek_of_the_same_name_is_an_error(organization: Organization, ring_file: Path) -> None:
    ensure_organization_keys(organization.pk)
    kek_id = json.loads(ring_file.read_text())["primary"]
    other = json.loads(new_keyring_json())
    write_private(ring_file, json.dumps({"primary": kek_id, "keys": {kek_id: other["keys"][other["primary"]]}}))
    (error,) = check_keyring()
    assert (error.id, error.msg.startswith(f"Another key stands in the keyring under the id {kek_id}")) == (
        "encryption.E_WRONG_KEK",
        True,
    )
    (kek,) = rotation.keks()
    assert (kek.known, kek.wrong, kek.wraps) == (True, True, 2)


@pytest.mark.django_db
def test_readiness_reports_a_keyring_that_opens_nothing(organization: Organization, ring_file: Path) -> None:
    ensure_organization_keys(organization.pk)
    assert health.checks()["keyring"] == "ok"
    write_private(ring_file, new_keyring_json())
    assert health.checks()["keyring"].startswith("does not open 2 wrapped keys")


@pytest.mark.django_db
def test_a_deeply_nested_keyring_is_malformed_and_no_fault_of_ours(ring_file: Path) -> None:
    write_private(ring_file, "[" * 200_000)
    assert ids() == ["encryption.E_MALFORMED"]
    assert health.checks()["keyring"] == "malformed"


@pytest.mark.django_db
def test_rows_and_no_keyring_are_an_error(organization: Organization, ring_file: Path) -> None:
    ensure_organization_keys(organization.pk)
    ring_file.unlink()
    assert ids() == ["encryption.E_MISSING"]


@pytest.mark.django_db
def test_a_keyring_that_others_can_read_or_that_is_wrong_is_an_error(ring_file: Path) -> None:
    raw = json.loads(ring_file.read_text())
    ring_file.chmod(0o640)
    assert ids() == ["encryption.E_EXPOSED"]
    ring_file.chmod(0o600)
    for changed, expected in (
        (raw | {"primary": "absent"}, "encryption.E_MALFORMED"),
        (raw | {"keys": {raw["primary"]: raw["keys"][raw["primary"]] | {"check": "0"}}}, "encryption.E_CHECK_FAILED"),
    ):
        write_private(ring_file, json.dumps(changed))
        assert ids() == [expected]


def test_the_check_needs_no_database(ring_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable() -> None:
        raise DatabaseError

    monkeypatch.setattr(OrganizationKey.objects, "exclude", lambda **_: unreachable())
    assert apps.unless_silent(rotation.unopened) == []
    assert ids() == []
