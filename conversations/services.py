"""Writes to the transcript: open or find a session, begin, stop and finish a turn (C02, C03)."""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from accounts.models import User
from agents.models import Agent
from audit.services import record
from conversations import digest
from conversations.models import Message, Participant, Session, Turn
from conversations.surfaces import OWN_DOORS, Surface
from database.prepared import prepared_cursor

# A turn that is still running after this long has lost its process; the next one may begin.
ABANDONED_AFTER: Final = timedelta(minutes=15)


# A process that streams a turn looks for a stop request many times in this span; past it, nobody is listening.
UNHEARD_AFTER: Final = timedelta(seconds=10)


class SessionBusy(Exception):
    """Another turn of this session is still running."""


class SessionGone(Exception):
    """The session was deleted meanwhile."""


class SessionMoved(Exception):
    """The session's transcript is no longer the one that was to be continued."""


@dataclass(frozen=True, slots=True)
class Said:
    """One message to store: `at` dates it; `passed` keeps it from extraction for good."""

    role: str
    content: str
    at: datetime
    passed: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What a finished turn leaves: the reply and what went into it."""

    text: str
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0


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
    api_key_id: uuid.UUID | None = None,
    end_user_id: str = "",
    title: str = "",
    external_thread_id: str = "",
) -> Session:
    return Session.objects.create(
        organization_id=agent.organization_id,
        agent=agent,
        created_by=created_by,
        surface=surface,
        api_key_id=api_key_id,
        end_user_id=end_user_id,
        external_thread_id=external_thread_id,
        title=title[:120],
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
    last = Turn.objects.filter(session=OuterRef("session"), status=Turn.Status.COMPLETED).order_by("-created_at", "-id")
    continued = Turn.objects.filter(
        pk=Subquery(last.values("pk")[:1]),
        organization=agent.organization_id,
        transcript_digest=current,
        session__agent=agent,
        session__created_by=created_by,
        session__api_key_id=api_key_id,
        session__end_user_id=end_user_id,
        session__surface=Surface.API,
        session__deleted_at__isnull=True,
    ).select_related("session")[:2]
    return Continued(continued[0].session, current) if len(continued) == 1 else None


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
) -> Turn:
    """Store what was said and a running turn. Raises SessionBusy while another turn of the session runs, SessionGone.

    With `external_speaker_id` somebody who is no member speaks through the connector of `speaker`.

    `continues` is the digest of the transcript that the caller goes on from; when another one came in between,
    SessionMoved is raised.
    """
    refuse_while_running(session, now=now)
    if continues is not None and _current_digest(session) != continues:
        raise SessionMoved
    turn = Turn.objects.create(
        organization_id=session.organization_id,
        session=session,
        speaker=speaker,
        external_speaker_id=external_speaker_id,
        uses_memory=uses_memory,
    )
    _append(turn, said, None if external_speaker_id else speaker, now)
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
    session.last_activity_at = now
    fields = ["last_activity_at"]
    if not session.title:
        session.title = next((" ".join(m.content.split())[:80] for m in said if m.role == "user" and not m.passed), "")
        fields.append("title")
    session.save(update_fields=fields)
    return turn


def refuse_while_running(session: Session, *, now: datetime) -> Session:
    """Lock a live session in which no turn runs, until the transaction ends. Raises SessionGone and SessionBusy."""
    locked = Session.objects.live().select_for_update(no_key=True, of=("self",)).filter(pk=session.pk).first()
    if locked is None:
        raise SessionGone
    _end_abandoned(session, now)
    if Turn.objects.filter(session=session, status=Turn.Status.RUNNING).exists():
        raise SessionBusy
    return locked


def _end_abandoned(session: Session, now: datetime) -> None:
    """End turns whose process is gone: they have run too long, or nobody heard the request to stop."""
    gone = Q(created_at__lt=now - ABANDONED_AFTER) | Q(stop_requested_at__lt=now - UNHEARD_AFTER)
    Turn.objects.filter(gone, session=session, status=Turn.Status.RUNNING).update(
        status=Turn.Status.FAILED, error_code="abandoned", finished_at=now
    )


def _append(turn: Turn, said: Sequence[Said], speaker: User | None, now: datetime) -> None:
    last = (
        Message.objects.filter(session=turn.session_id).order_by("-position").values_list("position", flat=True).first()
    )
    first = 0 if last is None else last + 1
    Message.objects.bulk_create(
        Message(
            organization_id=turn.organization_id,
            session_id=turn.session_id,
            turn=turn,
            position=first + offset,
            role=message.role,
            speaker=speaker if message.role == "user" else None,
            content=message.content,
            at=message.at,
            passed_at=now if message.passed else None,
        )
        for offset, message in enumerate(said)
    )


# Every turn pays for it, and most of all for up to 200 ids: in binary form they cost a quarter of the text.
_NOTE_PROMPT: Final = (
    "UPDATE conversations_turn SET memory_state = %s, fact_ids = %b::uuid[], prompt_cache_key = %s WHERE id = %s"
)


def note_prompt(*, turn: Turn, memory_state: str, fact_ids: Sequence[uuid.UUID], cache_key: str) -> None:
    """Store what went into a turn's prompt: why memory did or did not act, its facts, and the cache key (C09)."""
    turn.memory_state, turn.fact_ids, turn.prompt_cache_key = memory_state, list(fact_ids), cache_key
    with prepared_cursor() as cursor:
        cursor.execute(_NOTE_PROMPT, (memory_state, turn.fact_ids, cache_key, turn.pk))


@transaction.atomic
def finish_turn(
    *, turn: Turn, status: Turn.Status, reply: Reply, at: datetime, now: datetime, error_code: str = ""
) -> bool:
    """Store the reply and end the turn, once; call it in the transaction that also starts the work that follows.

    Returns False, and stores nothing, when the turn has already ended (it was abandoned, or finished twice).
    """
    session = Session.objects.select_for_update(no_key=True).get(pk=turn.session_id)
    # Not the whole row: the ids of its facts take long to read.
    current = Turn.objects.select_for_update(no_key=True).values_list("status", flat=True).get(pk=turn.pk)
    if current != Turn.Status.RUNNING:
        return False
    if reply.text or status == Turn.Status.COMPLETED:  # a client resends an empty reply too
        _append(turn, [Said("assistant", reply.text, at)], turn.speaker, now)
    turn.status, turn.finished_at, turn.error_code = status, now, error_code
    turn.model = reply.model
    turn.prompt_tokens, turn.completion_tokens = reply.prompt_tokens, reply.completion_tokens
    if status == Turn.Status.COMPLETED:
        turn.transcript_digest = _digest(session, turn)
    # Not all columns: a stop request of another process stays.
    turn.save(
        update_fields=[
            "status",
            "finished_at",
            "error_code",
            "model",
            "prompt_tokens",
            "completion_tokens",
            "transcript_digest",
        ]
    )
    Session.objects.filter(pk=session.pk).update(last_activity_at=now)
    return True


def _digest(session: Session, turn: Turn) -> bytes:
    """Return the digest of the transcript of completed turns, this one included."""
    start = _current_digest(session) or digest.start(
        organization_id=session.organization_id,
        agent_id=session.agent_id,
        api_key_id=session.api_key_id,
        end_user_id=session.end_user_id,
    )
    return digest.extend(start, turn.messages.order_by("position").values_list("role", "content"))


def _current_digest(session: Session) -> bytes | None:
    stored = (
        Turn.objects.filter(session=session, status=Turn.Status.COMPLETED, transcript_digest__isnull=False)
        .order_by("-created_at", "-id")
        .values_list("transcript_digest", flat=True)
        .first()
    )
    return bytes(stored) if stored else None


def request_stop(*, turn_id: uuid.UUID, session: Session, now: datetime) -> bool:
    """Ask a running turn to stop; the process that streams it looks for this mark. False when it has ended.

    A second request, after nobody heard the first one, ends the turn at once: its process is gone.
    """
    _end_abandoned(session, now)
    running = Turn.objects.filter(pk=turn_id, session=session, status=Turn.Status.RUNNING)
    return bool(running.update(stop_requested_at=Coalesce("stop_requested_at", now)))


def transcript(session: Session, speaker: User | None = None) -> list[Message]:
    """Return the messages of completed turns, oldest first: what a model is shown of the past.

    Whoever cannot read the session, an operator who started it, is answered from her own turns alone (C03).
    """
    messages = Message.objects.final().filter(session=session).order_by("position")
    outside = speaker is not None and speaker.pk != session.created_by_id
    if outside and not Participant.objects.filter(session=session, user=speaker).exists():
        messages = messages.filter(turn__speaker=speaker)
    return list(messages)


def mark_passed(*, message_ids: Collection[uuid.UUID], organization_id: uuid.UUID, now: datetime) -> None:
    """Record that extraction is done with these messages (E02)."""
    Message.objects.filter(organization=organization_id, pk__in=message_ids, passed_at__isnull=True).update(
        passed_at=now
    )
