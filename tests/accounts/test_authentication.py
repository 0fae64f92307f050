"""I01, I05: who a password or an API key lets in, and that a wrong one looks the same as an absent one."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.hashers import BasePasswordHasher
from django.test import RequestFactory
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from accounts.authentication import LAST_USED_STEP, ApiKeyAuthentication, EmailBackend, Principal, principal_for
from accounts.models import ApiKey, Membership, Organization, User
from accounts.services import create_api_key, remove_member, revoke_api_key, set_membership
from tests.factories import PASSWORD, make_key, make_user

pytestmark = pytest.mark.django_db
NOW = timezone.now()


def sign_in(email: str | None, password: str | None = PASSWORD) -> User | None:
    return EmailBackend().authenticate(None, username=email, password=password)


def test_i01_the_right_password_signs_in_whatever_the_case_of_the_address(owner: User) -> None:
    for email in (owner.email, owner.email.upper(), f"  {owner.email} "):
        assert sign_in(email) == owner
    assert EmailBackend().authenticate(None, email=owner.email, password=PASSWORD) == owner


@pytest.mark.parametrize(
    ("email", "password"),
    [
        ("ana@acme.example", "wrong"),
        ("ana@acme.example", ""),
        ("ana@acme.example", None),
        ("ana@acme.example", PASSWORD.upper()),
        ("nobody@acme.example", PASSWORD),
        ("ana@acme.example\x00", PASSWORD),
        ("ana%", PASSWORD),
        ("", PASSWORD),
        (None, PASSWORD),
    ],
)
def test_i01_anything_else_does_not(owner: User, email: str | None, password: str | None) -> None:
    assert sign_in(email, password) is None


@pytest.mark.parametrize("change", [{"deleted_at": NOW}, {"is_active": False}])
def test_i01_a_deleted_or_suspended_user_cannot_sign_in_and_is_signed_out(
    owner: User, change: dict[str, object]
) -> None:
    assert EmailBackend().get_user(owner.pk) == owner
    User.objects.filter(pk=owner.pk).update(**change)
    assert sign_in(owner.email) is None
    assert EmailBackend().get_user(owner.pk) is None


def test_i01_after_a_deletion_the_address_signs_the_new_account_in(owner: User) -> None:
    User.objects.filter(pk=owner.pk).update(deleted_at=NOW)
    again = make_user(owner.email)
    assert sign_in(owner.email) == again


def test_i01_an_absent_address_costs_one_hash_too(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    from django.contrib.auth import hashers

    hashed: list[str] = []
    encode: Callable[..., str] = hashers.MD5PasswordHasher.encode

    def counted(self: BasePasswordHasher, password: str, *args: object, **kwargs: object) -> str:
        hashed.append(password)
        return encode(self, password, *args, **kwargs)

    monkeypatch.setattr(hashers.MD5PasswordHasher, "encode", counted)
    counts = []
    for email in ("ana@acme.example", "nobody@acme.example"):
        hashed.clear()
        assert sign_in(email, "wrong") is None
        counts.append(len(hashed))
    assert counts[0] == counts[1] == 1


def test_i05_a_key_names_its_owner_organization_and_memory_switch(organization: Organization, owner: User) -> None:
    for memory_enabled in (True, False):
        secret = make_key(organization, owner, memory_enabled=memory_enabled)
        found = principal_for(secret, now=NOW)
        assert found is not None
        assert (found.user, found.organization_id, found.memory_enabled) == (owner, organization.pk, memory_enabled)
        assert found.key_id == ApiKey.objects.get(prefix=secret[:11]).pk


def test_i05_every_key_that_is_made_opens(organization: Organization, owner: User) -> None:
    """The random part may hold underscores too."""
    secrets = [make_key(organization, owner) for _ in range(30)]
    secrets.append(_key_with(organization, owner, "a_b_" + "c" * 39))
    secrets.append(_key_with(organization, owner, "_" * 43))
    assert all(principal_for(secret, now=NOW) for secret in secrets)


def _key_with(organization: Organization, owner: User, tail: str) -> str:
    from accounts.services import hash_key

    made = create_api_key(organization=organization, user=owner, name="test")
    secret = f"{made.row.prefix}_{tail}"
    ApiKey.objects.filter(pk=made.row.pk).update(key_hash=hash_key(secret))
    return secret


def test_i05_a_wrong_key_opens_nothing(organization: Organization, owner: User) -> None:
    secret, other = make_key(organization, owner), make_key(organization, owner)
    wrong = [
        "",
        "_",
        "__",
        "mp_",
        secret[:-1],
        secret + "x",
        secret.upper(),
        secret[:11],
        secret[:12],
        secret[:12] + other[12:],
        "mp_00000000_" + secret[12:],
        "mp_%_" + secret[12:],
        "x" * 100_000,
        "é" * 55,
    ]
    assert [text for text in wrong if principal_for(text, now=NOW)] == []


def revoked(key: ApiKey) -> None:
    revoke_api_key(key=key, now=NOW)


def expired(key: ApiKey) -> None:
    ApiKey.objects.filter(pk=key.pk).update(expires_at=NOW)


def removed(key: ApiKey) -> None:
    remove_member(organization=key.organization, user=key.user)


def user_deleted(key: ApiKey) -> None:
    User.objects.filter(pk=key.user_id).update(deleted_at=NOW)


def user_suspended(key: ApiKey) -> None:
    User.objects.filter(pk=key.user_id).update(is_active=False)


def organization_deleted(key: ApiKey) -> None:
    Organization.objects.filter(pk=key.organization_id).update(deleted_at=NOW)


@pytest.mark.parametrize(
    "change", [revoked, expired, removed, user_deleted, user_suspended, organization_deleted], ids=lambda c: c.__name__
)
def test_i05_a_key_stops_to_open_at_once(
    organization: Organization, owner: User, change: Callable[[ApiKey], None]
) -> None:
    made = create_api_key(organization=organization, user=owner, name="ci", expires_at=NOW + timedelta(days=1))
    assert principal_for(made.secret, now=NOW) is not None
    change(made.row)
    assert principal_for(made.secret, now=NOW) is None


def test_i05_a_key_works_until_its_expiry_and_again_for_a_member_who_is_back(
    organization: Organization, owner: User
) -> None:
    made = create_api_key(organization=organization, user=owner, name="ci", expires_at=NOW + timedelta(days=1))
    assert principal_for(made.secret, now=NOW + timedelta(hours=23)) is not None
    assert principal_for(made.secret, now=NOW + timedelta(hours=24)) is None
    removed(made.row)
    set_membership(organization=organization, user=owner, role=Membership.Role.MEMBER)
    assert principal_for(made.secret, now=NOW) is not None


def test_i05_a_member_of_another_organization_keeps_no_key_here(organization: Organization, stranger: User) -> None:
    secret = make_key(organization, stranger)  # a key without a membership behind it
    assert principal_for(secret, now=NOW) is None


def test_i05_a_wrong_secret_costs_what_an_absent_key_costs(
    organization: Organization, owner: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    secret = make_key(organization, owner)
    for text in (secret[:12] + "0" * 43, "mp_00000000_" + "0" * 43, "nonsense", ""):
        with django_assert_num_queries(1):
            assert principal_for(text, now=NOW) is None
    assert ApiKey.objects.get().last_used_at is None


def test_i05_last_use_is_noted_at_most_once_a_minute(organization: Organization, owner: User) -> None:
    secret = make_key(organization, owner)
    noted = []
    for later in (timedelta(), LAST_USED_STEP / 2, LAST_USED_STEP * 2):
        principal_for(secret, now=NOW + later)
        noted.append(ApiKey.objects.get().last_used_at)
    assert noted == [NOW, NOW, NOW + LAST_USED_STEP * 2]


def authenticate(header: str | None) -> tuple[User, Principal]:
    headers = {} if header is None else {"Authorization": header}
    request = Request(RequestFactory().get("/v1/models", headers=headers))
    return ApiKeyAuthentication().authenticate(request)


def test_i05_a_key_is_sent_as_a_bearer_token(organization: Organization, owner: User) -> None:
    secret = make_key(organization, owner)
    for header in (f"Bearer {secret}", f"bearer   {secret} "):
        assert authenticate(header) == (owner, principal_for(secret, now=timezone.now()))


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer  ", "Basic {key}", "{key}", "Bearer {key} {key}"])
def test_i05_any_other_header_is_refused(organization: Organization, owner: User, header: str | None) -> None:
    secret = make_key(organization, owner)
    with pytest.raises(AuthenticationFailed):
        authenticate(header and header.format(key=secret))


def test_i05_a_nul_in_a_key_is_a_wrong_key(db: None) -> None:
    with pytest.raises(AuthenticationFailed, match="wrong, expired or revoked"):
        authenticate("Bearer mp_\x00")
