"""Runs of extraction: scheduled with the turn, claimed by lease, finished once (E01–E07)."""

import random
import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import structlog
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, Q, QuerySet

from agents.providers import model_for
from consent import gate
from consent.scope import ConsentedScope, Scope
from conversations.models import Message, Turn
from conversations.services import mark_passed
from conversations.surfaces import uses_facts
from encryption.services import KeyUnavailable, ScopeKeys
from extraction.candidates import Candidate, read_candidates
from extraction.evidence import Heard, find_doubt
from extraction.grounding import ungrounded
from extraction.models import Run
from extraction.own_words import Cited
from extraction.prompt import SCHEMA, Author, build_messages
from extraction.window import MAX_MESSAGES, Window, WindowMessage, choose_keys, choose_window
from facts.sealing import scope_keys_for_writing
from facts.services import MemoryClosed, NewFact, cited_messages, known_keys, record_candidates
from jobs.queue import enqueue
from llm.client import ChatRequest, Completion, ModelError
from llm.structured import Unreadable
from screening.verdict import screen

log = structlog.get_logger(__name__)

TASK: Final = "extraction.tasks.extract"
GATE_STOOD_OPEN: Final = frozenset({"used", "empty"})  # Turn.memory_state after a read; other words leave it open
MAX_ATTEMPTS: Final = 4
BACKOFF: Final = timedelta(seconds=20)
MAX_WAIT: Final = timedelta(minutes=30)


class LeaseLost(Exception):
    """Another worker has claimed the run, or it has ended; what this one did must not be written."""


@dataclass(slots=True)
class Judged:
    """Candidates that passed, and why the others did not."""

    accepted: list[NewFact] = field(default_factory=list)
    refusals: Counter[str] = field(default_factory=Counter)


def schedule(turn: Turn, *, now: datetime) -> Run | None:
    """Write the run of a completed turn and enqueue its task; call it in the transaction that ends the turn (E01).

    Returns None when there is nothing to do: the turn did not complete, memory is off for it, the surface does not
    write facts, the speaker is not the scope's user, or the gate is shut. What the gate said when the turn began holds:
    `extract` asks again before it reads a word, and what was said before a grant is none of its business.
    """
    session = turn.session
    if (
        turn.status != Turn.Status.COMPLETED
        or not turn.uses_memory
        or turn.speaker_id != session.created_by_id
        or not uses_facts(session.surface)
        or turn.memory_state in gate.Closed
    ):
        return None
    scope = Scope(session.organization_id, session.created_by_id, session.agent_id)
    asked = turn.memory_state in GATE_STOOD_OPEN
    if not asked and isinstance(gate.open_gate(scope, surface=session.surface), gate.Closed):
        return None
    run = Run.objects.create(
        organization_id=scope.organization_id,
        user_id=scope.user_id,
        agent_id=scope.agent_id,
        session=session,
        turn=turn,
        due_at=now,
    )
    enqueue(TASK, run.pk)
    return run


def claim(run_id: uuid.UUID, *, now: datetime) -> Run | None:
    """Take the lease of a run that is due; None when there is none to take.

    A scope has one running run at a time; one whose lease ran out gives way. Whoever ends a run wakes the next.
    """
    run = Run.objects.select_related("session", "turn", "agent__provider", "user").filter(pk=run_id).first()
    if run is None:
        return None
    _scope_runs(run).filter(state=Run.State.RUNNING, lease_until__lt=now).update(state=Run.State.WAITING)
    try:
        with transaction.atomic():
            taken = Run.objects.filter(pk=run_id, state=Run.State.WAITING, due_at__lte=now).update(
                state=Run.State.RUNNING,
                attempt=F("attempt") + 1,
                lease_until=now + timedelta(seconds=settings.EXTRACTION_LEASE_SECONDS),
            )
    except IntegrityError:
        return None
    if not taken:
        return None
    run.refresh_from_db(fields=["state", "attempt", "lease_until"])
    if run.attempt > MAX_ATTEMPTS:  # it took its worker down each time
        _end(run, Run.State.FAILED, now=now, error_code="crashed")
        wake_next(run, now=now)
        return None
    return run


def _scope_runs(run: Run) -> QuerySet[Run]:
    return Run.objects.filter(organization=run.organization_id, user=run.user_id, agent=run.agent_id)


def wake_next(run: Run, *, now: datetime) -> None:
    """Enqueue the scope's oldest due run, which could not be claimed while this one ran."""
    waiting = _scope_runs(run).filter(state=Run.State.WAITING, due_at__lte=now).order_by("created_at")
    next_id = waiting.values_list("pk", flat=True).first()
    if next_id is not None:
        enqueue(TASK, next_id)


def extract(run_id: uuid.UUID, *, clock: Callable[[], datetime]) -> None:
    """Do one run: gate, window, model, screening, and one transaction that writes facts, marks and the run (E07)."""
    run = claim(run_id, now=clock())
    if run is None:
        return
    started = time.monotonic()
    try:
        _extract(run, clock=clock, started=started)
    except LeaseLost:
        log.info("extraction_lease_lost", run_id=str(run.pk), attempt=run.attempt)
    except MemoryClosed as error:
        _end(run, Run.State.SKIPPED, now=clock(), error_code=str(error.reason))
    except KeyUnavailable as error:
        log.error("extraction_key_unavailable", run_id=str(run.pk), code=error.code, kek_id=error.kek_id)
        _retry(run, now=clock(), error_code=f"key_{error.code}", retry_after=None)
    except ModelError as error:
        if error.retryable:
            _retry(run, now=clock(), error_code=error.code, retry_after=error.retry_after)
        else:
            _end(run, Run.State.FAILED, now=clock(), error_code=error.code)
    except Unreadable as error:
        _retry(run, now=clock(), error_code=f"answer_{error.code}", retry_after=None)
    wake_next(run, now=clock())


def _extract(run: Run, *, clock: Callable[[], datetime], started: float) -> None:
    scope = Scope(run.organization_id, run.user_id, run.agent_id)
    consented = gate.open_gate(scope, surface=run.session.surface)
    if isinstance(consented, gate.Closed):
        raise MemoryClosed(consented)
    keys = scope_keys_for_writing(scope)
    zone = _zone(run.user.time_zone)
    known = choose_keys(known_keys(scope, now=clock()))
    messages = _newest_final(run)
    window = choose_window(_window_messages(run, consented, messages), keys=known)
    completion, judged = None, Judged()
    if window.has_own_words:
        request = ChatRequest(
            model=run.agent.model, messages=build_messages(window.shown, known, zone=zone), schema=SCHEMA
        )
        completion = model_for(run.agent).complete(request)
        judged = judge(completion.text, window, messages, owner=run.user_id, now=clock(), zone=zone)
    _write(run, consented, judged, window, keys=keys, completion=completion, now=clock(), started=started)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")


def _newest_final(run: Run) -> list[Message]:
    """Return the 12 newest final messages up to the end of the triggering turn, newest first (E02)."""
    last = Message.objects.filter(turn=run.turn_id).order_by("-position").values_list("position", flat=True).first()
    if last is None:
        return []
    final = Message.objects.final().filter(session=run.session_id, position__lte=last)
    return list(final.select_related("turn").order_by("-position")[:MAX_MESSAGES])


def _window_messages(run: Run, consented: ConsentedScope, messages: Sequence[Message]) -> list[WindowMessage]:
    cited = cited_messages(consented.scope, [message.pk for message in messages])
    return [
        WindowMessage(
            id=message.pk,
            author=_author(message, run.user_id),
            at=message.at,
            text=message.content,
            # What was received before the current grant is none of extraction's business (F01), nor is a turn for
            # which memory was off.
            skip=message.passed_at is not None
            or message.pk in cited
            or message.created_at < consented.granted_at
            or not message.turn.uses_memory,
        )
        for message in messages
    ]


def _author(message: Message, owner: uuid.UUID) -> Author:
    if message.role == Message.Role.USER:
        return "member" if message.speaker_id == owner else "other"
    return "assistant" if message.role == Message.Role.ASSISTANT else "other"


def judge(
    answer: str, window: Window, messages: Sequence[Message], *, owner: uuid.UUID, now: datetime, zone: ZoneInfo
) -> Judged:
    """Read the model's answer and judge each candidate alone (E03, E04, E04a). Raises Unreadable.

    Grounding looks at whole stored messages, which hold at least what was shown.
    """
    reading = read_candidates(answer, shown_ids=window.ids.keys(), now=now, zone=zone)
    judged = Judged(refusals=Counter(reading.refusals))
    in_order = sorted(messages, key=lambda message: message.position)
    by_id = {m.pk: Cited(text=m.content, own=_author(m, owner) == "member", at=m.at) for m in in_order}
    heard = Heard(list(by_id.values()))
    for candidate in reading.candidates:
        source_ids = tuple(window.ids[source] for source in candidate.sources)
        reason = _refusal(candidate, [by_id[source] for source in source_ids], heard)
        if reason:
            judged.refusals[reason] += 1
            continue
        judged.accepted.append(
            NewFact(
                candidate.memory_type,
                candidate.key,
                candidate.body,
                candidate.confidence,
                source_ids,
                candidate.expires_at,
            )
        )
    return judged


def _refusal(candidate: Candidate, cited: Sequence[Cited], heard: Heard) -> str | None:
    if not any(source.own for source in cited):
        return "citation"
    verdict = screen(candidate.key, candidate.body)
    if verdict.reason:
        return verdict.reason
    if ungrounded(candidate.body, cited):
        return "ungrounded"
    doubt = find_doubt(candidate.body, cited, heard)
    return doubt.reason if doubt else None


@transaction.atomic
def _write(
    run: Run,
    consented: ConsentedScope,
    judged: Judged,
    window: Window,
    *,
    keys: ScopeKeys,
    completion: Completion | None,
    now: datetime,
    started: float,
) -> None:
    """Write facts, passed marks and the run's end together, or nothing. Raises LeaseLost and MemoryClosed."""
    outcome = record_candidates(consented, judged.accepted, keys=keys, now=now, surface=run.session.surface)
    mark_passed(message_ids=window.ids.values(), organization_id=run.organization_id, now=now)
    run.outcomes = dict(outcome.by_status)
    run.refusals = dict(judged.refusals + outcome.refusals)
    run.model = run.agent.model
    run.duration_ms = int((time.monotonic() - started) * 1000)
    if completion is not None:
        run.prompt_tokens = completion.usage.prompt_tokens
        run.completion_tokens = completion.usage.completion_tokens
    _end(run, Run.State.DONE, now=now)


def _held(run: Run) -> Q:
    """The condition under which this attempt still owns the run: the fencing token matches."""
    return Q(pk=run.pk, state=Run.State.RUNNING, attempt=run.attempt)


def _end(run: Run, state: Run.State, *, now: datetime, error_code: str = "") -> None:
    ended = Run.objects.filter(_held(run)).update(
        state=state,
        finished_at=now,
        lease_until=None,
        error_code=error_code,
        outcomes=run.outcomes,
        refusals=run.refusals,
        model=run.model,
        duration_ms=run.duration_ms,
        prompt_tokens=run.prompt_tokens,
        completion_tokens=run.completion_tokens,
    )
    if not ended:
        raise LeaseLost
    log.info("extraction_run_ended", run_id=str(run.pk), state=str(state), code=error_code)


def _retry(run: Run, *, now: datetime, error_code: str, retry_after: float | None) -> None:
    """Put the run back with a growing, jittered wait; after the last attempt it has failed. Passes no message."""
    if run.attempt >= MAX_ATTEMPTS:
        _end(run, Run.State.FAILED, now=now, error_code=error_code)
        return
    wait = BACKOFF * 2 ** (run.attempt - 1) * random.uniform(0.5, 1.5)  # noqa: S311 (jitter)
    wait = min(max(wait, timedelta(seconds=retry_after or 0)), MAX_WAIT)
    Run.objects.filter(_held(run)).update(
        state=Run.State.WAITING, due_at=now + wait, lease_until=None, error_code=error_code
    )
    log.info("extraction_run_waits", run_id=str(run.pk), code=error_code, seconds=round(wait.total_seconds()))


def sweep(*, now: datetime, limit: int = 100) -> int:
    """Enqueue runs that are due and whose task is lost or was put back; returns how many (E01).

    A claimed run stays away until its lease ends, so a task that is enqueued twice does nothing the second time.
    """
    grace = timedelta(seconds=30)  # a fresh run's own task is on its way
    open_runs = Run.objects.filter(
        Q(state=Run.State.WAITING, due_at__lt=now, attempt__gt=0)
        | Q(state=Run.State.WAITING, due_at__lt=now - grace)
        | Q(state=Run.State.RUNNING, lease_until__lt=now)
    ).order_by("due_at")
    due = list(open_runs.values_list("pk", flat=True)[:limit])
    for run_id in due:
        # One statement each: the next sweep leaves it alone for a while.
        Run.objects.filter(pk=run_id, state=Run.State.WAITING).update(due_at=now)
        enqueue(TASK, run_id)
    return len(due)
