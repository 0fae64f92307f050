"""Invitations by e-mail link (I07): signed, for one use, for a week; nobody else signs up. Lists and shows nothing."""

import hashlib
import hmac
import secrets
import uuid
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.core.signing import BadSignature, Signer
from django.db import IntegrityError, transaction

from accounts.limits import allowed
from accounts.mail import Mail, MailFailed, compose, send, send_once_committed
from accounts.members import APPOINTS, NotAllowed, lock_role
from accounts.models import Invitation, Membership, Organization, User
from accounts.services import create_user, set_membership
from audit.services import record

LIFETIME: Final = timedelta(days=7)
PER_ORGANIZATION: Final = 100  # mails an hour; no inviter is a mass mailer
PER_ADDRESS: Final = 5  # mails an hour to one address, whoever sends them
_SIGNER: Final = Signer(salt="accounts.invitations", sep=".")

type Link = Callable[[str], str]  # token -> absolute address of the page that accepts it


class AlreadyMember(Exception):
    """A member of the organization has this address."""


class AlreadyInvited(Exception):
    """The address has an open invitation, which can be sent again or revoked."""


class TooManyMails(Exception):
    """Too many invitations went out within the hour, in all or to this address."""


class NotOpen(Exception):
    """There is no such invitation, or it was accepted, revoked, is over, or its sender may not offer it any more."""


class AddressTaken(Exception):
    """A live account has the address: its owner signs in and accepts."""


class OtherAddress(Exception):
    """The signed-in member has another address than the invited one."""


@dataclass(frozen=True, slots=True)
class Offered:
    """An invitation, and whether the mail server took its mail."""

    invitation: Invitation
    sent: bool


def invite(*, organization: Organization, email: str, role: str, actor: User, link: Link, now: datetime) -> Offered:
    """Offer a place and mail the link; the same for an address with an account and for one without.

    Raises NotAllowed, AlreadyMember, AlreadyInvited, or TooManyMails.
    """
    token = secrets.token_urlsafe(32)
    with transaction.atomic():
        if role not in APPOINTS[lock_role(organization, actor)]:
            raise NotAllowed
        members = Membership.objects.filter(organization=organization)
        if members.filter(user__email__iexact=email, user__deleted_at__isnull=True).exists():
            raise AlreadyMember
        if Invitation.objects.filter(organization=organization, email__iexact=email).exists():
            raise AlreadyInvited
        _count_mail(organization, email, now)
        invitation = Invitation.objects.create(
            organization=organization,
            email=email,
            role=role,
            token_hash=_hash(token),
            invited_by=actor,
            created_at=now,
            sent_at=now,
            expires_at=now + LIFETIME,
        )
        _record("invitation.create", invitation, actor)
    return _deliver(invitation, token, actor, link)


def resend(*, organization: Organization, invitation_id: uuid.UUID, actor: User, link: Link, now: datetime) -> Offered:
    """Mail a new link for another week, as the actor's invitation; the old link ends.

    Raises NotAllowed, NotOpen, or TooManyMails.
    """
    token = secrets.token_urlsafe(32)
    with transaction.atomic():
        invitation = _open(organization, invitation_id, actor)
        _count_mail(organization, invitation.email, now)
        invitation.token_hash, invitation.invited_by = _hash(token), actor
        invitation.sent_at, invitation.expires_at = now, now + LIFETIME
        invitation.save(update_fields=["token_hash", "invited_by", "sent_at", "expires_at"])
        _record("invitation.resend", invitation, actor)
    return _deliver(invitation, token, actor, link)


@transaction.atomic
def revoke(*, organization: Organization, invitation_id: uuid.UUID, actor: User) -> None:
    """End an invitation. Raises NotAllowed or NotOpen."""
    invitation = _open(organization, invitation_id, actor)
    _record("invitation.revoke", invitation, actor)
    invitation.delete()


def invitation_for(token: str, *, now: datetime) -> Invitation:
    """Return the invitation that a link opens at `now`. Raises NotOpen."""
    try:
        pk, secret = _SIGNER.unsign(token).split(".")
        found = Invitation.objects.select_related("organization", "invited_by").filter(pk=uuid.UUID(pk)).first()
    except (BadSignature, ValueError):
        raise NotOpen from None
    if found is None or not hmac.compare_digest(bytes(found.token_hash), _hash(secret)):
        raise NotOpen
    if found.expires_at <= now or found.organization.deleted_at is not None or found.pk not in still_offered([found]):
        raise NotOpen
    return found


def still_offered(found: Collection[Invitation]) -> set[uuid.UUID]:
    """Return which of an organization's invitations their senders could make today; one query.

    Whoever was removed, or lost the role, has left nothing open behind (I02).
    """
    senders = Membership.objects.filter(
        organization__in={each.organization_id for each in found},
        user__in={each.invited_by_id for each in found},
        user__is_active=True,
        user__deleted_at__isnull=True,
    )
    may_offer = {(row.organization_id, row.user_id, role) for row in senders for role in APPOINTS[row.role]}
    return {each.pk for each in found if (each.organization_id, each.invited_by_id, each.role) in may_offer}


@transaction.atomic
def sign_up(*, token: str, name: str, password: str, time_zone: str, now: datetime) -> User:
    """Create the invited person's account and make her a member; the door has checked the password.

    Raises NotOpen, AddressTaken, or UnacceptableText.
    """
    invitation = _lock(token, now)
    try:
        with transaction.atomic():
            user = create_user(email=invitation.email, name=name, password=password, time_zone=time_zone)
    except IntegrityError:
        raise AddressTaken from None
    _accept(invitation, user)
    return user


@transaction.atomic
def accept(*, token: str, user: User, now: datetime) -> Organization:
    """Make the member whose address was invited a member. Raises NotOpen or OtherAddress."""
    invitation = _lock(token, now)
    if invitation.email.casefold() != user.email.casefold() or not user.is_live:
        raise OtherAddress
    _accept(invitation, user)
    return invitation.organization


def _lock(token: str, now: datetime) -> Invitation:
    """Lock organization and invitation of a link, in this order, and judge the link again."""
    organization_id = invitation_for(token, now=now).organization_id
    Organization.objects.select_for_update(no_key=True).get(pk=organization_id)
    return invitation_for(token, now=now)


def _accept(invitation: Invitation, user: User) -> None:
    organization, inviter = invitation.organization, invitation.invited_by
    if not Membership.objects.filter(organization=organization, user=user).exists():  # nobody's role is changed
        set_membership(organization=organization, user=user, role=invitation.role, actor=user)
    _record("invitation.accept", invitation, user)
    invitation.delete()
    if inviter is not None and inviter.is_live and inviter.mail_on_invitation:
        send_once_committed(
            compose(
                "invitation_accepted",
                to=inviter.email,
                language=inviter.language,
                organization=organization,
                member=user,
            )
        )


def _open(organization: Organization, invitation_id: uuid.UUID, actor: User) -> Invitation:
    """Lock an organization and return one of its open invitations, which the actor could have made."""
    appoints = APPOINTS[lock_role(organization, actor)]
    found = Invitation.objects.filter(organization=organization, pk=invitation_id).first()
    if not appoints or (found is not None and found.role not in appoints):
        raise NotAllowed
    if found is None:
        raise NotOpen
    return found


def _count_mail(organization: Organization, email: str, now: datetime) -> None:
    limits = {
        f"invitations of {organization.pk}": PER_ORGANIZATION,
        f"invitations to {email.strip().casefold()}": PER_ADDRESS,
    }
    if not allowed(limits, now=now):
        raise TooManyMails


def _deliver(invitation: Invitation, token: str, actor: User, link: Link) -> Offered:
    address = link(_SIGNER.sign(f"{invitation.pk.hex}.{token}"))
    mail: Mail = compose(
        "invitation",
        to=invitation.email,
        language=actor.language,  # the invited person's is not known
        invitation=invitation,
        inviter=actor,
        address=address,
    )
    try:
        send(mail)
    except MailFailed:
        return Offered(invitation, sent=False)
    return Offered(invitation, sent=True)


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()  # 256 random bits: a slow hash would add nothing


def _record(action: str, invitation: Invitation, actor: User) -> None:
    record(
        action,
        actor=actor,
        organization_id=invitation.organization_id,
        object_id=invitation.pk,
        details={"role": invitation.role},
    )
