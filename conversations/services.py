"""Writes to the transcript: open or find a session, begin, stop and finish a turn (C02, C03)."""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Coalesce

from accounts.models import User
from agents.models import Agent
from audit.services import record
from conversations import digest
from conversations.models import Message, MessageQuerySet, Participant, Session, Turn
from conversations.recording import Said as Said  # noqa: PLC0414 (the services' word for a message, wherever it is used)
from conversations.recording import Standing, end_turn, insert_turn, lock_and_look, lock_unended, sessions_at
from conversations.surfaces import OWN_DOORS, Surface

# A turn that is still running after this long has lost its process; the next one may begin.
ABANDONED_AFTER: Final = timedelta(minutes=15)

# A process that streams a turn looks for a stop request many times in this span; past it, nobody is listening.
UNHEARD_AFTER: Final = timedelta(seconds=10)
NEW: Final = Standing(read_by_others=False, has_running=False, digest=None)


class SessionBusy(Exception):
    """Another turn of this session is still running."""


class SessionGone(Exception):
    """The session was deleted meanwhile."""


class SessionMoved(Exception):
    """The session's transcript is no longer the one that was to be continued."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a finished turn leaves: the reply and what went into it."""

    text: str
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class InPrompt:
    """What goes into a turn's prompt: why memory did or did not act, its facts, and the prompt's cache key (C09)."""

    memory_state: str = ""
    fact_ids: Sequence[uuid.UUID] = ()
    cache_key: str = ""


NOTHING: Final = InPrompt()


@dataclass(frozen=True, slots=True)
class Continued:
    """A session that a resent history continues, and the digest of that history."""

    session: Session
    digest: bytes


def open_session(
    *,
    agent: Agent,
    created_by: User,
    surface: Surface,
    now: datetime,
    title: str = "",
    external_thread_id: str = "",
) -> Session:
    """Store a session that has no turn yet."""
    session = new_session(agent=agent, created_by=created_by, surface=surface, now=now)
    session.title, session.external_thread_id = title[:120], external_thread_id
    session.save(force_insert=True)
    return session


def new_session(
    *,
    agent: Agent,
    created_by: User,
    surface: Surface,
    now: datetime,
    api_key_id: uuid.UUID | None = None,
    end_user_id: str = "",
) -> Session:
    """Return a session that is stored with its first turn."""
    return Session(
        organization_id=agent.organization_id,
        agent=agent,
        created_by=created_by,
        surface=surface,
        api_key_id=api_key_id,
        end_user_id=end_user_id,
        last_activity_at=now,
    )


def find_continued(
    *, agent: Agent, created_by: User, api_key_id: uuid.UUID, end_user_id: str, history: Sequence[tuple[str, str]]
) -> Continued | None:
    """Return the one session whose whole current transcript is `history`, (role, content) pairs (C02).

    None when no session matches, when more than one does, or when `history` does not end in an assistant message.
    """
    spoken = [pair for pair in history if pair[0] != "system"]
    if not spoken or spoken[-1][0] != "assistant":
        return None
    start = digest.start(
        organization_id=agent.organization_id, agent_id=agent.pk, api_key_id=api_key_id, end_user_id=end_user_id
    )
    current = digest.extend(start, spoken)
    found = sessions_at(
        current, agent=agent, created_by=created_by, api_key_id=api_key_id, end_user_id=end_user_id, limit=2
    )
    return Continued(found[0], current) if len(found) == 1 else None


@transaction.atomic
def begin_turn(
    *,
    session: Session,
    speaker: User,
    said: Sequence[Said],
    now: datetime,
    uses_memory: bool = True,
    continues: bytes | None = None,
    external_speaker_id: str = "",
    in_prompt: InPrompt = NOTHING,
) -> Turn:
    """Store what was said and a running turn. Raises SessionBusy while another turn of the session runs, SessionGone.

    With `external_speaker_id` somebody who is no member speaks through the connector of `speaker`.

    `continues` is the digest of the transcript that the caller goes on from; when another one came in between,
    SessionMoved is raised. Memory is not used for a turn that anybody but the session's creator speaks or hears (C10).
    """
    standing = NEW if session.is_new else refuse_while_running(session, now=now)
    if continues is not None and standing.digest != continues:
        raise SessionMoved
    turn = Turn(
        organization_id=session.organization_id,
        session=session,
        speaker=speaker,
        external_speaker_id=external_speaker_id,
        uses_memory=uses_memory and speaker.pk == session.created_by_id and not standing.read_by_others,
        memory_state=in_prompt.memory_state,
        fact_ids=list(in_prompt.fact_ids),
        prompt_cache_key=in_prompt.cache_key,
    )
    session.last_activity_at = now
    if not session.title:
        session.title = next((" ".join(m.content.split())[:80] for m in said if m.role == "user" and not m.passed), "")
    insert_turn(turn, said, speaker=None if external_speaker_id else speaker.pk, now=now)
    if speaker.pk != session.created_by_id and session.surface in OWN_DOORS:
        record(
            "session.operator_turn",
            actor=speaker,
            organization_id=session.organization_id,
            subject_user_id=session.created_by_id,
            agent_id=session.agent_id,
            object_id=session.pk,
            surface=session.surface,
        )
    return turn


def refuse_while_running(session: Session, *, now: datetime) -> Standing:
    """Lock a live session in which no turn runs, until the transaction ends. Raises SessionGone and SessionBusy."""
    standing = lock_and_look(session)
    if standing is None:
        raise SessionGone
    if standing.has_running:
        _end_abandoned(session, now)
        if Turn.objects.filter(session=session, status=Turn.Status.RUNNING).exists():
            raise SessionBusy
    return standing


def _end_abandoned(session: Session, now: datetime) -> None:
    """End turns whose process is gone: they have run too long, or nobody heard the request to stop."""
    gone = Q(created_at__lt=now - ABANDONED_AFTER) | Q(stop_requested_at__lt=now - UNHEARD_AFTER)
    Turn.objects.filter(gone, session=session, status=Turn.Status.RUNNING).update(
        status=Turn.Status.FAILED, error_code="abandoned", finished_at=now
    )


@transaction.atomic(savepoint=False)
def finish_turn(
    *, turn: Turn, status: Turn.Status, reply: Reply, at: datetime, now: datetime, error_code: str = ""
) -> bool:
    """Store the reply and end the turn, once; call it in the transaction that also starts the work that follows.

    Returns False, and stores nothing, when the turn has already ended (it was abandoned, or finished twice).
    """
    before = lock_unended(turn)
    if before.status != Turn.Status.RUNNING:
        return False
    turn.status, turn.finished_at, turn.error_code = status, now, error_code
    turn.model = reply.model
    turn.prompt_tokens, turn.completion_tokens = reply.prompt_tokens, reply.completion_tokens
    completed = status == Turn.Status.COMPLETED
    said = [Said("assistant", reply.text, at)] if reply.text or completed else []  # a client resends an empty reply too
    if completed:
        turn.transcript_digest = digest.extend(
            before.digest or _empty_digest(turn.session), [*before.said, *((one.role, one.content) for one in said)]
        )
    end_turn(turn, said, now=now)
    return True


def _empty_digest(session: Session) -> bytes:
    return digest.start(
        organization_id=session.organization_id,
        agent_id=session.agent_id,
        api_key_id=session.api_key_id,
        end_user_id=session.end_user_id,
    )


def request_stop(*, turn_id: uuid.UUID, session: Session, now: datetime) -> bool:
    """Ask a running turn to stop; the process that streams it looks for this mark. False when it has ended.

    A second request, after nobody heard the first one, ends the turn at once: its process is gone.
    """
    _end_abandoned(session, now)
    running = Turn.objects.filter(pk=turn_id, session=session, status=Turn.Status.RUNNING)
    return bool(running.update(stop_requested_at=Coalesce("stop_requested_at", now)))


def transcript(session: Session, speaker: User | None = None) -> MessageQuerySet:
    """Return the messages of completed turns, oldest first: what a model is shown of the past.

    Whoever cannot read the session, an operator who started it, is answered from her own turns alone (C03).
    """
    messages: MessageQuerySet = Message.objects.final().filter(session=session).order_by("position")
    outside = speaker is not None and speaker.pk != session.created_by_id
    if outside and not Participant.objects.filter(session=session, user=speaker).exists():
        messages = messages.filter(turn__speaker=speaker)
    return messages


def mark_passed(*, message_ids: Collection[uuid.UUID], organization_id: uuid.UUID, now: datetime) -> None:
    """Record that extraction is done with these messages (E02)."""
    Message.objects.filter(organization=organization_id, pk__in=message_ids, passed_at__isnull=True).update(
        passed_at=now
    )
