"""Where a door gets an organization: fetched and authorized in one step (I04); decides nothing about agents."""

from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404

from accounts.models import Membership, Organization, User

OPERATE: Final = "agents.operate"
ADMINS: Final = frozenset({Membership.Role.OWNER.value, Membership.Role.ADMIN.value})
OWNERS: Final = frozenset({Membership.Role.OWNER.value})
MEMBERS: Final = frozenset(Membership.Role.values)


@dataclass(frozen=True, slots=True)
class Place:
    """A live organization and the role that the member has in it."""

    organization: Organization
    role: str

    @property
    def administers(self) -> bool:
        return self.role in ADMINS

    @property
    def owns(self) -> bool:
        return self.role in OWNERS


def places_of(user: User) -> list[Place]:
    """Return the live organizations of a member, by name."""
    rows = Membership.objects.filter(user=user, organization__deleted_at__isnull=True).select_related("organization")
    return [Place(row.organization, row.role) for row in rows.order_by("organization__name", "organization_id")]


def place_for(user: User, slug: str, roles: frozenset[str] = MEMBERS) -> Place:
    """Return a live organization of the user.

    Raises Http404 when she is no member (or there is none: the answer is the same), and PermissionDenied when her role
    is not among `roles`.
    """
    row = (
        Membership.objects.filter(user=user, organization__slug=slug, organization__deleted_at__isnull=True)
        .select_related("organization")
        .first()
    )
    if row is None or not user.is_live:
        raise Http404
    if row.role not in roles:
        raise PermissionDenied
    return Place(row.organization, row.role)


def is_operator(user: User) -> bool:
    """Whether she runs the deployment: a permission that no role in an organization brings."""
    return user.is_live and user.has_perm(OPERATE)


def require_operator(user: User) -> None:
    """Raise Http404 unless she is an operator: for everybody else those pages do not exist (I04)."""
    if not is_operator(user):
        raise Http404


def may_found(user: User) -> bool:
    """Whether a user may create an organization: operators, and everyone where the deployment says so."""
    return settings.ORGANIZATION_FOUNDERS == "everyone" or is_operator(user)
