"""The members, agents and facts that figures work on, made through the services, and the raw reads for their floors."""

import itertools
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Final

import psycopg
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import Membership, User
from accounts.services import create_organization, create_user, set_membership
from agents.models import Agent
from agents.permissions import grant
from agents.services import get_or_create_provider, save_agent
from consent.gate import open_for_member
from consent.scope import ConsentedScope, Scope
from consent.services import grant_consent
from encryption.envelope import join
from encryption.services import organization_keys
from facts.sealing import scope_keys_for_writing
from facts.services import NewFact, record_candidates

FULL: Final = 200  # live facts that a scope may hold
COLLEAGUES: Final = 20  # other members with as many facts, so that no plan is chosen for an empty table
_numbers = itertools.count(1)

_THINGS: Final = (
    "Prefers the early train to {0} over driving.",
    "Is allergic to {0} and carries tablets.",
    "Plays {0} on Thursdays with two friends.",
    'Calls the cat "{0}".',
    "Mag am liebsten {0} zum Frühstück.",
    "Is learning {0} and wants to be fluent by spring.",
)
_WORDS: Final = (
    "Porto",
    "hazelnuts",
    "badminton",
    "Miso",
    "Müsli",
    "Portuguese",
    "the cello",
    "Rome",
    "pears",
    "chess",
)


@dataclass(frozen=True, slots=True)
class Member:
    """One member with one agent."""

    user: User
    agent: Agent

    @property
    def scope(self) -> Scope:
        return Scope(self.agent.organization_id, self.user.pk, self.agent.pk)


@cache
def agent() -> Agent:
    """Return the one agent of the scratch database."""
    return save_agent(
        organization=create_organization(slug="bench", name="Bench"),
        slug="guide",
        name="Guide",
        system_prompt="You are a helpful guide.",
        provider=get_or_create_provider(kind="offline", actor=None),
        model="offline-rules-1",
        actor=None,
    )


def new_member(*, facts: int = 0, consent: bool = True) -> Member:
    """Make a member who may read and update the agent, with so many active facts."""
    user = create_user(email=f"member{next(_numbers)}@bench.example", name="Member", password=uuid.uuid4().hex)
    set_membership(organization=agent().organization, user=user, role=Membership.Role.MEMBER)
    for permission in ("agent:read", "agent:update"):
        grant(agent=agent(), user=user, permission=permission, actor=None)
    member = Member(user, agent())
    if consent:
        grant_consent(scope=member.scope, actor=user, now=timezone.now(), surface="memoryTab")
    if facts:
        record(member.scope, [new_fact(number) for number in range(facts)])
    return member


def new_fact(number: int, source_ids: tuple[uuid.UUID, ...] = ()) -> NewFact:
    """Return a fact of ordinary length, different for each number: some with quotation marks, some beyond ASCII."""
    body = _THINGS[number % len(_THINGS)].format(_WORDS[number % len(_WORDS)])
    kind = ("profile", "semantic", "episodic")[number % 3]
    return NewFact(kind, f"topic.{number}", body, 0.5 + number % 50 / 100, source_ids)


def record(scope: Scope, facts: list[NewFact]) -> None:
    """Record facts as extraction does: gate, keys, then one transaction."""
    consented = open_for_member(scope)
    assert isinstance(consented, ConsentedScope)
    keys = scope_keys_for_writing(scope)
    with transaction.atomic():
        record_candidates(consented, facts, keys=keys, now=timezone.now(), surface="api")


@cache
def full_member() -> Member:
    """Return a member with a full scope, among colleagues with full scopes, the tables analyzed."""
    for _ in range(COLLEAGUES):
        new_member(facts=FULL)
    member = new_member(facts=FULL)
    settle()
    return member


def settle() -> None:
    """Let the planner know what is in the tables, and get the vacuum out of the way of the timings."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


@cache
def raw_connection() -> "psycopg.Connection[Any]":
    """Return a connection to the scratch database without Django, in autocommit."""
    settings = connection.settings_dict
    return psycopg.connect(
        host=settings["HOST"],
        port=settings["PORT"],
        user=settings["USER"],
        password=settings["PASSWORD"],
        dbname=settings["NAME"],
        autocommit=True,
    )


# IS TRUE as in the subject: without it the plan that PostgreSQL keeps takes the index by expiry and reads every scope.
RAW_SELECT: Final = (
    "SELECT id, memory_type, sealed FROM facts_fact WHERE organization_id = %s AND user_id = %s AND agent_id = %s "
    "AND status = 'active' AND (expires_at > %s) IS TRUE ORDER BY confidence DESC, created_at DESC, id LIMIT 200"
)


def raw_rows(scope: Scope, now: datetime) -> list[tuple[uuid.UUID, str, bytes]]:
    """Read the sealed rows of a scope with nothing but psycopg: binary, and prepared as psycopg does by itself."""
    parameters = (scope.organization_id, scope.user_id, scope.agent_id, now)
    return raw_connection().execute(RAW_SELECT, parameters, binary=True).fetchall()


def raw_opener(scope: Scope) -> Callable[[list[tuple[uuid.UUID, str, bytes]]], list[list[str]]]:
    """Return a function that opens records of the sealed format with one AESGCM and nothing around it.

    Written from the format, not from the code that is measured; it gives [label, body] of each record.
    """
    dek = organization_keys(scope.organization_id).deks[1]
    identity = join(scope.organization_id.bytes, scope.user_id.bytes, scope.agent_id.bytes)
    lead = join(b"F1", b"fact", identity)
    derived = HKDF(algorithm=SHA256(), length=48, salt=None, info=lead).derive(dek)
    aead, commitment = AESGCM(derived[:32]), derived[32:]
    lead += (16).to_bytes(4, "big")
    ends = {kind: join(kind.encode(), (1).to_bytes(4, "big")) for kind in ("profile", "semantic", "episodic")}

    def open_rows(rows: list[tuple[uuid.UUID, str, bytes]]) -> list[list[str]]:
        plains = []
        for row_id, kind, record in rows:
            if record[19:35] != commitment:
                raise ValueError("a record of another key")
            plains.append(aead.decrypt(record[7:19], record[35:], lead + row_id.bytes + ends[kind]))
        texts: list[list[str]] = json.loads(b"[%b]" % b",".join(plains))
        return texts

    return open_rows
