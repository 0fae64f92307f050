"""Feeds a transcript through the pipeline of a live chat (X02): real turns, real extraction, recorded replies."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from accounts.models import User
from agents.models import Agent
from chat import services as chat
from conversations.models import Session
from conversations.services import Said, open_session
from conversations.surfaces import Surface
from extraction import services as extraction
from extraction.models import Run
from jobs.models import Heartbeat
from jobs.supervisor import BEAT, WORKER_SILENT_AFTER
from lifecycle.transcripts import Exchange, FileMessage, exchanges, time_of
from llm.client import ChatModel, ChatRequest, Chunk, Completion

GIVE_UP_AFTER = 1800.0  # seconds without any run ending


class RecordedReply:
    """Stands for the model of a turn whose reply the file already has."""

    def __init__(self, text: str) -> None:
        self._text = text

    def complete(self, request: ChatRequest) -> Completion:
        return Completion(self._text, model="recorded")

    def stream(self, request: ChatRequest) -> Iterator[Chunk]:
        yield Chunk(self._text, "stop")


@dataclass(slots=True)
class Replayed:
    """What a replay made: its sessions, and counts of turns by status."""

    session_ids: list[UUID] = field(default_factory=list)
    turns: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Report:
    """What extraction made of the sessions: runs by state, facts by status, refusals by reason."""

    runs: dict[str, int]
    facts: dict[str, int]
    refusals: dict[str, int]


def replay(
    sessions: Sequence[Sequence[FileMessage]],
    *,
    agent: Agent,
    user: User,
    surface: Surface,
    step: Callable[[], object] = lambda: None,
) -> Replayed:
    """Run every exchange of every session as a turn of `user`; `step` is called after each."""
    done = Replayed()
    for messages in sessions:
        session = open_session(agent=agent, created_by=user, surface=surface, now=timezone.now())
        done.session_ids.append(session.pk)
        at: datetime | None = None
        for exchange in exchanges(messages):
            at = _turn(session, user, exchange, after=at, done=done)
            step()
    return done


def _turn(session: Session, user: User, exchange: Exchange, *, after: datetime | None, done: Replayed) -> datetime:
    now = timezone.now()
    said = []
    at = after
    for message in exchange.said:
        at = time_of(message, after=at, now=now)
        said.append(Said("user", message.content, at))
    assert at is not None  # noqa: S101 (an exchange has at least one message)
    model: ChatModel | None = None
    if exchange.reply is not None:
        at = time_of(exchange.reply, after=at, now=now)
        model = RecordedReply(exchange.reply.content)
    started = chat.start_turn(session=session, speaker=user, said=said, now=now, reply_at=at)
    chat.complete(started, clock=timezone.now, model=model)
    done.turns["completed"] += 1
    return at


def worker_alive() -> bool:
    return Heartbeat.objects.filter(name=BEAT, at__gt=timezone.now() - WORKER_SILENT_AFTER).exists()


def wait(session_ids: Sequence[UUID], *, step: Callable[[int], object] = lambda done: None) -> bool:
    """Return when no run of these sessions is open; False when nothing moved for half an hour.

    Without a live worker the runs are done in this process, so that a replay works on a bare machine too.
    """
    runs = Run.objects.filter(session__in=session_ids)
    total, last, moved_at = runs.count(), -1, time.monotonic()
    while True:
        open_runs = list(
            runs.filter(state__in=[Run.State.WAITING, Run.State.RUNNING])
            .order_by("created_at")
            .values_list("pk", flat=True)
        )
        if len(open_runs) != last:
            last, moved_at = len(open_runs), time.monotonic()
            step(total - last)
        if not open_runs:
            return True
        if time.monotonic() - moved_at > GIVE_UP_AFTER:
            return False
        if worker_alive():
            time.sleep(0.5)
        else:
            extraction.extract(open_runs[0], clock=timezone.now)
            if len(open_runs) == 1:
                time.sleep(0.2)


def report(session_ids: Sequence[UUID]) -> Report:
    """Return the counts of the sessions' runs."""
    runs: Counter[str] = Counter()
    facts: Counter[str] = Counter()
    refusals: Counter[str] = Counter()
    for state, outcomes, refused in Run.objects.filter(session__in=session_ids).values_list(
        "state", "outcomes", "refusals"
    ):
        runs[state] += 1
        facts.update(outcomes)
        refusals.update(refused)
    return Report(dict(runs), dict(facts), dict(refusals))
