"""Find what a rule looks for in a growing text, and tell up to which place everything is found; change no text.

What is found depends on the text alone, never on the pieces in which it came (docs/adr/0031-guardrails.md).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Protocol

from chat.reading import Reading
from screening.pii import pii_in
from screening.text import compiled, fold

ENDLESS: Final = 1 << 62  # the end of a place that reaches to the end of the text, wherever that will be
MOST_SPACES: Final = 4  # between two words of a phrase
PASSAGE: Final = 200  # characters that are judged for personal data together with as many before or after them
_WORD: Final = re.compile(r"\S+")
_LOOSE_ENDS: Final = ".,;:!?)]}\"'"


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where something was found, in characters of the text as it was written; `rule` is the rule's position."""

    start: int
    end: int
    rule: int


class Finder(Protocol):
    """Looks for one rule's matches in one text."""

    settled: int  # every match that starts before this place of the raw text has been found

    def find(self, reading: Reading, *, final: bool) -> list[Place]:
        """Return what is newly found, in order."""
        ...

    def needs(self, reading: Reading) -> tuple[int, int]:
        """Return the places, in the raw text and in the views, from which on it still looks at the text."""
        ...


class PatternFinder:
    """Finds the matches of a compiled pattern, in the text as written or in its folded view.

    A match that starts at least `reach` + 1 characters before the end of what is there cannot change any more: neither
    what it consists of, nor what follows it. Without a reach nothing is certain before the end.
    """

    def __init__(self, rule: int, pattern: Any, reach: int | None, *, folded: bool) -> None:
        self.settled = 0
        self._rule, self._pattern, self._reach, self._folded = rule, pattern, reach, folded
        self._next = 0

    def find(self, reading: Reading, *, final: bool) -> list[Place]:
        text, start = (reading.folded, reading.view_from) if self._folded else (reading.raw, reading.raw_from)
        end = start + len(text)
        if self._reach is None and not final:
            return []
        certain = end + 1 if final else end - (self._reach or 0) - 1
        found = []
        if certain > self._next:
            for match in self._pattern.finditer(text, self._next - start):
                if start + match.start() >= certain:
                    break
                if match.end() > match.start():
                    found.append(self._place(reading, start + match.start(), start + match.end()))
                    self._next = start + match.end()
            self._next = min(max(self._next, certain), end)
        self.settled = reading.raw_start(self._next) if self._folded else self._next
        return found

    def _place(self, reading: Reading, start: int, end: int) -> Place:
        if self._folded:
            start, end = reading.raw_start(start), reading.raw_end(end)
        return Place(start, end, self._rule)

    def needs(self, reading: Reading) -> tuple[int, int]:
        return (reading.raw_to, self._next) if self._folded else (self._next, reading.view_to)


class PiiFinder:
    """Finds personal data of the chosen kinds, to the word: the fewest words that still show it.

    The text is cut into passages of at most `PASSAGE` characters, between words; each is judged together with the next
    one, so that data across a cut is found, and so is what only the words around it give away.
    """

    def __init__(self, rule: int, kinds: frozenset[str]) -> None:
        self.settled = 0
        self._rule, self._kinds = rule, kinds
        self._next = 0  # the beginning of the first passage that is not judged
        self._from = 0  # after what was found last

    def find(self, reading: Reading, *, final: bool) -> list[Place]:
        found: list[Place] = []
        while (second := self._end(reading, self._next, final)) is not None:
            third = self._end(reading, second, final)
            if third is None:
                break
            found += self._judge(reading, max(self._next, self._from), second, third)
            self._next = second
        self.settled = reading.raw_start(self._next)
        return found

    def _end(self, reading: Reading, start: int, final: bool) -> int | None:
        """Return where the passage ends that begins at a place; None when it is not whole or there is none."""
        text = reading.folded[start - reading.view_from : start - reading.view_from + PASSAGE]
        if len(text) == PASSAGE:
            return start + (max(text.rfind(" "), text.rfind("\n")) + 1 or PASSAGE)
        return start + len(text) if final and (text or start > self._next) else None

    def _judge(self, reading: Reading, start: int, second: int, end: int) -> Iterator[Place]:
        while start < second:
            begin, stop = start - reading.view_from, end - reading.view_from
            hit = self._fewest(reading.shown[begin:stop], reading.folded[begin:stop])
            if hit is None or start + hit[0] >= second:
                return
            yield Place(reading.raw_start(start + hit[0]), reading.raw_end(start + hit[1]), self._rule)
            start = self._from = start + hit[1]

    def _fewest(self, shown: str, folded: str) -> tuple[int, int] | None:
        """Return the place of the first data in a text: the earliest end that shows it, then the latest start."""

        def shows(start: int, end: int) -> bool:
            return not self._kinds.isdisjoint(pii_in(shown[start:end], folded[start:end]))

        words = [match.span() for match in _WORD.finditer(folded)]
        if not words or not shows(0, len(folded)):
            return None
        last = next((at for at, (_start, end) in enumerate(words) if shows(0, end)), len(words) - 1)
        first = next((at for at in range(last, 0, -1) if shows(words[at][0], words[last][1])), 0)
        while last + 1 < len(words) and _has_digit(folded, words[last + 1]):  # the rest of a number
            last += 1
        while first > 0 and _has_digit(folded, words[first - 1]):
            first -= 1
        start, end = words[first][0], words[last][1]
        while folded[end - 1] in _LOOSE_ENDS and shows(start, end - 1):
            end -= 1
        return start, end

    def needs(self, reading: Reading) -> tuple[int, int]:
        return reading.raw_to, self._next


class LengthFinder:
    """Finds what goes beyond a number of characters: one place without an end."""

    def __init__(self, rule: int, most: int) -> None:
        self.settled = 0
        self._rule, self._most = rule, most

    def find(self, reading: Reading, *, final: bool) -> list[Place]:
        if self.settled == ENDLESS:
            return []
        self.settled = reading.raw_to
        if reading.raw_to <= self._most:
            return []
        self.settled = ENDLESS
        return [Place(self._most, ENDLESS, self._rule)]

    def needs(self, reading: Reading) -> tuple[int, int]:
        return reading.raw_to, reading.view_to


def _has_digit(text: str, span: tuple[int, int]) -> bool:
    return any(character.isdigit() for character in text[slice(*span)])


def phrase_pattern(phrases: tuple[str, ...]) -> tuple[Any, int]:
    """Return a pattern that finds any of the phrases in folded text, and the length of its longest match.

    Words in Latin letters and digits are found as whole words only; other scripts are found anywhere, since not all of
    them put spaces between words.
    """
    found = {tuple(" ".join(fold(word) for word in phrase.split()).split()) for phrase in phrases} - {()}
    split = sorted(found, key=lambda words: (-sum(map(len, words)), words))
    reach = max((sum(map(len, words)) + MOST_SPACES * len(words) for words in split), default=0)
    return compiled("|".join(_phrase(words) for words in split)), reach


def _phrase(words: tuple[str, ...]) -> str:
    inner = rf"[\s]{{1,{MOST_SPACES}}}".join(_literal(word) for word in words)
    before = r"\b" if _is_plain(words[0][0]) else ""
    after = r"\b" if _is_plain(words[-1][-1]) else ""
    return f"{before}{inner}{after}"


def _literal(word: str) -> str:
    return "".join(c if c.isalnum() else rf"\x{{{ord(c):x}}}" for c in word)


def _is_plain(character: str) -> bool:
    return character.isascii() and character.isalnum()
