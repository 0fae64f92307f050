"""The only way for a door to get an agent: fetched and authorized in one step (I03, I04)."""

import uuid
from dataclasses import dataclass
from typing import Final

from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, TextField
from django.db.models.functions import Cast
from django.http import Http404
from guardian.models import UserObjectPermission

from accounts.access import ADMINS, Place, place_for
from accounts.models import Membership, User
from agents.models import Agent, AgentQuerySet
from agents.permissions import CODENAMES, PUBLIC_NAMES, codenames_on_each
from database.compiled import Compiled


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


def _named(
    *, user_id: uuid.UUID, organization: str, agent: str, organization_id: uuid.UUID | None = None
) -> AgentQuerySet:
    """Return the live agent of that name in an organization of the user's, with the codenames that she holds on it."""
    member = Membership.objects.filter(user=user_id, organization=OuterRef("organization"))
    found = Agent.objects.live().filter(Exists(member), organization__slug=organization, slug=agent)
    if organization_id is not None:
        found = found.filter(organization=organization_id)
    return found.annotate(held=codenames_on_each(user_id))


_EXAMPLES: Final = {"user_id": uuid.UUID(int=1), "organization": "an-organization", "agent": "an-agent"}
_AGENT: Final = Compiled(_named, examples=_EXAMPLES, related=["organization", "provider"], more=["held"])
_AGENT_OF: Final = Compiled(
    _named,
    examples=_EXAMPLES | {"organization_id": uuid.UUID(int=2)},
    related=["organization", "provider"],
    more=["held"],
)


def agent_for(
    user: User, organization_slug: str, agent_slug: str, permission: str, *, organization_id: uuid.UUID | None = None
) -> AgentAccess:
    """Return a live agent of an organization of which the user is a member.

    Raises Http404 when she may not see it (no permission at all, or it does not exist: the answer is the same) and
    PermissionDenied when she may see it but lacks `permission`. `organization_id` narrows to an API key's own.
    """
    asked = {"user_id": user.pk, "organization": organization_slug, "agent": agent_slug}
    if not user.is_live:
        agent = None
    elif organization_id is None:
        agent = _AGENT.first(**asked)
    else:
        agent = _AGENT_OF.first(**asked, organization_id=organization_id)
    held = getattr(agent, "held", ())
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
