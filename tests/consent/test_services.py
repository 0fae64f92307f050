"""F01: granting is explicit and refused when it would mean nothing; withdrawing always works; both leave one trace."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone
from pytest_django.fixtures import Settings

from accounts.models import Membership, Organization, User
from agents.models import Agent
from audit.models import AuditEvent
from consent.models import Consent
from consent.scope import Scope
from consent.services import TEXT_VERSION, GrantRefused, consent_of, grant_consent, withdraw_consent
from facts.models import Fact
from tests.factories import make_agent, make_fact, make_organization
from tests.threads import together

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def grant(scope: Scope, user: User, now: datetime = NOON) -> Consent:
    return grant_consent(scope=scope, actor=user, now=now, surface="memoryTab")


def withdraw(scope: Scope, user: User, now: datetime = NOON) -> None:
    withdraw_consent(scope=scope, actor=user, now=now, surface="memoryTab")


def acts() -> list[str]:
    found = AuditEvent.objects.filter(action__startswith="consent.").order_by("id")
    return list(found.values_list("action", flat=True))


def test_f01_a_grant_says_when_and_to_which_text(scope: Scope, owner: User) -> None:
    assert consent_of(scope) is None
    consent = grant(scope, owner)
    assert consent_of(scope) == consent
    assert (consent.granted, consent.epoch, consent.text_version) == (True, 1, TEXT_VERSION)
    assert (consent.granted_at, consent.withdrawn_at) == (NOON, None)
    event = AuditEvent.objects.get(action="consent.grant")
    assert (event.organization_id, event.actor_id, event.subject_user_id, event.agent_id) == (
        scope.organization_id,
        owner.pk,
        owner.pk,
        scope.agent_id,
    )
    assert (event.surface, event.details) == ("memoryTab", {"epoch": 1, "text_version": TEXT_VERSION})


def test_f01_a_repeated_grant_changes_nothing_and_is_not_audited_again(scope: Scope, owner: User) -> None:
    grant(scope, owner)
    again = grant(scope, owner, NOON + timedelta(days=1))
    assert (again.epoch, again.granted_at) == (1, NOON)
    assert acts() == ["consent.grant"]


def test_f01_withdrawing_keeps_the_facts_and_a_second_withdrawal_is_not_audited(scope: Scope, owner: User) -> None:
    grant(scope, owner)
    fact = make_fact(scope)
    for _ in range(2):
        withdraw(scope, owner, NOON + timedelta(hours=1))
    consent = Consent.objects.get()
    assert (consent.granted, consent.epoch, consent.withdrawn_at) == (False, 2, NOON + timedelta(hours=1))
    assert Fact.objects.get().status == fact.status == "active"
    assert acts() == ["consent.grant", "consent.withdraw"]


def test_f01_withdrawing_what_was_never_granted_does_nothing(scope: Scope, owner: User) -> None:
    withdraw(scope, owner)
    assert not Consent.objects.exists()
    assert acts() == []


def test_f01_granting_again_dates_from_the_new_grant(scope: Scope, owner: User) -> None:
    grant(scope, owner)
    withdraw(scope, owner)
    again = grant(scope, owner, NOON + timedelta(days=2))
    assert (again.granted, again.epoch) == (True, 3)
    assert (again.granted_at, again.withdrawn_at) == (NOON + timedelta(days=2), None)
    assert acts() == ["consent.grant", "consent.withdraw", "consent.grant"]


def test_f13_a_grant_is_refused_with_the_kill_switch_on(scope: Scope, owner: User, settings: Settings) -> None:
    settings.AGENT_MEMORY_KILL_SWITCH = "on"
    with pytest.raises(GrantRefused, match="kill_switch"):
        grant(scope, owner)
    assert not Consent.objects.exists()
    assert acts() == []


def test_f13_withdrawing_works_with_the_kill_switch_on_and_without_a_keyring(
    consented: Scope, owner: User, settings: Settings
) -> None:
    settings.AGENT_MEMORY_KILL_SWITCH = "on"
    settings.KEYRING_JSON, settings.KEYRING_FILE = "", None
    withdraw(consented, owner)
    assert not Consent.objects.get().granted


def no_user(scope: Scope) -> None:
    User.objects.filter(pk=scope.user_id).update(deleted_at=NOON)


def inactive(scope: Scope) -> None:
    User.objects.filter(pk=scope.user_id).update(is_active=False)


def no_member(scope: Scope) -> None:
    Membership.objects.filter(user=scope.user_id).delete()


def no_agent(scope: Scope) -> None:
    Agent.objects.filter(pk=scope.agent_id).update(deleted_at=NOON)


def no_organization(scope: Scope) -> None:
    Organization.objects.filter(pk=scope.organization_id).update(deleted_at=NOON)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (no_user, "user"),
        (inactive, "user"),
        (no_member, "membership"),
        (no_agent, "agent"),
        (no_organization, "agent"),
    ],
)
def test_f01_a_grant_cannot_slip_in_behind_a_deletion(
    scope: Scope, owner: User, change: Callable[[Scope], None], code: str
) -> None:
    change(scope)
    with pytest.raises(GrantRefused) as refused:
        grant(scope, owner)
    assert refused.value.code == code
    assert not Consent.objects.exists()


def test_f02_consent_is_for_an_agent_of_that_organization_only(scope: Scope, owner: User) -> None:
    foreign = make_agent(make_organization("other"), "guide")
    with pytest.raises(GrantRefused, match="agent"):
        grant(Scope(scope.organization_id, scope.user_id, foreign.pk), owner)
    with pytest.raises(GrantRefused, match="membership"):
        grant(Scope(foreign.organization_id, scope.user_id, foreign.pk), owner)


def test_f02_consent_for_one_agent_says_nothing_about_another(consented: Scope, organization: Organization) -> None:
    second = make_agent(organization, "second")
    assert consent_of(Scope(consented.organization_id, consented.user_id, second.pk)) is None


@pytest.mark.django_db(transaction=True)
def test_f01_many_grants_at_once_make_one_row_and_one_trace(scope: Scope, owner: User) -> None:
    assert together(*[lambda: grant(scope, owner).pk] * 6) == [Consent.objects.get().pk] * 6
    assert Consent.objects.get().epoch == 1
    assert acts() == ["consent.grant"]


def test_the_database_keeps_one_consistent_row_of_each_scope(consented: Scope) -> None:
    row = Consent.objects.get()
    for broken in ({"granted": False}, {"withdrawn_at": timezone.now()}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Consent.objects.update(**broken)
    row.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        row.save(force_insert=True)
