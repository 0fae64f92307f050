"""The life of a run: scheduled with its turn, claimed by lease, put back, ended once (E01, E07); judges no text.

`attempt` grows with each claim and is the fencing token: who no longer holds the newest one can write nothing.
"""

import random
import uuid
from datetime import datetime, timedelta
from typing import Final

import structlog
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, Q, QuerySet

from consent import gate
from consent.scope import Scope
from conversations.models import Turn
from conversations.surfaces import uses_facts
from database.prepared import prepared_cursor
from extraction.models import Run
from jobs.queue import INSERT, enqueue, task_row, waiting_tasks

log = structlog.get_logger(__name__)

TASK: Final = "extraction.tasks.extract"
GATE_STOOD_OPEN: Final = frozenset({"used", "empty"})  # Turn.memory_state after a read; other words leave it open
MAX_ATTEMPTS: Final = 4
BACKOFF: Final = timedelta(seconds=20)
MAX_WAIT: Final = timedelta(minutes=30)
MAX_AGE: Final = timedelta(days=3)  # a run that only waits for its provider gives up then; its messages are not lost

_GIVEN: Final = ("id", "organization_id", "user_id", "agent_id", "session_id", "turn_id", "due_at", "created_at")
# One statement for the run and its task, since every turn pays for it and the ORM takes longer than PostgreSQL.
_INSERT: Final = f"""
WITH run AS (
    INSERT INTO extraction_run ({", ".join(_GIVEN)}, state, attempt, error_code, outcomes, refusals, model, duration_ms,
        prompt_tokens, completion_tokens)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, 'waiting', 0, '', '{{}}', '{{}}', '', 0, 0, 0)
)
{INSERT}
"""  # noqa: S608


class LeaseLost(Exception):
    """Another worker has claimed the run, or it has ended; what this one did must not be written."""


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
    return _insert(turn, scope, now=now)


def _insert(turn: Turn, scope: Scope, *, now: datetime) -> Run:
    """Insert a waiting run and its task; what the database filled in is read when somebody asks for it."""
    run_id = uuid.uuid4()
    values = (run_id, scope.organization_id, scope.user_id, scope.agent_id, turn.session_id, turn.pk, now, now)
    with prepared_cursor() as cursor:
        cursor.execute(_INSERT, (*values, *task_row(TASK, run_id)))
    return Run.from_db(turn._state.db, _GIVEN, values)


def claim(run_id: uuid.UUID, *, now: datetime) -> Run | None:
    """Take the lease of a run that is due; None when there is none to take.

    A scope has one running run at a time; one whose lease ran out gives way. Whoever ends a run wakes the next.
    """
    run = Run.objects.select_related("session", "turn", "agent__provider", "user").filter(pk=run_id).first()
    if run is None:
        return None
    _of_scope(run).filter(state=Run.State.RUNNING, lease_until__lt=now).update(state=Run.State.WAITING)
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
    run.refresh_from_db(fields=["state", "attempt", "excused", "lease_until"])
    if run.tries > MAX_ATTEMPTS:  # it took its worker down each time
        end(run, Run.State.FAILED, now=now, error_code="crashed")
        wake_next(run, now=now)
        return None
    return run


def _of_scope(run: Run) -> QuerySet[Run]:
    return Run.objects.filter(organization=run.organization_id, user=run.user_id, agent=run.agent_id)


def wake_next(run: Run, *, now: datetime) -> None:
    """Enqueue the scope's oldest due run, which could not be claimed while this one ran."""
    waiting = _of_scope(run).filter(state=Run.State.WAITING, due_at__lte=now).order_by("created_at")
    next_id = waiting.values_list("pk", flat=True).first()
    if next_id is not None:
        enqueue(TASK, next_id)


def _held(run: Run) -> Q:
    """The condition under which this attempt still owns the run: the fencing token matches."""
    return Q(pk=run.pk, state=Run.State.RUNNING, attempt=run.attempt)


def end(run: Run, state: Run.State, *, now: datetime, error_code: str = "") -> None:
    """End a run with its counts. Raises LeaseLost."""
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


def retry(
    run: Run, *, now: datetime, error_code: str, retry_after: float | None = None, attempts: int = MAX_ATTEMPTS
) -> None:
    """Put the run back with a growing, jittered wait; after the last attempt it has failed. Passes no message."""
    if run.tries >= attempts:
        end(run, Run.State.FAILED, now=now, error_code=error_code)
        return
    wait = BACKOFF * 2 ** (run.tries - 1) * random.uniform(0.5, 1.5)  # noqa: S311 (jitter)
    _put_back(run, now=now, error_code=error_code, wait=max(wait, timedelta(seconds=retry_after or 0)))


def wait_for_provider(run: Run, *, now: datetime, error_code: str, retry_after: float | None) -> None:
    """Put back a run whose model was not called; that is no attempt. What has waited for days has failed."""
    if now - run.created_at > MAX_AGE:
        end(run, Run.State.FAILED, now=now, error_code=error_code)
        return
    # Not all at once: the first call after the wait is a probe, and the others would only be sent away again.
    wait = timedelta(seconds=retry_after or 0) + BACKOFF * random.uniform(0.1, 1.0)  # noqa: S311 (jitter)
    _put_back(run, now=now, error_code=error_code, wait=wait, excused=1)


def _put_back(run: Run, *, now: datetime, error_code: str, wait: timedelta, excused: int = 0) -> None:
    wait = min(wait, MAX_WAIT)
    Run.objects.filter(_held(run)).update(
        state=Run.State.WAITING,
        due_at=now + wait,
        lease_until=None,
        error_code=error_code,
        excused=F("excused") + excused,
    )
    log.info("extraction_run_waits", run_id=str(run.pk), code=error_code, seconds=round(wait.total_seconds()))


def sweep(*, now: datetime, limit: int = 100) -> int:
    """Enqueue runs that are due and whose task is lost or was put back; returns how many (E01).

    A claimed run stays away until its lease ends, so a task that is enqueued twice does nothing the second time. While
    the queue is long nothing is added: what waits there may well be these runs' own tasks.
    """
    room = limit - waiting_tasks()
    if room <= 0:
        return 0
    grace = timedelta(seconds=30)  # a fresh run's own task is on its way
    open_runs = Run.objects.filter(
        Q(state=Run.State.WAITING, due_at__lt=now, attempt__gt=0)
        | Q(state=Run.State.WAITING, due_at__lt=now - grace)
        | Q(state=Run.State.RUNNING, lease_until__lt=now)
    ).order_by("due_at")
    due = list(open_runs.values_list("pk", flat=True)[:room])
    for run_id in due:
        # One statement each: the next sweep leaves it alone for a while.
        Run.objects.filter(pk=run_id, state=Run.State.WAITING).update(due_at=now)
        enqueue(TASK, run_id)
    return len(due)
