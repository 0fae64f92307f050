"""The only way for a door to get an agent: fetched and authorized in one step (I03, I04)."""

import uuid
from dataclasses import dataclass

from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, TextField
from django.db.models.functions import Cast
from django.http import Http404
from guardian.models import UserObjectPermission

from accounts.access import ADMINS, Place, place_for
from accounts.models import Membership, User
from agents.models import Agent, AgentQuerySet
from agents.permissions import CODENAMES, PUBLIC_NAMES, codenames_on_each


@dataclass(frozen=True, slots=True)
class AgentAccess:
    """An agent and what this user may do with it, by public names."""

    agent: Agent
    permissions: frozenset[str]

    def may(self, permission: str) -> bool:
        return permission in self.permissions


def agents_for(user: User, permission: str = "agent:read") -> AgentQuerySet:
    """Return the live agents on which a member holds a permission."""
    member = Membership.objects.filter(user=user, organization=OuterRef("organization"))
    granted = UserObjectPermission.objects.filter(
        user=user,
        permission__codename=CODENAMES[permission],
        permission__content_type__app_label=Agent._meta.app_label,
        object_pk=Cast(OuterRef("pk"), TextField()),
    )
    if not user.is_live:
        return Agent.objects.none()
    return Agent.objects.live().filter(Exists(member), Exists(granted)).select_related("organization", "provider")


def agent_for(
    user: User, organization_slug: str, agent_slug: str, permission: str, *, organization_id: uuid.UUID | None = None
) -> AgentAccess:
    """Return a live agent of an organization of which the user is a member.

    Raises Http404 when she may not see it (no permission at all, or it does not exist: the answer is the same) and
    PermissionDenied when she may see it but lacks `permission`. `organization_id` narrows to an API key's own.
    """
    member = Membership.objects.filter(user=user, organization=OuterRef("organization"))
    agents = Agent.objects.live().filter(Exists(member), organization__slug=organization_slug, slug=agent_slug)
    if organization_id is not None:
        agents = agents.filter(organization=organization_id)
    agents = agents.select_related("organization", "provider").annotate(held=codenames_on_each(user.pk))
    agent = agents.first() if user.is_live else None
    held = agent.held if agent else ()
    permissions = frozenset(PUBLIC_NAMES[codename] for codename in held if codename in PUBLIC_NAMES)
    if agent is None or not permissions:
        raise Http404
    if permission not in permissions:
        raise PermissionDenied
    return AgentAccess(agent, permissions)


def administered_agent(user: User, organization_slug: str, agent_slug: str) -> tuple[Place, Agent]:
    """Return an agent whose permissions a user hands out as owner or administrator, whatever she holds on it herself.

    Raises Http404 or PermissionDenied, as `place_for` does.
    """
    place = place_for(user, organization_slug, ADMINS)
    agent = Agent.objects.live().filter(organization=place.organization, slug=agent_slug).first()
    if agent is None:
        raise Http404
    return place, agent
