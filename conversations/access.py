"""Who may read a session: its creator and its participants, as long as they are members who may use the agent."""

import uuid
from collections.abc import Collection
from datetime import datetime
from typing import Final

from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, Q
from django.http import Http404

from accounts.models import ApiKey, Membership, User
from agents.access import agent_for, agents_for
from agents.models import Agent
from conversations.models import Participant, Session, SessionQuerySet, Turn
from database.prepared import prepared_cursor


def sessions_for(user: User, agent: Agent) -> SessionQuerySet:
    """Return the live sessions with this agent that the user may read."""
    took_part = Participant.objects.filter(session=OuterRef("pk"), user=user)
    return Session.objects.live().filter(Q(created_by=user) | Exists(took_part), agent=agent)


def all_sessions_for(user: User) -> SessionQuerySet:
    """Return the live sessions that the user may read, with every agent that she may use."""
    took_part = Participant.objects.filter(session=OuterRef("pk"), user=user)
    return Session.objects.live().filter(
        Q(created_by=user) | Exists(took_part), agent__in=agents_for(user).values("pk")
    )


def session_for(user: User, session_id: uuid.UUID) -> Session:
    """Return one session, or raise Http404: also when the user lost the agent."""
    took_part = Participant.objects.filter(session=OuterRef("pk"), user=user)
    session = (
        Session.objects.live()
        .filter(Q(created_by=user) | Exists(took_part), pk=session_id)
        .select_related("agent__organization", "agent__provider", "organization")
        .first()
    )
    if session is None:
        raise Http404
    try:
        access = agent_for(user, session.organization.slug, session.agent.slug, "agent:read")
    except PermissionDenied:
        raise Http404 from None
    if access.agent.pk != session.agent_id:  # deleted, and its name was given to another agent
        raise Http404
    return session


def replies_to_end(turn_ids: Collection[uuid.UUID], *, now: datetime) -> set[uuid.UUID]:
    """Return which turns shall end: somebody asked for it, or whoever's session it is has lost access meanwhile (I02).

    She did when her membership or account, or the API key that asks, has ended. One query for all of them.
    """
    member = Membership.objects.filter(
        user=OuterRef("session__created_by"),
        organization=OuterRef("organization"),
        user__deleted_at__isnull=True,
        user__is_active=True,
        organization__deleted_at__isnull=True,
    )
    key = ApiKey.objects.usable(now).filter(pk=OuterRef("session__api_key_id"))
    without_access = ~Exists(member) | (Q(session__api_key_id__isnull=False) & ~Exists(key))
    found = Turn.objects.filter(Q(stop_requested_at__isnull=False) | without_access, pk__in=turn_ids)
    return set(found.values_list("pk", flat=True))


# Its parameters are the session and its creator, twice.
READ_BY_OTHERS: Final = """(
    EXISTS (SELECT FROM conversations_participant WHERE session_id = %s AND user_id <> %s)
    OR EXISTS (SELECT FROM conversations_outsider WHERE session_id = %s AND user_id IS DISTINCT FROM %s)
)"""


def read_by_others(session: Session) -> bool:
    """Whether anyone but the creator can read the session, here or where its connector posts it (C10)."""
    if session.is_public or session.is_new:
        return session.is_public
    with prepared_cursor() as cursor:
        cursor.execute(f"SELECT {READ_BY_OTHERS}", (session.pk, session.created_by_id) * 2)
        return bool(cursor.fetchone()[0])


def may_take_part(user: User, agent: Agent) -> bool:
    """Whether a user may be added to a session: a live member who holds agent:read."""
    return agents_for(user).filter(pk=agent.pk).exists()
