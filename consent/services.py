"""Granting and withdrawing consent (F01): explicit, by the member, audited, under the scope's lock."""

from datetime import datetime
from typing import Final

from django.db import transaction

from accounts.models import Membership, Organization, User
from agents.models import Agent
from audit.services import record
from consent.gate import kill_switch_on
from consent.models import Consent
from consent.scope import Scope
from encryption.erasure import note_own_erasure

TEXT_VERSION: Final = 1  # raise it whenever the consent text on the Memory tab changes its meaning


class GrantRefused(Exception):
    """Consent cannot be granted now; `code` is kill_switch, user, membership or agent."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def consent_of(scope: Scope) -> Consent | None:
    return Consent.objects.filter(organization=scope.organization_id, user=scope.user_id, agent=scope.agent_id).first()


@transaction.atomic
def grant_consent(*, scope: Scope, actor: User, now: datetime, surface: str) -> Consent:
    """Grant consent, or leave a granted one as it is. Raises GrantRefused.

    Organization, user and agent are locked too, in the one lock order, so that a grant cannot slip in behind a wipe.
    """
    if kill_switch_on():
        raise GrantRefused("kill_switch")
    organization = Organization.objects.select_for_update(no_key=True).filter(pk=scope.organization_id).first()
    user = User.objects.select_for_update(no_key=True).filter(pk=scope.user_id).first()
    if user is None or not user.is_live:
        raise GrantRefused("user")
    agent = Agent.objects.select_for_update(no_key=True).filter(pk=scope.agent_id).first()
    if organization is None or organization.deleted_at is not None:
        raise GrantRefused("agent")
    if agent is None or agent.deleted_at is not None or agent.organization_id != scope.organization_id:
        raise GrantRefused("agent")
    if not Membership.objects.filter(user=user, organization=scope.organization_id).exists():
        raise GrantRefused("membership")
    consent = _locked(scope)
    if consent is None:
        consent = Consent.objects.create(
            organization_id=scope.organization_id,
            user=user,
            agent=agent,
            granted=True,
            text_version=TEXT_VERSION,
            granted_at=now,
        )
    elif consent.granted:
        return consent
    else:
        consent.granted, consent.granted_at, consent.withdrawn_at = True, now, None
        consent.epoch += 1
        consent.text_version = TEXT_VERSION
        consent.save(update_fields=["granted", "granted_at", "withdrawn_at", "epoch", "text_version"])
    _record("consent.grant", consent, actor, surface)
    return consent


@transaction.atomic
def withdraw_consent(*, scope: Scope, actor: User, now: datetime, surface: str) -> None:
    """Withdraw consent at once; facts stay. Needs no key and works with the kill switch on."""
    consent = _locked(scope)
    if consent is None or not consent.granted:
        return
    _end(consent, at=now)
    _record("consent.withdraw", consent, actor, surface)
    # Not before the grant, should another machine's clock be ahead: a replay withdraws what was granted by then.
    at = max(now, consent.granted_at)
    subjects = {"organization": scope.organization_id, "user": scope.user_id, "agent": scope.agent_id}
    note_own_erasure("withdrawal", at=at, **subjects)


@transaction.atomic
def repeat_withdrawal(*, scope: Scope, at: datetime, reason: str) -> bool:
    """Withdraw again, after a restore, consent that was granted by `at`; return whether it was there."""
    consent = _locked(scope)
    if consent is None or not consent.granted or consent.granted_at > at:
        return False
    _end(consent, at=at)
    _record("consent.withdraw", consent, None, reason=reason)
    return True


def _end(consent: Consent, *, at: datetime) -> None:
    consent.granted, consent.withdrawn_at = False, at
    consent.epoch += 1
    consent.save(update_fields=["granted", "withdrawn_at", "epoch"])


def _locked(scope: Scope) -> Consent | None:
    return (
        Consent.objects.select_for_update(no_key=True)
        .filter(organization=scope.organization_id, user=scope.user_id, agent=scope.agent_id)
        .first()
    )


def _record(action: str, consent: Consent, actor: User | None, surface: str = "", *, reason: str = "") -> None:
    record(
        action,
        actor=actor,
        organization_id=consent.organization_id,
        subject_user_id=consent.user_id,
        agent_id=consent.agent_id,
        surface=surface,
        reason=reason,
        details={"epoch": consent.epoch, "text_version": consent.text_version},
    )
