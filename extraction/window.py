"""Which messages the model is shown (E02): a pure choice over plain values."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from extraction.prompt import Author, ShownMessage

MAX_MESSAGES: Final = 12  # newest final messages looked at
MAX_CHARACTERS: Final = 16_000  # of messages and known keys together
MAX_KEYS_CHARACTERS: Final = 2_000
ELLIPSIS: Final = " […]"


@dataclass(frozen=True, slots=True)
class WindowMessage:
    """One final message. `skip`: cited, passed, or received before the current grant."""

    id: UUID
    author: Author
    at: datetime
    text: str
    skip: bool


@dataclass(frozen=True, slots=True)
class Window:
    """What is shown, oldest first, with short ids; `ids` leads from a short id back to the message."""

    shown: tuple[ShownMessage, ...]
    ids: dict[str, UUID]

    @property
    def has_own_words(self) -> bool:
        return any(message.author == "member" for message in self.shown)


def cost(text: str) -> int:
    """Return the characters that a text takes in the request, where line breaks and quotes are escaped."""
    return len(json.dumps(text, ensure_ascii=False)) - 2


def _cut(text: str, budget: int) -> str:
    """Return the beginning of a text that fits with the mark of the cut."""
    room = budget - cost(ELLIPSIS)
    text = text[:room]
    while (over := cost(text) - room) > 0:
        # An escape takes at most six characters, so this never cuts much more than it must.
        text = text[: len(text) - max(1, over // 6)]
    return text + ELLIPSIS


def choose_keys(known: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the known (memory_type, key) pairs that fit into their part of the budget, in order."""
    chosen, used = [], 0
    for memory_type, key in known:
        used += len(memory_type) + cost(key)
        if used > MAX_KEYS_CHARACTERS:
            break
        chosen.append((memory_type, key))
    return chosen


def choose_window(newest_first: Sequence[WindowMessage], *, keys: Sequence[tuple[str, str]]) -> Window:
    """Return whole messages, newest first until the budget is full, shown oldest first.

    One message that alone exceeds the budget is cut, with a marked ellipsis.
    """
    budget = MAX_CHARACTERS - sum(len(memory_type) + cost(key) for memory_type, key in keys)
    chosen: list[tuple[WindowMessage, str]] = []
    for message in newest_first[:MAX_MESSAGES]:
        if message.skip:
            continue
        text = message.text
        if cost(text) > budget:
            if chosen:
                break
            text = _cut(text, budget)
        budget -= cost(text)
        chosen.append((message, text))
    chosen.reverse()
    shown = tuple(
        ShownMessage(id=f"m{number}", author=message.author, at=message.at, text=text)
        for number, (message, text) in enumerate(chosen, start=1)
    )
    return Window(shown, {f"m{number}": message.id for number, (message, _text) in enumerate(chosen, start=1)})
