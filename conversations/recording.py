"""The statements of a turn as text (C03): how its session stands, and the rows it writes; must not decide anything.

Text, because every turn pays for them and Django compiles each query set anew: that alone takes longer than PostgreSQL
needs. What one call sends goes in one trip. Call them in a transaction.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Final

from django.contrib.postgres.fields import ArrayField
from django.db import connection, models
from django.utils import timezone

from accounts.models import User
from agents.models import Agent
from conversations.access import READ_BY_OTHERS
from conversations.models import Session, Turn
from database.prepared import in_one_trip, prepared_cursor


@dataclass(frozen=True, slots=True)
class Said:
    """One message to store: `at` dates it; `passed` keeps it from extraction for good."""

    role: str
    content: str
    at: datetime
    passed: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """How a locked session stands: the digest is that of its newest completed turn."""

    read_by_others: bool
    has_running: bool
    digest: bytes | None


@dataclass(frozen=True, slots=True)
class Unended:
    """How a locked turn stands: its status, what was said in it, and the digest of the completed turns before it."""

    status: str
    said: tuple[tuple[str, str], ...]
    digest: bytes | None


# By the digest first, and its sessions after: joined freely, each session of the member was searched for its last turn.
_AT_DIGEST: Final = """
WITH found AS MATERIALIZED (
    SELECT id, session_id FROM conversations_turn WHERE organization_id = %s AND transcript_digest = %s
)
SELECT {columns} FROM found JOIN conversations_session session ON session.id = found.session_id
WHERE found.id = (
        SELECT id FROM conversations_turn WHERE session_id = found.session_id AND status = 'completed'
        ORDER BY created_at DESC, id DESC LIMIT 1
    )
    AND session.agent_id = %s AND session.created_by_id = %s AND session.api_key_id = %s AND session.end_user_id = %s
    AND session.surface = 'api' AND session.deleted_at IS NULL
LIMIT %s
"""
_LOCK_LIVE: Final = "SELECT is_public FROM conversations_session WHERE id = %s AND deleted_at IS NULL FOR NO KEY UPDATE"
_LOCK: Final = "SELECT FROM conversations_session WHERE id = %s FOR NO KEY UPDATE"
_DIGEST: Final = """(
    SELECT transcript_digest FROM conversations_turn
    WHERE session_id = %s AND status = 'completed' AND transcript_digest IS NOT NULL
    ORDER BY created_at DESC, id DESC LIMIT 1
)"""
_STANDING: Final = f"""
SELECT {READ_BY_OTHERS},
    EXISTS (SELECT FROM conversations_turn WHERE organization_id = %s AND session_id = %s AND status = 'running'),
    {_DIGEST}
"""  # noqa: S608
# Of the turn only what is needed: the ids of its facts take long to read.
_UNENDED: Final = f"""
SELECT status,
    ARRAY(SELECT role FROM conversations_message WHERE turn_id = turn.id ORDER BY position),
    ARRAY(SELECT content FROM conversations_message WHERE turn_id = turn.id ORDER BY position),
    {_DIGEST}
FROM conversations_turn turn WHERE id = %s FOR NO KEY UPDATE
"""  # noqa: S608
_MESSAGES: Final = """
INSERT INTO conversations_message (organization_id, session_id, turn_id, id, position, role, speaker_id, content, at,
    created_at, passed_at)
SELECT %s, %s, %s, new.id, last.position + new.number, new.role, CASE new.role WHEN 'user' THEN %s::uuid END,
    new.content, new.at, %s, CASE WHEN new.passed THEN %s::timestamptz END
FROM unnest(%b::uuid[], %b::text[], %b::text[], %b::timestamptz[], %b::bool[])
        WITH ORDINALITY AS new (id, role, content, at, passed, number),
    (SELECT coalesce(max(position), -1) AS position FROM conversations_message
        WHERE organization_id = %s AND session_id = %s) last
"""
_TOUCH: Final = """
UPDATE conversations_session SET title = CASE title WHEN '' THEN %s ELSE title END, last_activity_at = %s WHERE id = %s
"""
_END: Final = f"""
WITH said AS ({_MESSAGES}),
    session AS (UPDATE conversations_session SET last_activity_at = %s WHERE id = %s)
UPDATE conversations_turn SET status = %s, finished_at = %s, error_code = %s, model = %s, prompt_tokens = %s,
    completion_tokens = %s, transcript_digest = %s
WHERE id = %s
"""  # noqa: S608


def sessions_at(
    digest: bytes, *, agent: Agent, created_by: User, api_key_id: uuid.UUID, end_user_id: str, limit: int
) -> list[Session]:
    """Return live sessions of the API whose newest completed turn has this digest, at most `limit` of them."""
    whose = (agent.pk, created_by.pk, api_key_id, end_user_id)
    with prepared_cursor() as cursor:
        cursor.execute(_sessions_sql(), (agent.organization_id, digest, *whose, limit))
        rows = cursor.fetchall()
    sessions = [Session.from_db(connection.alias, _names(Session), row) for row in rows]
    for session in sessions:
        session.agent, session.created_by = agent, created_by
    return sessions


def lock_and_look(session: Session) -> Standing | None:
    """Lock a live session until the transaction ends and return how it stands; None when it is gone."""
    others = (session.pk, session.created_by_id) * 2
    with prepared_cursor() as lock, prepared_cursor() as look:
        with in_one_trip():
            lock.execute(_LOCK_LIVE, (session.pk,))
            # A second statement: it sees what was committed while the lock was waited for.
            look.execute(_STANDING, (*others, session.organization_id, session.pk, session.pk))
        locked, (heard, running, digest) = lock.fetchone(), look.fetchone()
    return Standing(locked[0] or heard, running, digest) if locked else None


def insert_turn(turn: Turn, said: Sequence[Said], *, speaker: uuid.UUID | None, now: datetime) -> None:
    """Insert a turn and what was said, in order, after what its session holds; title a session that has no title.

    A session that is new is inserted with them. Else it must be locked, so that the place of the messages is theirs.
    """
    session = turn.session
    messages = _messages(turn, said, speaker=speaker, now=now)
    if session.is_new:
        sql, last = _begin_sql(opening=True), _values(session)
    else:
        sql, last = _begin_sql(opening=False), (session.title, now, session.pk)
    with prepared_cursor() as cursor:
        cursor.execute(sql, (*_values(turn), *messages, *last))
    for row in (session, turn):
        row._state.adding, row._state.db = False, connection.alias


def lock_unended(turn: Turn) -> Unended:
    """Lock a turn's session and the turn until the transaction ends. Raises Turn.DoesNotExist."""
    with prepared_cursor() as lock, prepared_cursor() as look:
        with in_one_trip():
            lock.execute(_LOCK, (turn.session_id,))
            look.execute(_UNENDED, (turn.session_id, turn.pk))
        found = look.fetchone()
    if found is None:
        raise Turn.DoesNotExist
    status, roles, contents, digest = found
    return Unended(status, tuple(zip(roles, contents, strict=True)), digest)


def end_turn(turn: Turn, said: Sequence[Said], *, now: datetime) -> None:
    """Store a locked turn's end as it stands on `turn`, and its reply. A stop request of another process stays."""
    ended = (turn.status, turn.finished_at, turn.error_code, turn.model, turn.prompt_tokens, turn.completion_tokens)
    values: tuple[Any, ...] = (
        *_messages(turn, said, speaker=turn.speaker_id, now=now),
        *(now, turn.session_id),
        *(*ended, turn.transcript_digest, turn.pk),
    )
    with prepared_cursor() as cursor:
        cursor.execute(_END, values)


def _messages(turn: Turn, said: Sequence[Said], *, speaker: uuid.UUID | None, now: datetime) -> tuple[Any, ...]:
    return (
        *(turn.organization_id, turn.session_id, turn.pk, speaker, timezone.now(), now),
        [uuid.uuid4() for _message in said],
        [str(message.role) for message in said],
        [message.content for message in said],
        [message.at for message in said],
        [message.passed for message in said],
        *(turn.organization_id, turn.session_id),
    )


@cache
def _sessions_sql() -> str:
    return _AT_DIGEST.format(columns=", ".join(f"session.{field.column}" for field in Session._meta.concrete_fields))


def _names(model: type[models.Model]) -> list[str]:
    return [field.attname for field in model._meta.concrete_fields]


@cache
def _begin_sql(*, opening: bool) -> str:
    return f"WITH turn AS ({_insert(Turn)}), said AS ({_MESSAGES}) {_insert(Session) if opening else _TOUCH}"


def _insert(model: type[models.Model]) -> str:
    """Return the statement that inserts a whole row, so that a column that is added one day is not forgotten here."""
    fields = model._meta.concrete_fields
    # Up to 200 ids of facts: in binary form they cost a quarter of the text.
    places = [f"%b::{field.db_type(connection)}" if isinstance(field, ArrayField) else "%s" for field in fields]
    columns = ", ".join(str(field.column) for field in fields)
    return f"INSERT INTO {model._meta.db_table} ({columns}) VALUES ({', '.join(places)})"  # noqa: S608


def _values(row: models.Model) -> tuple[Any, ...]:
    return tuple(field.pre_save(row, add=True) for field in row._meta.concrete_fields)
