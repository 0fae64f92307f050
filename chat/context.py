"""Gathers what a turn's prompt gets from memory; whatever goes wrong, the turn goes on without it (P05, C10)."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.utils.translation import get_language_info

from accounts.models import User
from consent.gate import Closed
from consent.scope import Scope
from conversations.access import read_by_others
from conversations.models import Session, Turn
from facts.prompt import read_block


@dataclass(frozen=True, slots=True)
class Context:
    """The memory block, the facts in it, and one word that says why memory did or did not act.

    `state` is used, empty, read_failed, key_switch, other_speaker, shared_session, or the gate's reason.
    """

    block: str
    fact_ids: tuple[UUID, ...]
    state: str


def heard_by_nobody_else(session: Session, speaker: User) -> bool:
    """Whether the creator speaks, in a session that nobody else can read; memory acts only then (C10)."""
    return speaker.pk == session.created_by_id and not read_by_others(session)


def gather(session: Session, turn: Turn, *, now: datetime) -> Context:
    """Return the context of a turn. Facts act only on the creator's own turns, in a session nobody else can read."""
    if not session.uses_memory:  # the reason there, whoever speaks and whoever else reads
        return Context("", (), Closed.SURFACE)
    if turn.speaker_id != session.created_by_id:
        return Context("", (), "other_speaker")
    if read_by_others(session):
        return Context("", (), "shared_session")
    if not turn.uses_memory:
        return Context("", (), "key_switch")
    scope = Scope(session.organization_id, session.created_by_id, session.agent_id)
    read = read_block(scope, surface=session.surface, now=now)
    return Context(read.block.text, read.block.fact_ids, read.state)


def member_settings(session: Session, turn: Turn) -> tuple[str, str]:
    """Return the speaker's time zone and the English name of her language, "" for what she has not set.

    Nothing is told of one who is not the session's creator, nor where she speaks for somebody else (`end_user_id`).
    What stands as a new account has it counts as not set.
    """
    member = turn.speaker
    if turn.speaker_id != session.created_by_id or session.end_user_id:
        return "", ""
    new = User()
    zone = "" if member.time_zone == new.time_zone else member.time_zone
    language = "" if member.language == new.language else member.language
    return zone if _is_zone(zone) else "", _language_name(language)


def _is_zone(name: str) -> bool:
    try:
        return bool(name and ZoneInfo(name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False


def _language_name(code: str) -> str:
    try:
        return get_language_info(code)["name"] if code else ""
    except KeyError:
        return ""
