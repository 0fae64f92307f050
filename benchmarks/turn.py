"""B3: what memory adds to a chat turn whose model answers at once."""

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from django.conf import settings
from django.utils import timezone

from benchmarks import world
from benchmarks.figures import Check, Context, Outcome, against_floor, alternate
from benchmarks.prompt_block import raw_block, statements
from benchmarks.scratch import pooled
from chat.services import complete, start_turn
from conversations.services import Said, open_session
from conversations.surfaces import Surface
from llm.client import ChatRequest, Chunk, Completion

SAID: Final = "I moved to Porto last week and I am looking for a badminton club."
ADDED_WITHOUT_CONSENT: Final = 1  # round trip


class InstantModel:
    """Answers at once and counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def complete(self, request: ChatRequest) -> Completion:
        self.calls += 1
        return Completion("Welcome to Porto!", model=request.model)

    def stream(self, request: ChatRequest) -> Iterator[Chunk]:
        yield Chunk(self.complete(request).text, finish_reason="stop")


def turn_of(member: world.Member, model: InstantModel) -> Callable[[], object]:
    """Return a function that opens a session and runs a whole turn in it."""

    def run() -> object:
        now = timezone.now()
        session = open_session(
            agent=member.agent, created_by=member.user, surface=Surface.DASHBOARD_CHAT, now=now, title="Moving"
        )
        started = start_turn(session=session, speaker=member.user, said=[Said("user", SAID, now)], now=now)
        return complete(started, clock=timezone.now, model=model)

    return run


@contextmanager
def kill_switch() -> Iterator[None]:
    """Turn memory off for the whole process, as the operator's variable does."""
    before = settings.AGENT_MEMORY_KILL_SWITCH
    settings.AGENT_MEMORY_KILL_SWITCH = "1"
    try:
        yield
    finally:
        settings.AGENT_MEMORY_KILL_SWITCH = before


def switched_off(run: Callable[[], object]) -> Callable[[], object]:
    def without_memory() -> object:
        with kill_switch():
            return run()

    return without_memory


def raw_enqueue() -> Callable[[], Any]:
    """Return a function that inserts one row as long as the queue's, inside an open transaction: no commit of its own.

    The turn commits with and without memory, so that the floor must not pay for a commit either.
    """
    payload = pickle.dumps({"func": "extraction.tasks.extract", "args": ("0" * 36,), "id": "0" * 32}).hex()
    raw = world.raw_connection()
    statement = "INSERT INTO django_q_ormq (key, payload, lock) VALUES (%s, %s, now())"
    return lambda: raw.execute(statement, ("benchmark", payload))


def measure_b3(_context: Context) -> Outcome:
    """A turn with memory minus the same turn under the kill switch, against B1's floor and one INSERT."""
    member = world.full_member()
    with pooled():
        return _against_floor(member, InstantModel())


def _against_floor(member: world.Member, model: InstantModel) -> Outcome:
    run = turn_of(member, model)
    off = switched_off(run)
    extra = _statements_of(run) - _statements_of(off)
    stranger = turn_of(world.new_member(consent=False), InstantModel())
    without_consent = _statements_of(stranger) - _statements_of(switched_off(stranger))
    calls_before, turns = model.calls, 10
    for _ in range(turns):
        run()
    calls = (model.calls - calls_before) / turns
    block, insert, raw = raw_block(member.scope), raw_enqueue(), world.raw_connection()
    with raw.transaction(force_rollback=True):
        timing = alternate(lambda: (block(), insert()), run, without=off, pairs=150)
    return against_floor(
        timing,
        2.0,
        Check("round trips added without consent", without_consent, ADDED_WITHOUT_CONSENT),
        Check("model calls in a turn", calls, 1),
        round_trips_added=extra,
    )


def _statements_of(run: Callable[[], object]) -> int:
    run()
    with statements() as seen:
        run()
    return len(seen)
