"""What members do to memberships: the rules of who may give and take which role, each judged under a lock (I02)."""

import uuid
from collections.abc import Mapping
from typing import Final

from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction

from accounts.models import Membership, Organization, User
from accounts.services import create_organization, remove_member, set_membership
from audit.services import record

RESERVED: Final = frozenset({"new"})  # an address of its own under /organizations/
_ALL: Final = frozenset(Membership.Role.values)
# Whom a role may appoint, and whose role it may change or end. An administrator neither makes nor removes owners.
APPOINTS: Final[Mapping[str, frozenset[str]]] = {
    Membership.Role.OWNER: _ALL,
    Membership.Role.ADMIN: _ALL - {Membership.Role.OWNER},
    Membership.Role.MEMBER: frozenset(),
}


class NotAllowed(PermissionDenied):
    """The actor's role does not allow it, or not any more."""


class NoSuchMember(Exception):
    """The person is no member, or not any more."""


class SlugTaken(Exception):
    """A live organization has this address, or the address means something else."""


def lock_role(organization: Organization, actor: User) -> str:
    """Lock an organization and return the actor's role in it as it is now. Raises NotAllowed for no live member."""
    locked = Organization.objects.select_for_update(no_key=True).get(pk=organization.pk)
    role = Membership.objects.filter(organization=locked, user=actor).values_list("role", flat=True).first()
    if role is None or locked.deleted_at is not None or not actor.is_live:
        raise NotAllowed
    return role


def lock_and_administer(organization: Organization, actor: User) -> None:
    """Lock an organization that the actor administers. Raises NotAllowed."""
    if not APPOINTS[lock_role(organization, actor)]:
        raise NotAllowed


def _member(organization: Organization, user_id: uuid.UUID) -> tuple[User, str]:
    row = Membership.objects.filter(organization=organization, user=user_id).select_related("user").first()
    if row is None:
        raise NoSuchMember
    return row.user, row.role


@transaction.atomic
def found_organization(*, slug: str, name: str, founder: User) -> Organization:
    """Create an organization with its first owner. Raises SlugTaken."""
    if slug in RESERVED:
        raise SlugTaken
    try:
        with transaction.atomic():
            organization = create_organization(slug=slug, name=name, actor=founder)
    except IntegrityError:
        raise SlugTaken from None
    set_membership(organization=organization, user=founder, role=Membership.Role.OWNER, actor=founder)
    return organization


@transaction.atomic
def change_role(*, organization: Organization, user_id: uuid.UUID, role: str, actor: User) -> None:
    """Give a member another role. Raises NotAllowed, NoSuchMember, or LastOwner."""
    appoints = APPOINTS[lock_role(organization, actor)]
    user, before = _member(organization, user_id)
    if not {before, role} <= appoints:
        raise NotAllowed
    set_membership(organization=organization, user=user, role=role, actor=actor)


@transaction.atomic
def dismiss(*, organization: Organization, user_id: uuid.UUID, actor: User) -> None:
    """End another's membership, or one's own, and erase nothing. Raises NotAllowed, NoSuchMember, or LastOwner."""
    appoints = APPOINTS[lock_role(organization, actor)]
    user, role = _member(organization, user_id)
    if user.pk != actor.pk and role not in appoints:
        raise NotAllowed
    remove_member(organization=organization, user=user, actor=actor)


@transaction.atomic
def transfer_ownership(*, organization: Organization, user_id: uuid.UUID, actor: User) -> None:
    """Make a member owner and the actor, an owner, administrator (I07). Raises NotAllowed or NoSuchMember."""
    if lock_role(organization, actor) != Membership.Role.OWNER:
        raise NotAllowed
    user, _role = _member(organization, user_id)
    if user.pk == actor.pk or not user.is_live:
        raise NoSuchMember
    set_membership(organization=organization, user=user, role=Membership.Role.OWNER, actor=actor)
    set_membership(organization=organization, user=actor, role=Membership.Role.ADMIN, actor=actor)
    record("organization.transfer", actor=actor, organization_id=organization.pk, subject_user_id=user.pk)
