"""Threads of connectors (C04): the session of a thread, and who of its people is a member. Runs no turn."""

from datetime import datetime

from django.db import IntegrityError, transaction

from accounts.models import User
from agents.models import Agent
from conversations.access import may_take_part
from conversations.models import Outsider, Participant, Session
from conversations.services import SessionGone, open_session
from conversations.surfaces import Surface


class MappedToAnother(Exception):
    """The connector's user was mapped to another member of this session before."""


def open_thread(*, agent: Agent, owner: User, surface: Surface, thread_id: str, now: datetime) -> Session:
    """Return the session of a connector's thread, opened at its first message.

    Threads belong to the member whose key the connector uses; without a thread id each message has its own session.
    """
    if thread_id:
        known = Session.objects.live().filter(
            organization=agent.organization_id,
            agent=agent,
            surface=surface,
            created_by=owner,
            external_thread_id=thread_id,
        )
        found = known.first()
        if found is not None:
            return _with_agent(found, agent)
        try:
            with transaction.atomic():
                return open_session(
                    agent=agent, created_by=owner, surface=surface, now=now, external_thread_id=thread_id
                )
        except IntegrityError:  # another message of the thread was faster
            return _with_agent(known.get(), agent)
    return open_session(agent=agent, created_by=owner, surface=surface, now=now)


def _with_agent(session: Session, agent: Agent) -> Session:
    session.agent = agent  # fetched with what a turn needs
    return session


@transaction.atomic
def hear(*, session: Session, external_user_id: str, email: str, public: bool | None) -> User | None:
    """Note who speaks in a thread, and return the member whom she is; mark the session as public or private.

    She is the live member with that address who may use the agent; without an address, whoever she was mapped to
    before, as long as that still holds. A member who is found reads the session from now on. Raises MappedToAnother and
    SessionGone.
    """
    row = Session.objects.live().select_for_update(no_key=True, of=("self",)).filter(pk=session.pk).first()
    if row is None:
        raise SessionGone
    if public is not None and row.is_public != public:
        row.is_public = public
        row.save(update_fields=["is_public"])
    outsider, _new = Outsider.objects.select_related("user").get_or_create(
        organization_id=row.organization_id, session=row, external_user_id=external_user_id
    )
    named = User.objects.with_email(email).live().first() if email else outsider.user
    member = named if named is not None and may_take_part(named, session.agent) else None
    if member is None:
        return None
    if outsider.user_id not in (None, member.pk):
        raise MappedToAnother
    if outsider.user_id is None:
        outsider.user = member
        outsider.save(update_fields=["user"])
    if member.pk != row.created_by_id:
        Participant.objects.get_or_create(organization_id=row.organization_id, session=row, user=member)
    return member
