"""KEKs are rotated by rewrapping in compare-and-swap, data keys by a new version; nothing readable is ever lost."""

import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Organization
from encryption import keyfile, rotation
from encryption.keys import load_keyring, new_keyring_json
from encryption.models import OrganizationKey
from encryption.services import (
    KeyUnavailable,
    OrganizationKeys,
    ensure_organization_keys,
    forget_keys,
    newer_keys,
    organization_keys,
    unwrap_row,
)
from tests.factories import make_organization
from tests.threads import together

pytestmark = pytest.mark.django_db


@pytest.fixture
def ring_file(tmp_path: Path, settings: Any) -> Path:
    """A keyring file instead of the environment's keyring."""
    file = tmp_path / "keyring.json"
    keyfile.write_private(file, new_keyring_json())
    settings.KEYRING_JSON, settings.KEYRING_FILE = "", file
    return file


def primary(ring_file: Path) -> str:
    return load_keyring(json_text="", file=ring_file).primary_id


def fresh(organization: Organization) -> OrganizationKeys:
    """The keys as another process reads them."""
    forget_keys()
    return organization_keys(organization.pk)


def dek_states() -> list[tuple[int, str]]:
    return list(OrganizationKey.objects.filter(purpose="dek").order_by("version").values_list("version", "state"))


def test_a_kek_is_rotated_without_a_moment_in_which_keys_do_not_open(ring_file: Path) -> None:
    organizations = [make_organization(f"org-{number}") for number in range(3)]
    made = [ensure_organization_keys(one.pk) for one in organizations]
    old, new = primary(ring_file), keyfile.add_kek(ring_file)

    def all_open() -> bool:
        return [fresh(one) for one in organizations] == made

    assert all_open()
    assert rotation.rewrap().done == 0  # added, and not primary yet
    keyfile.make_primary(ring_file, new)
    assert all_open()
    assert rotation.wrapped_under(old) == 6
    steps: list[int] = []
    outcome = rotation.rewrap(step=steps.append)
    assert (outcome.done, outcome.left, sum(steps)) == (6, 0, 6)
    assert all_open()
    assert rotation.wrapped_under(old) == 0
    keyfile.remove_kek(ring_file, old)
    assert all_open()
    assert rotation.verify_keys().opened == 6
    assert rotation.rewrap().done == 0


def test_a_rewrap_that_was_killed_is_ended_by_the_next_one(ring_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        ensure_organization_keys(make_organization(f"org-{number}").pk)
    keyfile.make_primary(ring_file, keyfile.add_kek(ring_file))
    monkeypatch.setattr(rotation, "BATCH", 2)

    def killed(_: int) -> None:
        if rotation.to_rewrap().count() == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rotation.rewrap(step=killed)
    assert rotation.to_rewrap().count() == 3
    assert rotation.rewrap().done == 3
    assert rotation.verify_keys().failed.total() == 0


def test_a_key_that_another_process_changed_meanwhile_is_left_as_it_is(
    ring_file: Path, organization: Organization, monkeypatch: pytest.MonkeyPatch
) -> None:
    ensure_organization_keys(organization.pk)
    keyfile.make_primary(ring_file, keyfile.add_kek(ring_file))

    def destroyed_meanwhile(source: Any, row: OrganizationKey) -> bytes:
        key = unwrap_row(source, row)
        OrganizationKey.objects.filter(pk=row.pk).update(wrapped=b"", state="destroyed")
        return key

    monkeypatch.setattr(rotation, "unwrap_row", destroyed_meanwhile)
    outcome = rotation.rewrap()
    assert (outcome.done, outcome.left) == (0, 0)
    assert {bytes(row.wrapped) for row in OrganizationKey.objects.all()} == {b""}


def test_a_key_that_does_not_open_is_counted_and_the_others_are_rewrapped(ring_file: Path) -> None:
    for slug in ("good", "bad"):
        ensure_organization_keys(make_organization(slug).pk)
    OrganizationKey.objects.filter(organization__slug="bad", purpose="hash").update(wrapped=b"x" * 60)
    keyfile.make_primary(ring_file, keyfile.add_kek(ring_file))
    outcome = rotation.rewrap()
    assert (outcome.done, outcome.left, dict(outcome.failed)) == (3, 1, {"wrong_kek": 1})
    checked = rotation.verify_keys()
    assert (checked.opened, dict(checked.failed)) == (3, {"wrong_kek": 1})


def test_the_status_shows_each_kek_with_what_it_wraps_and_no_key(ring_file: Path, organization: Organization) -> None:
    ensure_organization_keys(organization.pk)
    old, new = primary(ring_file), keyfile.add_kek(ring_file)
    OrganizationKey.objects.create(
        organization=organization, purpose="dek", version=2, kek_id="lost", state="decrypt_only", wrapped=b"x"
    )
    found = {kek.id: (kek.check, kek.primary, kek.known, kek.wraps) for kek in rotation.keks()}
    assert found == {
        old: (old.removeprefix("kek-"), True, True, 2),
        new: (new.removeprefix("kek-"), False, True, 0),
        "lost": ("", False, False, 1),
    }


def test_a_new_data_key_seals_and_the_former_one_still_opens(organization: Organization) -> None:
    before = ensure_organization_keys(organization.pk)
    assert rotation.new_dek(organization.pk, after=1).version == 2
    after = organization_keys(organization.pk)  # this process forgot what it kept
    assert (after.active_version, set(after.deks)) == (2, {1, 2})
    assert (after.deks[1], after.hash_key) == (before.deks[1], before.hash_key)
    assert dek_states() == [(1, "decrypt_only"), (2, "active")]


@pytest.mark.django_db(transaction=True)
def test_rotations_at_the_same_time_make_one_new_key(organization: Organization) -> None:
    ensure_organization_keys(organization.pk)
    made = together(*[lambda: rotation.new_dek(organization.pk, after=1).version] * 5)
    assert made == [2] * 5
    assert dek_states() == [(1, "decrypt_only"), (2, "active")]


def test_no_data_key_is_made_for_an_organization_that_is_gone_or_has_none(organization: Organization) -> None:
    with pytest.raises(KeyUnavailable, match="no_keys"):
        rotation.active_dek(organization.pk)
    ensure_organization_keys(organization.pk)
    Organization.objects.update(deleted_at=timezone.now())
    with pytest.raises(KeyUnavailable, match="no_organization"):
        rotation.new_dek(organization.pk, after=1)


def test_keys_of_a_newer_version_are_fetched_when_a_record_names_one(organization: Organization) -> None:
    ensure_organization_keys(organization.pk)
    kept = organization_keys(organization.pk)
    assert newer_keys(organization.pk, 2) is None
    assert organization_keys(organization.pk) is kept  # a version that is nowhere costs no unwrapping
    rotation.new_dek(organization.pk, after=1)
    found = newer_keys(organization.pk, 2)
    assert found is not None
    assert found.active_version == 2


def test_old_data_keys_are_retired_when_nothing_uses_them_and_nobody_can_hold_them(organization: Organization) -> None:
    ensure_organization_keys(organization.pk)
    for version in (1, 2):
        rotation.new_dek(organization.pk, after=version)
    now = timezone.now()
    with pytest.raises(rotation.TooEarly):
        rotation.retire_deks(organization.pk, in_use=[], now=now)
    later = now + rotation.RETIRE_AFTER
    assert rotation.retire_deks(organization.pk, in_use=[2, 3], now=later) == [1]
    assert dek_states() == [(1, "destroyed"), (2, "decrypt_only"), (3, "active")]
    assert bytes(OrganizationKey.objects.get(version=1, purpose="dek").wrapped) == b""
    assert set(organization_keys(organization.pk).deks) == {2, 3}
    assert rotation.retire_deks(organization.pk, in_use=[], now=later) == [2]
    assert rotation.retire_deks(organization.pk, in_use=[], now=later) == []
    assert timedelta(minutes=10) <= rotation.RETIRE_AFTER
    assert newer_keys(organization.pk, 1) is None
    assert newer_keys(uuid.uuid4(), 1) is None
