"""The keys of an organization are made once, kept for a minute, and never replaced by new ones."""

import json
import uuid
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings

from accounts.models import Organization
from encryption import services
from encryption.envelope import BadRecord, new_key
from encryption.keys import check_value
from encryption.models import OrganizationKey
from encryption.services import (
    KEEP_SECONDS,
    KeyUnavailable,
    ScopeKeys,
    ensure_organization_keys,
    forget_keys,
    organization_keys,
)
from tests.factories import make_organization
from tests.threads import together

pytestmark = pytest.mark.django_db
ROW = uuid.UUID(int=4)


def ring(**keys: str) -> str:
    """Return a keyring of these ids, each with a key given as base64; the first is primary."""
    import base64

    entries = {name: {"key": key, "check": check_value(base64.b64decode(key))} for name, key in keys.items()}
    return json.dumps({"primary": next(iter(keys)), "keys": entries})


OTHER_KEY = "//79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA="


def refusal(organization_id: uuid.UUID) -> KeyUnavailable:
    forget_keys()
    with pytest.raises(KeyUnavailable) as refused:
        organization_keys(organization_id)
    return refused.value


def test_keys_are_made_at_the_first_seal_one_of_each_purpose(organization: Organization) -> None:
    assert refusal(organization.pk).code == "no_keys"
    made = ensure_organization_keys(organization.pk)
    rows = OrganizationKey.objects.filter(organization=organization)
    assert sorted(rows.values_list("purpose", "version", "state", "kek_id")) == [
        ("dek", 1, "active", "kek-test"),
        ("hash", 1, "active", "kek-test"),
    ]
    assert made.hash_key != made.deks[1]
    for row in rows:
        assert made.hash_key not in bytes(row.wrapped)
        assert made.deks[1] not in bytes(row.wrapped)
    forget_keys()
    assert ensure_organization_keys(organization.pk) == made


def test_two_organizations_have_different_keys(organization: Organization) -> None:
    one, other = (ensure_organization_keys(o.pk) for o in (organization, make_organization("other")))
    assert {one.hash_key, one.deks[1]}.isdisjoint({other.hash_key, other.deks[1]})


def test_the_wrapped_key_of_another_organization_or_purpose_does_not_open(organization: Organization) -> None:
    other = make_organization("other")
    for one in (organization, other):
        ensure_organization_keys(one.pk)
    rows = OrganizationKey.objects.filter(organization=organization)
    foreign = OrganizationKey.objects.get(organization=other, purpose="dek").wrapped
    rows.filter(purpose="dek").update(wrapped=foreign)
    assert refusal(organization.pk).code == "wrong_kek"
    rows.filter(purpose="dek").update(wrapped=rows.get(purpose="hash").wrapped)
    assert refusal(organization.pk).code == "wrong_kek"


@pytest.mark.django_db(transaction=True)
def test_keys_are_made_once_when_many_seal_first_at_the_same_time(organization: Organization) -> None:
    def first_seal() -> bytes:
        forget_keys()
        return ensure_organization_keys(organization.pk).deks[1]

    assert len(set(together(*[first_seal] * 6))) == 1
    assert OrganizationKey.objects.filter(organization=organization).count() == 2


@pytest.mark.django_db(transaction=True)
def test_keys_are_never_made_inside_a_callers_transaction(organization: Organization) -> None:
    """A rollback would take back keys that the process already keeps and seals with."""
    with pytest.raises(RuntimeError, match="durable"), transaction.atomic():
        ensure_organization_keys(organization.pk)
    assert not OrganizationKey.objects.exists()
    assert refusal(organization.pk).code == "no_keys"


@pytest.mark.django_db(transaction=True)
def test_kept_keys_are_those_of_the_database_after_a_callers_rollback(organization: Organization) -> None:
    made = ensure_organization_keys(organization.pk)
    forget_keys()
    with transaction.atomic():
        ensure_organization_keys(organization.pk)
        transaction.set_rollback(True)
    assert organization_keys(organization.pk) == made
    forget_keys()
    assert organization_keys(organization.pk) == made


def test_an_unknown_kek_makes_the_keys_unavailable(organization: Organization, settings: Settings) -> None:
    ensure_organization_keys(organization.pk)
    settings.KEYRING_JSON = ring(other=OTHER_KEY)
    error = refusal(organization.pk)
    assert (error.code, error.kek_id, error.organization_id) == ("unknown_kek", "kek-test", organization.pk)
    with pytest.raises(KeyUnavailable, match="unknown_kek"):
        ensure_organization_keys(organization.pk)
    assert OrganizationKey.objects.count() == 2


def test_a_wrong_kek_makes_the_keys_unavailable(organization: Organization, settings: Settings) -> None:
    ensure_organization_keys(organization.pk)
    settings.KEYRING_JSON = ring(**{"kek-test": OTHER_KEY})
    assert refusal(organization.pk).code == "wrong_kek"


@pytest.mark.parametrize(("text", "code"), [("{}", "keyring_malformed"), ("", "keyring_missing")])
def test_a_keyring_that_cannot_be_used_makes_the_keys_unavailable(
    organization: Organization, settings: Settings, tmp_path: Path, text: str, code: str
) -> None:
    ensure_organization_keys(organization.pk)
    settings.KEYRING_JSON, settings.KEYRING_FILE = text, tmp_path / "absent"
    assert refusal(organization.pk).code == code
    with pytest.raises(KeyUnavailable, match=code):
        ensure_organization_keys(make_organization("new").pk)
    assert OrganizationKey.objects.count() == 2


def test_keys_are_kept_for_a_minute_and_no_longer(
    organization: Organization, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    clock = SimpleNamespace(now=1_000.0)
    monkeypatch.setattr(services, "time", SimpleNamespace(monotonic=lambda: clock.now))
    ensure_organization_keys(organization.pk)
    clock.now += KEEP_SECONDS - 1
    with django_assert_num_queries(0):
        organization_keys(organization.pk)
    clock.now += 1
    with django_assert_num_queries(1):
        organization_keys(organization.pk)
    assert KEEP_SECONDS <= 60


def test_forgetting_one_organizations_keys_keeps_the_others(
    organization: Organization, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    other = make_organization("other")
    for one in (organization, other):
        ensure_organization_keys(one.pk)
    forget_keys(organization.pk)
    with django_assert_num_queries(0):
        organization_keys(other.pk)
    with django_assert_num_queries(1):
        organization_keys(organization.pk)


def test_destroyed_keys_open_nothing_and_are_not_replaced(organization: Organization) -> None:
    ensure_organization_keys(organization.pk)
    OrganizationKey.objects.update(state="destroyed", wrapped=b"", destroyed_at=timezone.now())
    assert refusal(organization.pk).code == "no_keys"
    with pytest.raises(KeyUnavailable, match="no_keys"):
        ensure_organization_keys(organization.pk)
    assert set(OrganizationKey.objects.values_list("state", flat=True)) == {"destroyed"}
    assert OrganizationKey.objects.count() == 2


def test_a_deleted_or_absent_organization_gets_no_keys(organization: Organization) -> None:
    Organization.objects.filter(pk=organization.pk).update(deleted_at=timezone.now() - timedelta(days=1))
    for organization_id in (organization.pk, uuid.UUID(int=7)):
        with pytest.raises(KeyUnavailable, match="no_organization"):
            ensure_organization_keys(organization_id)
    assert not OrganizationKey.objects.exists()


def test_an_older_key_still_opens_and_the_active_one_seals(organization: Organization) -> None:
    scope = (organization.pk, uuid.UUID(int=1), uuid.UUID(int=2))
    before = ScopeKeys(ensure_organization_keys(organization.pk), purpose="fact", scope=scope)
    old = before.seal(ROW, "profile", "home.city", "Lives in Porto.")
    second = new_key()
    OrganizationKey.objects.filter(purpose="dek").update(state="decrypt_only")
    source = services.key_source(organization.pk)
    OrganizationKey.objects.create(
        organization=organization,
        purpose="dek",
        version=2,
        kek_id="kek-test",
        wrapped=source.wrap(second, services._associated(organization.pk, "dek", 2, "kek-test")),
    )
    forget_keys()
    after = ScopeKeys(organization_keys(organization.pk), purpose="fact", scope=scope)
    assert after.active_version == 2
    assert after.open(ROW, "profile", old).body == "Lives in Porto."
    new = after.seal(ROW, "profile", "home.city", "Lives in Faro.")
    with pytest.raises(BadRecord, match="wrong_key"):
        before.open(ROW, "profile", new)
    assert before.keyed_hash(b"x") == after.keyed_hash(b"x")


def test_a_keyed_hash_matches_within_one_scope_and_purpose_only(organization: Organization) -> None:
    keys, user, agent = ensure_organization_keys(organization.pk), uuid.UUID(int=1), uuid.UUID(int=2)
    places = [
        ScopeKeys(keys, purpose=purpose, scope=scope).keyed_hash(b"key", b"home.city")
        for purpose, scope in (
            ("fact", (organization.pk, user, agent)),
            ("fact", (organization.pk, agent, user)),
            ("fact", (organization.pk, user, user)),
            ("preference", (organization.pk, user, agent)),
        )
    ]
    assert len(set(places)) == len(places)


@pytest.mark.parametrize(
    "second", [{"version": 2}, {"version": 1, "state": "decrypt_only"}, {"purpose": "kek"}, {"state": "lost"}]
)
def test_the_database_keeps_one_active_key_of_each_purpose(
    organization: Organization, second: dict[str, object]
) -> None:
    ensure_organization_keys(organization.pk)
    values = {"purpose": "dek", "version": 3, "kek_id": "kek-test", "wrapped": b"x"} | second
    with pytest.raises(IntegrityError), transaction.atomic():
        OrganizationKey.objects.create(organization=organization, **values)


def test_no_repr_shows_a_key(organization: Organization) -> None:
    keys = ensure_organization_keys(organization.pk)
    for secret in (keys.hash_key, keys.deks[1]):
        assert repr(secret) not in repr(keys)
        assert secret.hex() not in repr(keys)
