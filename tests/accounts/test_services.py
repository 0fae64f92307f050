"""I01, I02, I05: memberships keep an owner, deleted addresses are free again, keys are shown once."""

import hashlib
from datetime import timedelta
from threading import Event
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import ApiKey, Membership, Organization, User
from accounts.services import (
    LastOwner,
    UnknownTimeZone,
    create_api_key,
    create_organization,
    remove_member,
    revoke_api_key,
    set_membership,
)
from agents.access import agents_for
from agents.models import Agent
from audit.models import AuditEvent
from consent.models import Consent
from consent.scope import Scope
from facts.models import Fact
from screening.text import UnacceptableText
from tests.factories import grant, make_fact, make_member, make_organization, make_user
from tests.threads import together

pytestmark = pytest.mark.django_db
OWNER, ADMIN, MEMBER = "owner", "admin", "member"


def owner_of(organization: Organization, email: str = "olga@acme.example") -> User:
    return make_member(organization, None, email, role=OWNER)


def roles(organization: Organization) -> dict[str, str]:
    return dict(Membership.objects.filter(organization=organization).values_list("user__email", "role"))


def test_i02_the_last_owner_cannot_be_removed_or_demoted(organization: Organization) -> None:
    olga = owner_of(organization)
    make_member(organization, None, "ada@acme.example", role=ADMIN)
    with pytest.raises(LastOwner):
        remove_member(organization=organization, user=olga)
    for role in (ADMIN, MEMBER):
        with pytest.raises(LastOwner):
            set_membership(organization=organization, user=olga, role=role)
    assert roles(organization) == {"olga@acme.example": OWNER, "ada@acme.example": ADMIN}
    assert not AuditEvent.objects.filter(action="member.remove").exists()


def test_i02_one_of_two_owners_may_go(organization: Organization) -> None:
    olga, otto = owner_of(organization), owner_of(organization, "otto@acme.example")
    set_membership(organization=organization, user=olga, role=ADMIN)
    with pytest.raises(LastOwner):
        remove_member(organization=organization, user=otto)
    set_membership(organization=organization, user=olga, role=OWNER)
    remove_member(organization=organization, user=otto, actor=olga)
    assert roles(organization) == {"olga@acme.example": OWNER}
    event = AuditEvent.objects.get(action="member.remove")
    assert (event.actor_id, event.subject_user_id, event.organization_id) == (olga.pk, otto.pk, organization.pk)


def test_i02_an_owner_of_another_organization_does_not_count(organization: Organization) -> None:
    olga = owner_of(organization)
    owner_of(make_organization("other"), "otto@acme.example")
    with pytest.raises(LastOwner):
        remove_member(organization=organization, user=olga)


@pytest.mark.parametrize("gone", [{"deleted_at": timezone.now()}, {"is_active": False}])
def test_i02_an_owner_who_cannot_sign_in_does_not_count(organization: Organization, gone: dict[str, Any]) -> None:
    olga, otto = owner_of(organization), owner_of(organization, "otto@acme.example")
    User.objects.filter(pk=otto.pk).update(**gone)
    with pytest.raises(LastOwner):
        remove_member(organization=organization, user=olga)


@pytest.mark.django_db(transaction=True)
def test_i02_two_owners_who_leave_at_the_same_time_leave_one(organization: Organization) -> None:
    olga, otto = owner_of(organization), owner_of(organization, "otto@acme.example")
    left = Event()

    def leave_first() -> None:
        with transaction.atomic():
            remove_member(organization=organization, user=olga)
            left.set()
            Event().wait(timeout=0.2)  # the other one leaves before this is committed, if she can

    def leave_second() -> None:
        assert left.wait(timeout=10)
        set_membership(organization=organization, user=otto, role=MEMBER)

    first, second = together(leave_first, leave_second)
    assert first is None
    assert isinstance(second, LastOwner)
    assert roles(organization) == {"otto@acme.example": OWNER}


def test_i02_removing_a_member_ends_access_and_erases_nothing(
    organization: Organization, agent: Agent, owner: User, consented: Scope
) -> None:
    make_fact(consented)
    remove_member(organization=organization, user=owner)
    remove_member(organization=organization, user=owner)  # again: nothing to do
    assert not agents_for(owner).exists()
    assert Fact.objects.filter(status="active").count() == 1
    assert Consent.objects.get().granted
    assert AuditEvent.objects.filter(action="member.remove").count() == 1
    set_membership(organization=organization, user=owner, role=MEMBER)
    assert agents_for(owner).get() == agent


def test_i02_setting_the_same_role_again_is_not_audited(organization: Organization) -> None:
    olga = owner_of(organization)
    set_membership(organization=organization, user=olga, role=OWNER)
    assert AuditEvent.objects.filter(action="member.set").count() == 1


def test_i02_an_unknown_role_is_refused_by_the_database(organization: Organization) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        set_membership(organization=organization, user=make_user("una@acme.example"), role="boss")


def test_i01_an_address_is_taken_whatever_its_case() -> None:
    make_user("Ana@Acme.example")
    for email in ("ana@acme.example", "ANA@ACME.EXAMPLE", "Ana@acme.EXAMPLE"):
        with pytest.raises(IntegrityError), transaction.atomic():
            make_user(email)
        assert User.objects.with_email(f" {email} ").get().email == "Ana@acme.example"


def test_i01_space_around_an_address_is_not_part_of_it() -> None:
    user = make_user(" una@acme.example\n")
    assert User.objects.with_email("una@acme.example").get() == user
    with pytest.raises(IntegrityError), transaction.atomic():
        make_user("una@acme.example ")


def test_i01_the_address_of_a_deleted_user_is_free_and_the_new_account_inherits_nothing(
    organization: Organization, agent: Agent, owner: User, consented: Scope
) -> None:
    make_fact(consented)
    User.objects.filter(pk=owner.pk).update(deleted_at=timezone.now())
    again = make_user("ANA@acme.example")
    assert again.pk != owner.pk
    assert User.objects.with_email(owner.email).get() == again
    assert not Membership.objects.filter(user=again).exists()
    assert not agents_for(again).exists()
    set_membership(organization=organization, user=again, role=MEMBER)
    assert not agents_for(again).exists()
    scope = Scope(organization.pk, again.pk, agent.pk)
    assert not Fact.objects.for_scope(scope).exists()
    assert not Consent.objects.filter(user=again).exists()


def test_i01_a_name_is_cleaned_and_a_time_zone_is_known() -> None:
    with pytest.raises(UnacceptableText, match="one line"):
        make_user("una@acme.example", name="Una\nStaff")
    with pytest.raises(UnknownTimeZone):
        make_user("una@acme.example", time_zone="Europe/Atlantis")
    assert not User.objects.exists()


def test_an_organization_needs_a_name_and_a_free_slug(organization: Organization) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        make_organization(organization.slug)
    with pytest.raises(UnacceptableText):
        create_organization(slug="empty", name="  ")
    Organization.objects.filter(pk=organization.pk).update(deleted_at=timezone.now())
    assert make_organization(organization.slug).pk != organization.pk


def test_i05_only_a_hash_of_a_key_is_stored(organization: Organization, owner: User) -> None:
    made = create_api_key(organization=organization, user=owner, name="ci", memory_enabled=False)
    row = ApiKey.objects.get()
    assert made.row == row
    assert made.secret.startswith(f"{row.prefix}_")
    assert bytes(row.key_hash) == hashlib.sha256(made.secret.encode()).digest()
    assert made.secret.removeprefix(f"{row.prefix}_") not in str(ApiKey.objects.values().get())
    event = AuditEvent.objects.get(action="api_key.create")
    assert (event.object_id, event.actor_id) == (row.pk, owner.pk)
    assert event.details == {"memory_enabled": False, "scope": "chat"}
    assert made.secret not in str(AuditEvent.objects.values())


def test_i05_two_keys_are_different(organization: Organization, owner: User) -> None:
    secrets = {create_api_key(organization=organization, user=owner, name="ci").secret for _ in range(20)}
    assert len(secrets) == 20


def test_i05_revoking_twice_keeps_the_first_time_and_one_trace(organization: Organization, owner: User) -> None:
    key = create_api_key(organization=organization, user=owner, name="ci").row
    now = timezone.now()
    for later in (timedelta(), timedelta(hours=1)):
        revoke_api_key(key=key, now=now + later, actor=owner)
    assert ApiKey.objects.get().revoked_at == now
    assert AuditEvent.objects.filter(action="api_key.revoke").count() == 1


def test_f02_consent_of_a_returning_member_is_still_hers_alone(consented: Scope, colleague: User, agent: Agent) -> None:
    grant(Scope(agent.organization_id, colleague.pk, agent.pk), colleague)
    assert Consent.objects.count() == 2
