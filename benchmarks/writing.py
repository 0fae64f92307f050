"""B4: extraction without the model, from the model's answer to the committed rows."""

import json
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from django.db import transaction
from django.utils import timezone

from benchmarks import world
from benchmarks.figures import Check, Context, Outcome, against_floor, alternate
from consent.gate import open_for_member
from consent.scope import ConsentedScope, Scope
from conversations.models import Message, Turn
from conversations.services import Reply, Said, begin_turn, finish_turn, open_session
from conversations.surfaces import Surface
from extraction.services import judge
from extraction.window import WindowMessage, choose_window
from facts.models import LIFETIME, Fact
from facts.sealing import scope_keys_for_writing
from facts.services import record_candidates

# What a member says, and what a model makes of it.
SAID: Final = (
    ("home.city", "I live in Porto.", "Lives in Porto."),
    ("pet.cat", "My cat is called Miso.", "Has a cat called Miso."),
    ("diet", "I am vegetarian.", "Is vegetarian."),
    ("sport", "I play badminton on Thursdays.", "Plays badminton on Thursdays."),
    ("work", "I work as a nurse.", "Works as a nurse."),
    ("language", "I am learning Portuguese.", "Is learning Portuguese."),
    ("instrument", "I play the cello.", "Plays the cello."),
    ("commute", "I take the early train.", "Takes the early train."),
    ("sister", "My sister lives in Rome.", "Has a sister who lives in Rome."),
    ("drink", "I prefer green tea.", "Prefers green tea."),
)
ROWS: Final = len(SAID)
KEPT: Final = 50  # facts that the scope holds already


def answer(source: str) -> str:
    """Return the model's answer: ten candidates that cite one message."""
    facts = [
        {"type": "profile", "key": key, "content": body, "confidence": 0.9, "sources": [source]}
        for key, _said, body in SAID
    ]
    return json.dumps({"facts": facts})


def conversation(member: world.Member) -> list[Message]:
    """Store one finished turn in which the member says it all."""
    now = timezone.now()
    session = open_session(agent=member.agent, created_by=member.user, surface=Surface.API, now=now)
    said = Said("user", " ".join(said for _key, said, _body in SAID), now)
    turn = begin_turn(session=session, speaker=member.user, said=[said], now=now)
    later = now + timedelta(seconds=1)
    finish_turn(turn=turn, status=Turn.Status.COMPLETED, reply=Reply("I see."), at=later, now=later)
    return list(Message.objects.filter(turn=turn, role="user"))


def subject(member: world.Member, outcomes: list[int]) -> Callable[[], None]:
    """Return what is measured: read the answer, screen, ground, deduplicate, check for conflicts, seal, store."""
    messages = conversation(member)
    shown = [
        WindowMessage(id=message.pk, author="member", at=message.at, text=message.content, skip=False)
        for message in messages
    ]
    window = choose_window(shown, keys=[])
    text = answer(next(iter(window.ids)))
    consented = open_for_member(member.scope)
    assert isinstance(consented, ConsentedScope)

    def run() -> None:
        keys = scope_keys_for_writing(member.scope)
        now = timezone.now()
        judged = judge(text, window, messages, owner=member.user.pk, now=now, zone=ZoneInfo("UTC"))
        with transaction.atomic():
            outcome = record_candidates(consented, judged.accepted, keys=keys, now=now, surface="api")
        outcomes.append(outcome.by_status.total())

    return run


UNNEST: Final = (
    "INSERT INTO facts_fact (id, organization_id, user_id, agent_id, memory_type, status, key_hash, content_hash, "
    "sealed, dek_version, row_version, confidence, source_ids, expires_at, created_at, updated_at) "
    "SELECT id, %s, %s, %s, 'profile', 'active', key_hash, content_hash, sealed, 1, 1, 0.9, ARRAY[%s]::uuid[], %s, %s, "
    "%s FROM unnest(%s::uuid[], %s::bytea[], %s::bytea[], %s::bytea[]) AS t (id, key_hash, content_hash, sealed)"
)


def floor(scope: Scope) -> Callable[[], None]:
    """Return the floor: ten rows of the same size in one `unnest` INSERT, committed."""
    raw = world.raw_connection()
    now = timezone.now()
    sizes = [(uuid.uuid4().bytes * 2, uuid.uuid4().bytes * 2, uuid.uuid4().bytes * 8) for _ in range(ROWS)]
    key_hashes, content_hashes, sealed = (list(column) for column in zip(*sizes, strict=True))

    def run() -> None:
        ids = [uuid.uuid4() for _ in range(ROWS)]
        values: list[Any] = [scope.organization_id, scope.user_id, scope.agent_id, ids[0], now + LIFETIME, now, now]
        with raw.transaction():
            raw.execute(UNNEST, [*values, ids, key_hashes, content_hashes, sealed])

    return run


def measure_b4(_context: Context) -> Outcome:
    """Ten candidates into a scope that holds fifty facts; what was stored is removed between the runs, untimed."""
    world.full_member()
    member, other = world.new_member(facts=KEPT), world.new_member(facts=KEPT)
    outcomes: list[int] = []
    mine = set(Fact.objects.for_scope(member.scope).values_list("pk", flat=True))
    others = set(Fact.objects.for_scope(other.scope).values_list("pk", flat=True))

    def clear() -> None:
        Fact.objects.for_scope(member.scope).exclude(pk__in=mine).delete()
        Fact.objects.for_scope(other.scope).exclude(pk__in=others).delete()

    world.settle()
    timing = alternate(floor(other.scope), subject(member, outcomes), between=clear, pairs=150)
    return against_floor(timing, 4.0, Check("facts stored", min(outcomes), ROWS, at_least=True))
