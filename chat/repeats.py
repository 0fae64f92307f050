"""Requests that come twice (C01): the turn that a claimed key started, and its outcome from the stored transcript."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from accounts import idempotency
from accounts.idempotency import Claim
from agents.models import Agent
from chat import services
from chat.services import Started
from conversations.models import Message, Turn
from conversations.services import ABANDONED_AFTER, Reply, finish_turn
from llm.client import Completion, Usage

# A turn that failed or was broken off was not learned from, and whoever repeats the request still wants its answer.
# What guardrails stopped has its answer: running it again would store the message and count the hit once more.
OUTCOMES: Final = frozenset({Turn.Status.COMPLETED, Turn.Status.OUTPUT_RESTRICTED, Turn.Status.INPUT_BLOCKED})


class InProgress(Exception):
    """The first request of this key is still running."""


class Gone(Exception):
    """The turn of this key was deleted with its session."""


@dataclass(frozen=True, slots=True)
class Replay:
    """A finished turn, to be answered once more."""

    turn: Turn
    completion: Completion


def claim_or_replay(
    *, api_key_id: uuid.UUID, key: str, body: bytes, agent: Agent, clock: services.Clock
) -> Claim | Replay:
    """Claim a request, or return what the first one of the same key led to.

    What an API key claimed is found by it alone, so that the turn is one that it started.

    Raises InProgress, Gone, and `idempotency.KeyReused` for another body.
    """
    now = clock()
    earlier = idempotency.claim(api_key_id=api_key_id, key=key, body=body, now=now)
    if isinstance(earlier, Claim):
        return earlier
    if earlier.turn_id is None:
        raise InProgress
    turn = (
        Turn.objects.filter(
            pk=earlier.turn_id,
            organization=agent.organization_id,
            session__agent=agent,
            session__deleted_at__isnull=True,
        )
        .select_related("session")
        .first()
    )
    if turn is None:
        raise Gone
    if turn.status in OUTCOMES:
        return _replay(turn, earlier.finish_reason)
    if turn.status == Turn.Status.RUNNING and not _end_abandoned(turn, now):
        raise InProgress
    claimed = idempotency.reclaim(earlier, now=now)
    if claimed is None:
        raise InProgress
    return claimed


def start_once(claimed: Claim, start: Callable[[], Started], *, clock: services.Clock) -> Started:
    """Start the turn of a claim. Raises InProgress when the claim was lost meanwhile, and whatever `start` raises."""
    try:
        started = start()
    except BaseException:
        idempotency.release(claimed)
        raise
    if not idempotency.bind(claimed, turn_id=started.turn.pk):
        services.end(started, Turn.Status.FAILED, Completion(""), clock=clock, error_code="claim_lost")
        raise InProgress
    return started


def _replay(turn: Turn, finish_reason: str) -> Replay:
    said = turn.messages.filter(role=Message.Role.ASSISTANT).order_by("-position").values_list("content", flat=True)
    otherwise = "stop" if turn.status == Turn.Status.COMPLETED else "content_filter"
    usage = Usage(turn.prompt_tokens, turn.completion_tokens)
    return Replay(turn, Completion(said.first() or "", finish_reason or otherwise, usage, turn.model))


def _end_abandoned(turn: Turn, now: datetime) -> bool:
    if turn.created_at >= now - ABANDONED_AFTER:
        return False
    return finish_turn(turn=turn, status=Turn.Status.FAILED, reply=Reply(""), at=now, now=now, error_code="abandoned")
