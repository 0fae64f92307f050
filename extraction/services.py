"""One run of extraction: what is shown, asked, judged, and written in one transaction (E02–E07)."""

import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import structlog
from django.db import transaction

from accounts.models import ApiKey
from agents import breaker
from agents.providers import model_for
from consent import gate
from consent.scope import ConsentedScope, Scope
from conversations.models import Message, Session
from conversations.services import mark_passed
from encryption.services import KeyUnavailable, ScopeKeys
from extraction import runs
from extraction.candidates import Candidate, read_candidates
from extraction.evidence import Heard, find_doubt
from extraction.grounding import Evidence, ungrounded
from extraction.models import Run
from extraction.own_words import Cited
from extraction.prompt import MAX_TOKENS, SCHEMA, Author, build_messages, build_repair
from extraction.runs import LeaseLost
from extraction.window import MAX_MESSAGES, Window, WindowMessage, choose_keys, choose_window
from facts.sealing import scope_keys_for_writing
from facts.services import MemoryClosed, NewFact, cited_messages, known_keys, record_candidates
from llm.client import ChatMessage, ChatRequest, Completion, ModelError, Usage
from llm.structured import Unreadable
from screening.verdict import screen

log = structlog.get_logger(__name__)

UNREADABLE_ATTEMPTS: Final = 2  # each asks twice; a model that cannot write JSON does not learn it by being asked
LONGEST_CALL: Final = 100.0  # seconds; two of them and the write fit into the queue's time-out and into the lease


class SessionDeleted(Exception):
    """The session was deleted: what was said in it is no evidence any more."""


class KeySwitchedOff(Exception):
    """The API key of the session neither reads nor writes memory any more."""


@dataclass(slots=True)
class Judged:
    """Candidates that passed, and why the others did not."""

    accepted: list[NewFact] = field(default_factory=list)
    refusals: Counter[str] = field(default_factory=Counter)


def extract(run_id: uuid.UUID, *, clock: Callable[[], datetime]) -> None:
    """Do one run: gate, window, model, screening, and one transaction that writes facts, marks and the run (E07)."""
    run = runs.claim(run_id, now=clock())
    if run is None:
        return
    started = time.monotonic()
    try:
        _extract(run, clock=clock, started=started)
    except Exception as error:
        try:
            _put_back_or_end(run, error, now=clock())
        except LeaseLost:
            log.info("extraction_lease_lost", run_id=str(run.pk), attempt=run.attempt)
    runs.wake_next(run, now=clock())


def _put_back_or_end(run: Run, error: Exception, *, now: datetime) -> None:
    """Decide what becomes of a run that did not get through. Raises LeaseLost."""
    match error:
        case LeaseLost():
            raise error
        case MemoryClosed():
            runs.end(run, Run.State.SKIPPED, now=now, error_code=str(error.reason))
        case KeySwitchedOff():
            runs.end(run, Run.State.SKIPPED, now=now, error_code="key_switch")
        case SessionDeleted():
            runs.end(run, Run.State.SKIPPED, now=now, error_code="session_deleted")
        case KeyUnavailable():
            log.error("extraction_key_unavailable", run_id=str(run.pk), code=error.code, kek_id=error.kek_id)
            runs.retry(run, now=now, error_code=f"key_{error.code}")
        case ModelError(code=breaker.UNAVAILABLE):
            runs.wait_for_provider(run, now=now, error_code=error.code, retry_after=error.retry_after)
        case ModelError(retryable=True):
            runs.retry(run, now=now, error_code=error.code, retry_after=error.retry_after)
        case ModelError():
            runs.end(run, Run.State.FAILED, now=now, error_code=error.code)
        case Unreadable():
            runs.retry(run, now=now, error_code=f"answer_{error.code}", attempts=UNREADABLE_ATTEMPTS)
        case _:
            # A fault of ours, or the database went away; then the lease runs out and the sweep brings the run back.
            log.error("extraction_crashed", run_id=str(run.pk), exc_info=error)
            runs.retry(run, now=now, error_code="crashed")


def _extract(run: Run, *, clock: Callable[[], datetime], started: float) -> None:
    scope = Scope(run.organization_id, run.user_id, run.agent_id)
    consented = gate.open_gate(scope, surface=run.session.surface)
    if isinstance(consented, gate.Closed):
        raise MemoryClosed(consented)
    check_key_switch(run)
    keys = scope_keys_for_writing(scope)
    zone = _zone(run.user.time_zone)
    known = choose_keys(known_keys(scope, now=clock()))
    messages = _newest_final(run)
    window = choose_window(_window_messages(run, consented, messages), keys=known)
    completion, judged = None, Judged()
    if window.has_own_words:
        asked = build_messages(window.shown, known, zone=zone)

        def read(answer: str) -> Judged:
            return judge(answer, window, messages, owner=run.user_id, now=clock(), zone=zone)

        completion, judged = _ask(run, asked, read, clock=clock)
    _write(run, consented, judged, window, keys=keys, completion=completion, now=clock(), started=started)


def _ask(
    run: Run, asked: tuple[ChatMessage, ...], read: Callable[[str], Judged], *, clock: Callable[[], datetime]
) -> tuple[Completion, Judged]:
    """Ask the model; show it an unreadable answer once, with what is wrong. Raises ModelError and Unreadable."""
    model = model_for(run.agent, attempts=1, longest=LONGEST_CALL)  # a run's own retries wait longer and hold no worker

    def call(messages: tuple[ChatMessage, ...]) -> Completion:
        request = ChatRequest(run.agent.model, messages, schema=SCHEMA, max_tokens=MAX_TOKENS)
        with breaker.guarded(run.agent.provider, clock=clock):
            return model.complete(request)

    first = call(asked)
    try:
        return first, read(first.text)
    except Unreadable as error:
        log.info("extraction_repair", run_id=str(run.pk), code=error.code)
        second = call(build_repair(asked, first.text, error.code))
    usage = Usage(
        first.usage.prompt_tokens + second.usage.prompt_tokens,
        first.usage.completion_tokens + second.usage.completion_tokens,
    )
    return replace(second, usage=usage), read(second.text)


def check_key_switch(run: Run, *, lock: bool = False) -> None:
    """Raise KeySwitchedOff when the session's API key has its memory switched off since the turn (I05).

    With `lock` the switch cannot be turned before the transaction ends.
    """
    if run.session.api_key_id is None:
        return
    keys = ApiKey.objects.filter(pk=run.session.api_key_id, organization=run.organization_id)
    if lock:
        keys = keys.select_for_update(no_key=True)
    if not keys.values_list("memory_enabled", flat=True).first():
        raise KeySwitchedOff


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
    read: dict[tuple[uuid.UUID, ...], Evidence] = {}  # candidates often cite the same messages
    for candidate in reading.candidates:
        source_ids = tuple(window.ids[source] for source in candidate.sources)
        cited = [by_id[source] for source in source_ids]
        if source_ids not in read:
            read[source_ids] = Evidence(cited)
        reason = _refusal(candidate, cited, read[source_ids], heard)
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


def _refusal(candidate: Candidate, cited: Sequence[Cited], evidence: Evidence, heard: Heard) -> str | None:
    if not any(source.own for source in cited):
        return "citation"
    verdict = screen(candidate.key, candidate.body)
    if verdict.reason:
        return verdict.reason
    if ungrounded(candidate.body, cited, evidence):
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
    """Write facts, passed marks and the run's end together, or nothing.

    Raises LeaseLost, MemoryClosed, SessionDeleted and KeySwitchedOff.
    """
    outcome = record_candidates(consented, judged.accepted, keys=keys, now=now, surface=run.session.surface)
    if not Session.objects.live().select_for_update(no_key=True).filter(pk=run.session_id).exists():
        raise SessionDeleted
    check_key_switch(run, lock=True)  # after the scope, in the one lock order; it undoes what was written
    mark_passed(message_ids=window.ids.values(), organization_id=run.organization_id, now=now)
    run.outcomes = dict(outcome.by_status)
    run.refusals = dict(judged.refusals + outcome.refusals)
    run.model = run.agent.model
    run.duration_ms = int((time.monotonic() - started) * 1000)
    if completion is not None:
        run.prompt_tokens = completion.usage.prompt_tokens
        run.completion_tokens = completion.usage.completion_tokens
    runs.end(run, Run.State.DONE, now=now)
