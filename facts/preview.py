"""What the next turn would get from memory, to the character, and what is left out and why; writes nothing (P01)."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consent.scope import Scope
from facts.prompt import MAX_CHARACTERS, read_block
from facts.services import ListedFact, list_facts

_CLOSED: Final[dict[str, Promise]] = {
    "kill_switch": _("Memory is turned off for this whole deployment by its operator."),
    "no_consent": _("You have not turned memory on for this agent."),
    "withdrawn": _("Memory is turned off for this agent."),
    "read_failed": _("Your facts could not be read just now. A turn would go on without memory. Tell the operator."),
}
_UNUSABLE: Final = _("Memory cannot be used by your account with this agent now.")
_SET_ASIDE: Final[dict[str, Promise]] = {
    "pending": _("Pending: it disagrees with another fact that came at the same time."),
    "conflict": _("Conflict: it disagrees with a fact that was there before."),
}
_EXPIRED: Final = _("Expired.")
_UNREADABLE: Final = _("It cannot be decrypted now.")
_NO_ROOM: Final = _("It does not fit into the block; shorter facts after it may.")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One listed fact that is not in the block; `key` is empty when it cannot be decrypted."""

    id: uuid.UUID
    key: str
    why: str


@dataclass(frozen=True, slots=True)
class Preview:
    """The block that the next turn would receive; `closed` says why memory would not act at all, or is empty."""

    text: str
    used: int
    left_out: tuple[LeftOut, ...]
    stored: int
    closed: str
    limit: int = MAX_CHARACTERS

    @property
    def characters(self) -> int:
        return len(self.text)


def read_preview(scope: Scope, *, now: datetime) -> Preview:
    """Read the block as a turn does, and the list beside it; a constant, small number of queries."""
    read = read_block(scope, surface=None, now=now)
    listed = list_facts(scope, now=now)
    acts = read.state in ("used", "empty")
    used, no_room = set(read.block.fact_ids), set(read.block.left_out)
    reasons = ((fact, _why(fact, no_room)) for fact in listed if fact.row.pk not in used)
    left_out = [
        LeftOut(fact.row.pk, fact.opened.label if fact.opened else "", str(why)) for fact, why in reasons if why
    ]
    return Preview(
        text=read.block.text,
        used=len(used),
        left_out=tuple(left_out) if acts else (),
        stored=len(listed),
        closed="" if acts else str(_CLOSED.get(read.state, _UNUSABLE)),
    )


def _why(fact: ListedFact, no_room: set[uuid.UUID]) -> Promise | None:
    """Say why a listed fact is left out; None for one that was stored between the two reads."""
    if fact.expired:
        return _EXPIRED
    if fact.row.status in _SET_ASIDE:
        return _SET_ASIDE[fact.row.status]
    if fact.opened is None:
        return _UNREADABLE
    return _NO_ROOM if fact.row.pk in no_room else None
