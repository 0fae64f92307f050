"""The only way for a page of an organization to get it: fetched and authorized in one step (I02)."""

from typing import Final

from django.core.exceptions import PermissionDenied
from django.http import Http404

from accounts.models import Membership, Organization, User

OWNERS: Final = (Membership.Role.OWNER,)
ADMINISTRATORS: Final = (Membership.Role.OWNER, Membership.Role.ADMIN)


def organization_for(user: User, slug: str, roles: tuple[Membership.Role, ...]) -> Organization:
    """Return a live organization in which the user has one of the roles.

    Raises Http404 when she is no member or there is no such organization, PermissionDenied when her role is another.
    """
    membership = (
        Membership.objects.filter(user=user, organization__slug=slug, organization__deleted_at__isnull=True)
        .select_related("organization")
        .first()
    )
    if membership is None or not user.is_live:
        raise Http404
    if membership.role not in roles:
        raise PermissionDenied
    return membership.organization
