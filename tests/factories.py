"""Puts rows in place for tests, through the services wherever there is one."""

import uuid
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from accounts.models import ApiKey, Invitation, Membership, Organization, User
from accounts.services import create_api_key, create_organization, create_user, set_membership
from agents.models import Agent
from agents.permissions import grant as grant_permission
from agents.services import get_or_create_provider, save_agent
from consent.gate import open_for_member
from consent.scope import ConsentedScope, Scope
from consent.services import grant_consent
from conversations.models import Message, Session, Turn
from conversations.services import Reply, Said, begin_turn, finish_turn, open_session
from conversations.surfaces import Surface
from facts.models import LIFETIME, Fact
from facts.sealing import content_hash, key_hash, scope_keys_for_writing
from facts.services import NewFact, Outcome, record_candidates

PASSWORD = "correct horse battery staple"


def make_organization(slug: str) -> Organization:
    return create_organization(slug=slug, name=slug.title())


def make_agent(organization: Organization, slug: str, *, base_url: str = "", system_prompt: str = "Be kind.") -> Agent:
    """An agent with the offline model, or with a server at `base_url`."""
    provider = get_or_create_provider(kind="openai" if base_url else "offline", base_url=base_url, actor=None)
    return save_agent(
        organization=organization,
        slug=slug,
        name=slug.title(),
        system_prompt=system_prompt,
        provider=provider,
        model="stub-1" if base_url else "offline-rules-1",
        actor=None,
    )


def make_user(email: str, *, name: str = "", **extra: object) -> User:
    return create_user(email=email, name=name, password=PASSWORD, **extra)  # type: ignore[arg-type]


def make_member(
    organization: Organization,
    agent: Agent | None,
    email: str,
    *,
    name: str = "",
    role: str = Membership.Role.MEMBER,
    permissions: tuple[str, ...] = ("agent:read", "agent:update"),
) -> User:
    user = make_user(email, name=name)
    set_membership(organization=organization, user=user, role=role)
    for permission in permissions if agent else ():
        assert agent is not None
        grant_permission(agent=agent, user=user, permission=permission, actor=None)
    return user


def make_key(organization: Organization, user: User, *, memory_enabled: bool = True, scope: str = "chat") -> str:
    """Return the full text of a new API key."""
    made = create_api_key(
        organization=organization, user=user, name="test", memory_enabled=memory_enabled, scope=ApiKey.Scope(scope)
    )
    return made.secret


def make_invitation(organization: Organization, email: str, *, role: str = Membership.Role.MEMBER) -> Invitation:
    """An open invitation that nobody sent; no link opens it."""
    now = timezone.now()
    return Invitation.objects.create(
        organization=organization,
        email=email,
        role=role,
        token_hash=bytes(32),
        created_at=now,
        sent_at=now,
        expires_at=now + timedelta(days=7),
    )


def grant(scope: Scope, user: User, *, now: datetime | None = None) -> Scope:
    grant_consent(scope=scope, actor=user, now=now or timezone.now(), surface="memoryTab")
    return scope


def make_fact(
    scope: Scope,
    *,
    body: str = "Lives in Porto.",
    key: str = "home.city",
    memory_type: str = "profile",
    status: str = "active",
    confidence: float = 0.9,
    source_ids: tuple[uuid.UUID, ...] = (),
    created_at: datetime | None = None,
    expires_at: datetime | None = None,
) -> Fact:
    """Put one sealed fact in place, past the gate."""
    keys = scope_keys_for_writing(scope)
    created_at = created_at or timezone.now()
    fact_id = uuid.uuid4()
    return Fact.objects.create(
        id=fact_id,
        organization_id=scope.organization_id,
        user_id=scope.user_id,
        agent_id=scope.agent_id,
        memory_type=memory_type,
        status=status,
        key_hash=key_hash(keys, key),
        content_hash=content_hash(keys, memory_type, key, body),
        sealed=keys.seal(fact_id, memory_type, key, body),
        dek_version=keys.active_version,
        confidence=confidence,
        source_ids=list(source_ids),
        expires_at=expires_at or created_at + LIFETIME,
        created_at=created_at,
        updated_at=created_at,
        deleted_at=created_at if status == "deleted" else None,
        superseded_at=created_at if status == "superseded" else None,
    )


def candidate(
    key: str = "home.city",
    body: str = "Lives in Porto.",
    *,
    memory_type: str = "profile",
    confidence: float = 0.9,
    source_ids: tuple[uuid.UUID, ...] = (),
    expires_at: datetime | None = None,
) -> NewFact:
    """A screened candidate, ready to be recorded."""
    return NewFact(memory_type, key, body, confidence, source_ids, expires_at)


def record_facts(scope: Scope, *candidates: NewFact, now: datetime | None = None) -> Outcome:
    """Record candidates as extraction does: gate, keys, then one transaction."""
    consented = open_for_member(scope)
    assert isinstance(consented, ConsentedScope), consented
    keys = scope_keys_for_writing(scope)
    with transaction.atomic():
        return record_candidates(consented, candidates, keys=keys, now=now or timezone.now(), surface="api")


def fill(scope: Scope, count: int) -> None:
    """Record so many active facts of different keys."""
    record_facts(scope, *(candidate(f"filler.{number}", f"Filler number {number}.") for number in range(count)))


def make_session(agent: Agent, user: User, *, surface: Surface = Surface.DASHBOARD_CHAT) -> Session:
    return open_session(agent=agent, created_by=user, surface=surface, now=timezone.now())


def make_turn(
    session: Session,
    said: str,
    reply: str = "I see.",
    *,
    status: Turn.Status = Turn.Status.COMPLETED,
    at: datetime | None = None,
) -> tuple[Turn, Message]:
    """A finished turn without extraction; returns it with the user's message."""
    now = at or timezone.now()
    turn = begin_turn(session=session, speaker=session.created_by, said=[Said("user", said, now)], now=now)
    finish_turn(turn=turn, status=status, reply=Reply(reply), at=now + timedelta(seconds=1), now=timezone.now())
    return turn, Message.objects.get(turn=turn, role="user")
