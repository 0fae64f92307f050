"""What a session's owner does with it: its title, who reads it, and its end (T02, C10). Reads no message."""

import uuid
from datetime import datetime
from typing import Final

from django.db import transaction

from accounts.models import User
from audit.services import Detail, record
from conversations.access import may_take_part
from conversations.models import Message, Outsider, Participant, Session, Turn
from conversations.services import SessionGone, refuse_while_running
from encryption.erasure import note_own_erasure
from screening.text import clean_text

MAX_TITLE: Final = 120  # characters, as the column
MAX_PARTICIPANTS: Final = 50  # whoever wants more readers wants a public session


class CannotTakePart(Exception):
    """The user is no member who may use the agent."""


class TooManyParticipants(Exception):
    """The session has as many participants as it may."""


def rename_session(*, session: Session, title: str) -> None:
    """Give a session another title. Raises UnacceptableText."""
    clean = clean_text(title, max_length=MAX_TITLE, single_line=True)
    Session.objects.live().filter(pk=session.pk).update(title=clean)


@transaction.atomic
def set_public(*, session: Session, public: bool, actor: User) -> None:
    """Mark a session as public or private. Facts do not act on a public one (C10). Raises SessionGone."""
    row = _locked(session)
    if row.is_public == public:
        return
    row.is_public = public
    row.save(update_fields=["is_public"])
    _record("session.visibility", row, actor=actor, details={"public": public})


@transaction.atomic
def add_participant(*, session: Session, user: User, actor: User) -> bool:
    """Let a user read the whole session; returns False when she could already.

    From then on facts do not act on it (C10). Raises SessionGone, CannotTakePart and TooManyParticipants.
    """
    row = _locked(session)
    if not may_take_part(user, row.agent):
        raise CannotTakePart
    present = Participant.objects.filter(session=row)
    if user.pk == row.created_by_id or present.filter(user=user).exists():
        return False
    if present.count() >= MAX_PARTICIPANTS:
        raise TooManyParticipants
    Participant.objects.create(organization_id=row.organization_id, session=row, user=user)
    _record("session.add_participant", row, actor=actor, subject=user.pk)
    return True


@transaction.atomic
def remove_participant(*, session: Session, user_id: uuid.UUID, actor: User) -> bool:
    """End a user's reading of a session, by its creator or by herself. Raises SessionGone."""
    row = _locked(session)
    removed, _by_model = Participant.objects.filter(session=row, user=user_id).delete()
    if removed:
        _record("session.remove_participant", row, actor=actor, subject=user_id)
    return bool(removed)


@transaction.atomic
def delete_session(*, session: Session, actor: User, now: datetime) -> None:
    """Delete a session: its messages, title and participants go at once, its turns keep ids and counts (T02).

    Facts stay, and their source shows "removed". Raises SessionBusy while a turn runs, and SessionGone.
    """
    refuse_while_running(session, now=now)
    row = _locked(session)
    _record("session.delete", row, actor=actor, details={"messages": _empty(row, at=now)})
    note_own_erasure("session", at=now, session=row.pk)


@transaction.atomic
def repeat_session_deletion(*, session_id: uuid.UUID, at: datetime, reason: str) -> bool:
    """Delete again, after a restore, the session that was deleted at `at`; return whether it was there."""
    row = Session.objects.live().select_for_update(no_key=True, of=("self",)).filter(pk=session_id).first()
    if row is None:
        return False
    _record("session.delete", row, actor=None, details={"messages": _empty(row, at=at)}, reason=reason)
    return True


def _empty(row: Session, *, at: datetime) -> int:
    """Delete what a locked session holds and mark it; returns how many messages it held."""
    messages, _by_model = Message.objects.filter(session=row).delete()
    Participant.objects.filter(session=row).delete()
    Outsider.objects.filter(session=row).delete()
    Turn.objects.filter(session=row).update(transcript_digest=None, external_speaker_id="")
    row.title = row.external_thread_id = row.end_user_id = ""
    row.deleted_at = at
    row.save(update_fields=["title", "external_thread_id", "end_user_id", "deleted_at"])
    return messages


def _locked(session: Session) -> Session:
    """Return the live session, locked until the transaction ends."""
    row = Session.objects.live().select_for_update(no_key=True, of=("self",)).filter(pk=session.pk).first()
    if row is None:
        raise SessionGone
    return row


def _record(
    action: str,
    session: Session,
    *,
    actor: User | None,
    subject: uuid.UUID | None = None,
    details: dict[str, Detail] | None = None,
    reason: str = "",
) -> None:
    record(
        action,
        actor=actor,
        organization_id=session.organization_id,
        subject_user_id=subject or session.created_by_id,
        agent_id=session.agent_id,
        object_id=session.pk,
        surface=session.surface,
        reason=reason,
        details=details,
    )
