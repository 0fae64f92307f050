"""A member's own conversations as JSON lines (T04): what she may open in the web, and no fact (F12)."""

import json
import uuid
from collections.abc import Iterable, Iterator
from datetime import UTC
from typing import Any, Final

from accounts.models import User
from audit.services import record
from conversations.access import all_sessions_for
from conversations.models import Message, Session, Turn

PAGE: Final = 500  # messages fetched at once; nothing stays open in the database while a slow client reads


def export_conversations(user: User) -> Iterator[str]:
    """Record the download and return its lines, oldest session first; each is one message, as `replay` reads it."""
    sessions = list(all_sessions_for(user).order_by("created_at", "pk").select_related("agent__organization"))
    record("conversation.download", actor=user, subject_user_id=user.pk, details={"sessions": len(sessions)})
    return _lines(sessions, user.pk)


def _lines(sessions: Iterable[Session], user_id: uuid.UUID) -> Iterator[str]:
    for session in sessions:
        for message in _messages(session, user_id):
            yield _one_line(json.dumps(_entry(session, message, user_id), ensure_ascii=False)) + "\n"


def _one_line(entry: str) -> str:
    """Escape what some readers of lines take for an end of line; JSON itself lets it stand."""
    for sign in "\x85\u2028\u2029":
        entry = entry.replace(sign, f"\\u{ord(sign):04x}")
    return entry


def _messages(session: Session, user_id: uuid.UUID) -> Iterator[Message]:
    """Yield the messages; a download takes long, and ends where her access does."""
    stored = Message.objects.filter(organization=session.organization_id, session=session).order_by("position")
    position, more = -1, True
    while more and _may_read(user_id, session):
        page = list(stored.filter(position__gt=position).select_related("turn")[:PAGE])
        yield from page
        more = len(page) == PAGE
        position = page[-1].position if page else position


def _may_read(user_id: uuid.UUID, session: Session) -> bool:
    user = User.objects.filter(pk=user_id).first()
    return user is not None and user.is_live and all_sessions_for(user).filter(pk=session.pk).exists()


def _entry(session: Session, message: Message, user_id: uuid.UUID) -> dict[str, Any]:
    """Return one message; a reply that was withheld from her on the page is withheld here."""
    withheld = message.turn.status == Turn.Status.OUTPUT_RESTRICTED and message.role == Message.Role.ASSISTANT
    return {
        "session": str(session.pk),
        "agent": session.agent.public_name,
        "surface": session.surface,
        "role": message.role,
        "mine": message.speaker_id == user_id,
        "content": "" if withheld else message.content,
        "at": message.at.astimezone(UTC).isoformat(),
        "turn": message.turn.status,
    }
