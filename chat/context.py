"""Gathers what a turn's prompt gets from memory; whatever goes wrong, the turn goes on without it (P05, C10)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.utils.translation import get_language_info

from accounts.models import User
from consent.gate import Closed
from consent.scope import Scope
from conversations.access import read_by_others
from conversations.models import Session
from facts.prompt import read_block

SHARED: Final = "shared_session"
_UNSET: Final = User()


@dataclass(frozen=True, slots=True)
class Context:
    """The memory block, the facts in it, and one word that says why memory did or did not act.

    `state` is used, empty, read_failed, key_switch, other_speaker, shared_session, or the gate's reason.
    """

    block: str
    fact_ids: tuple[UUID, ...]
    state: str


def gather(session: Session, speaker: User, *, uses_memory: bool, now: datetime) -> Context:
    """Return the context of a turn that is about to begin.

    Facts act only on the creator's own turns, in a session nobody else can read. `uses_memory` is the key's switch.
    """
    if not session.uses_memory:  # the reason there, whoever speaks and whoever else reads
        return Context("", (), Closed.SURFACE)
    if speaker.pk != session.created_by_id:
        return Context("", (), "other_speaker")
    if read_by_others(session):
        return Context("", (), SHARED)
    if not uses_memory:
        return Context("", (), "key_switch")
    scope = Scope(session.organization_id, session.created_by_id, session.agent_id)
    read = read_block(scope, surface=session.surface, now=now)
    return Context(read.block.text, read.block.fact_ids, read.state)


def member_settings(session: Session, speaker: User) -> tuple[str, str]:
    """Return the speaker's time zone and the English name of her language, "" for what she has not set.

    Nothing is told of one who is not the session's creator, nor where she speaks for somebody else (`end_user_id`).
    What stands as a new account has it counts as not set.
    """
    if speaker.pk != session.created_by_id or session.end_user_id:
        return "", ""
    zone = "" if speaker.time_zone == _UNSET.time_zone else speaker.time_zone
    language = "" if speaker.language == _UNSET.language else speaker.language
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
