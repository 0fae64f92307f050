"""Object permissions on agents: the one table of public names and codenames, and grants (I03)."""

import uuid
from collections.abc import Iterable
from typing import Final

from django.contrib.postgres.expressions import ArraySubquery
from django.db import transaction
from django.db.models import OuterRef, QuerySet, TextField
from django.db.models.functions import Cast
from guardian.models import UserObjectPermission
from guardian.shortcuts import assign_perm, remove_perm

from accounts.members import NotAllowed, lock_and_administer
from accounts.models import Membership, User
from agents.models import Agent
from audit.services import record

CODENAMES: Final = {
    "agent:read": "read_agent",
    "agent:update": "update_agent",
    "agent:manage": "manage_agent",
    "preference:view": "view_preference",
    "preference:manage": "manage_preference",
    "memory:view": "view_memory",
    "memory:manage": "manage_memory",
}
PUBLIC_NAMES: Final = {codename: name for name, codename in CODENAMES.items()}


class UnknownPermission(ValueError):
    """The name is not in the table."""


def _codename(permission: str) -> str:
    try:
        return CODENAMES[permission]
    except KeyError:
        raise UnknownPermission(f"{permission!r} is no permission; use one of: {', '.join(CODENAMES)}.") from None


@transaction.atomic
def grant(*, agent: Agent, user: User, permission: str, actor: User | None) -> None:
    """Give a permission on one agent. It counts only together with a live membership."""
    codename = _codename(permission)
    if codename in granted_codenames(user.pk, agent.pk):
        return
    assign_perm(codename, user, agent)
    _record("permission.grant", agent, user, permission, actor)


@transaction.atomic
def revoke(*, agent: Agent, user: User, permission: str, actor: User | None) -> None:
    """Take a permission on one agent away."""
    codename = _codename(permission)
    if codename in granted_codenames(user.pk, agent.pk):
        remove_perm(codename, user, agent)
        _record("permission.revoke", agent, user, permission, actor)


type Grant = tuple[uuid.UUID, str]  # user and public name


@transaction.atomic
def change_grants(*, agent: Agent, given: Iterable[Grant], taken: Iterable[Grant], actor: User) -> None:
    """Give and take permissions as an owner or administrator, also one's own (I03). Raises NotAllowed.

    Whoever is no member any more is passed over: a grant would count for nothing.
    """
    lock_and_administer(agent.organization, actor)
    if not Agent.objects.live().select_for_update(no_key=True, of=("self",)).filter(pk=agent.pk).exists():
        raise NotAllowed
    changes = [*((grant, *each) for each in sorted(given)), *((revoke, *each) for each in sorted(taken))]
    rows = Membership.objects.filter(organization=agent.organization_id, user__in={who for _act, who, _name in changes})
    users = {row.user_id: row.user for row in rows.select_related("user")}
    for act, user_id, permission in changes:
        if user_id in users:
            act(agent=agent, user=users[user_id], permission=permission, actor=actor)


def grants_on(agent: Agent, user_ids: Iterable[uuid.UUID]) -> set[Grant]:
    """Return the grants that these users hold on an agent."""
    rows = UserObjectPermission.objects.filter(
        user__in=user_ids,
        object_pk=str(agent.pk),
        permission__content_type__app_label=Agent._meta.app_label,
        permission__content_type__model=Agent._meta.model_name,
    )
    found = rows.values_list("user_id", "permission__codename")
    return {(user_id, PUBLIC_NAMES[codename]) for user_id, codename in found if codename in PUBLIC_NAMES}


def _record(action: str, agent: Agent, user: User, permission: str, actor: User | None) -> None:
    record(
        action,
        actor=actor,
        organization_id=agent.organization_id,
        subject_user_id=user.pk,
        agent_id=agent.pk,
        details={"permission": permission},
    )


def granted_codenames(user_id: uuid.UUID, agent_id: uuid.UUID) -> frozenset[str]:
    """Return the codenames granted to the user herself; no group, role or superuser flag adds to them."""
    rows = _grants_of(user_id).filter(object_pk=str(agent_id))
    return frozenset(rows.values_list("permission__codename", flat=True))


def codenames_on_each(user_id: uuid.UUID) -> ArraySubquery:
    """Return the same for each agent of a query set, to be annotated."""
    rows = _grants_of(user_id).filter(object_pk=Cast(OuterRef("pk"), TextField()))
    return ArraySubquery(rows.values("permission__codename"))


def _grants_of(user_id: uuid.UUID) -> QuerySet[UserObjectPermission]:
    return UserObjectPermission.objects.filter(
        user=user_id,
        permission__content_type__app_label=Agent._meta.app_label,
        permission__content_type__model=Agent._meta.model_name,
    )


def remove_grants_on(agent_id: uuid.UUID) -> int:
    """Remove every grant on an agent that goes; the caller's audit event tells of it. Returns how many there were."""
    content = {"content_type__app_label": Agent._meta.app_label, "content_type__model": Agent._meta.model_name}
    count: int = UserObjectPermission.objects.filter(object_pk=str(agent_id), **content).delete()[0]
    return count


def remove_grants_of(user_id: uuid.UUID) -> int:
    """Remove every grant that a user who goes holds; the caller's audit event tells of it."""
    count: int = UserObjectPermission.objects.filter(user=user_id).delete()[0]
    return count
