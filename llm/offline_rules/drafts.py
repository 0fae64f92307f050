"""The draft of a fact that rules hand on, and the helpers that they share to make one; must not read messages."""

import re
from dataclasses import dataclass
from datetime import date
from typing import Literal

from llm.offline_rules import dates
from llm.offline_rules.clauses import Clause
from llm.offline_rules.keys import join, slug

MemoryType = Literal["profile", "semantic", "episodic"]
MAX_CONTENT = 160


@dataclass(frozen=True, slots=True)
class Draft:
    """One fact before it is placed: `ends` is the first day on which it is of no use any more."""

    memory_type: MemoryType
    key: str
    content: str
    confidence: float
    ends: date | None = None


def draft(
    memory_type: MemoryType,
    key: str | tuple[str, ...],
    content: str | None,
    confidence: float,
    ends: date | None = None,
) -> list[Draft]:
    """Return the draft in a list, or nothing when a part is missing. Of a tuple of key parts, the last is a phrase."""
    if isinstance(key, tuple):
        tail = slug(key[-1])
        if not tail:
            return []
        key = join(*key[:-1], tail)
    if not content or not content.strip():
        return []
    text = " ".join(content.split()).strip(" ,;:")
    text = _before_a_name(text[:1].upper() + text[1:])
    return [Draft(memory_type, key, text.rstrip(".") + ".", confidence, ends)]


def _before_a_name(text: str) -> str:
    """Choose words that nobody takes for the first half of a name, as in "Likes Zelda" (E04a)."""
    found = re.match(r"(Likes|Dislikes|Their|Has) (?=[A-Z])", text)
    if not found:
        return text
    other = {"Likes": "Is fond of", "Dislikes": "Is not fond of", "Their": "The", "Has": "Lives with"}[found[1]]
    return f"{other} {text[found.end() :]}"


def timed(clause: Clause, said: date, *, future: bool) -> tuple[str, dates.When | None]:
    """Return the rest of the clause without its date expression, and the date, also one that opens the sentence."""
    found = dates.find(clause.rest, said, future=future)
    if found:
        return dates.without(clause.rest, found), found.when
    opening = dates.find(clause.opening, said, future=future) if clause.opening else None
    return clause.rest, opening.when if opening else None


def without_purpose(phrase: str) -> str:
    """Return the phrase without with whom, when and what for; a key needs no more."""
    return re.sub(
        r"(?<=\w)\s+(?:to (?:see|visit|do|help|get)|with|during|because of|next|this|and (?:help|see|visit))\b.*",
        "",
        phrase,
    )


def article(noun: str) -> str:
    """Return the noun phrase with an article unless it has one or is a plural."""
    first = noun.split(maxsplit=1)[0].lower()
    if first in {"a", "an", "the", "their", "head", "chief"} or noun.rsplit(maxsplit=1)[-1].lower() in {
        "ceo",
        "cto",
        "cfo",
        "coo",
    }:
        return noun
    return f"{'an' if first[0] in 'aeiou' else 'a'} {noun}"
