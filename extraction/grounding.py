"""Check that a fact says only what the member's own cited words say (E04a); must not ask a model or a database."""

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

from extraction.dates import EXPLICIT_DATE, date_parts, fits, spans_of
from extraction.numbers import numbers_of
from extraction.own_words import MAX_READ, Cited
from extraction.places import GIVEN_NAMES, PLACE_OF
from extraction.vocabulary import MONTHS, NO_NAME, PEOPLE_OF, SHORT_WEEKDAYS, VERBS, WEEKDAYS
from screening.text import WORD_WITH_ENDING, compiled, fold, fold_visible, visible, words_of

_QUOTED: Final = compiled(r"\"([^\"\n]+)\"|(?:^|[ (])'([^'\n]{2,}?)'(?:$|[ ).,;:!?])")
_SENTENCE: Final = compiled(r"(?:^|[.!?:\n] +|^[\"'(]+)$")
_DIGITS: Final = re.compile(r"[0-9]{1,4}")
YEAR: Final = 366  # days
_LATIN_RUN: Final = compiled(r"[A-Za-z][A-Za-z0-9]+")
_CJK: Final = compiled(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]")
_KATAKANA: Final = compiled(r"[\p{Katakana}ー]{3,}")


def ungrounded(body: str, cited: Sequence[Cited], evidence: "Evidence | None" = None) -> str | None:
    """Return the rule by which a body says more than the member's own cited words (E04a), or None.

    Rules: quoted (no own words are left), quote, date, number, name. `evidence` is the cited messages when they were
    read already, for another candidate that cites the same ones.
    """
    evidence = evidence or Evidence(cited)
    if not evidence.messages:
        return "quoted"
    shown = visible(body)
    folded = fold_visible(shown)
    if any(not evidence.says(quote) for quote in _quotes(folded)):
        return "quote"
    rest = folded
    for match in EXPLICIT_DATE.finditer(folded) if _DIGITS.search(folded) else ():
        if (parts := date_parts(match)) is not None:
            if not evidence.dates(*parts):
                return "date"
            rest = rest.replace(match.group(), " ", 1)
    if any(not evidence.counts(value) for value in numbers_of(rest, loose=False)):
        return "number"
    if any(not evidence.weekday(word) for word in WEEKDAYS.keys() & words_of(rest)):
        return "date"
    if any(not evidence.names(place) for place in _places(folded)):
        return "name"
    return None if all(evidence.names(name) for name in _names(shown)) and evidence.shares_script(folded) else "name"


def _quotes(folded: str) -> Iterator[str]:
    for match in _QUOTED.finditer(folded) if '"' in folded or "'" in folded else ():
        yield match.group(1) or match.group(2)


def _places(folded: str) -> Iterator[str]:
    """Yield the known places of a text in scripts that have no capitals to tell names by."""
    if folded.isascii():
        return
    words = set(words_of(folded))
    cjk = _has_cjk(folded)
    for place in PLACE_OF:
        if not place.isascii() and (place in words or (cjk and len(place) > 1 and place in folded)):
            yield place


def _names(shown: str) -> Iterator[str]:
    """Yield the words of a text that may be names: capitalized and not at the start, or of another script."""
    cjk = _has_cjk(shown)
    matches = [] if cjk else list(WORD_WITH_ENDING.finditer(shown))
    for place, match in enumerate(matches):
        word = match.group()
        if word.islower() or not any(c.isupper() for c in word):
            continue
        owner = word.endswith("'s")
        word = word.removesuffix("'s")
        first = place == 0 or bool(_SENTENCE.search(shown[max(0, match.start() - 4) : match.start()]))
        after = matches[place + 1] if place + 1 < len(matches) else None
        # A lone name at the start, which its capital alone does not tell, is one when it is known as a given name.
        named = owner or fold_visible(word) in GIVEN_NAMES
        if not first or named or (after is not None and _is_full_name(match, after, shown)):
            yield word.casefold()
    for pattern in (_KATAKANA, _LATIN_RUN) if cjk else ():
        for match in pattern.finditer(shown):
            yield match.group()


def _has_cjk(text: str) -> bool:
    return not text.isascii() and bool(_CJK.search(text))


def _is_full_name(word: Any, after: Any, shown: str) -> bool:
    """Return whether a sentence starts with two capitalized words and goes on with a verb: "Maria Silva is"."""
    if not after.group()[0].isupper() or shown[word.end() : after.start()] != " ":
        return False
    rest = shown[after.end() :].split(maxsplit=1)
    return bool(rest) and rest[0] in VERBS


class Evidence:
    """The member's own words of the cited messages, and which dates, numbers and names they prove.

    Only words count that the member wrote herself: other people's messages and passages that she quoted or pasted
    prove nothing. What most facts do not ask about is read when the first one asks.
    """

    def __init__(self, cited: Sequence[Cited]):
        own = [(message.own_words, message.at.date()) for message in cited]
        self.messages = [(fold(text)[:MAX_READ], at) for text, at in own if any(c.isalnum() for c in text)]
        self.text = " ".join(folded for folded, _at in self.messages)
        in_order = words_of(self.text)
        self.flat = " ".join(in_order)
        self.words = frozenset(in_order) | {word.removesuffix("'s") for word in in_order}
        self.cjk = _has_cjk(self.text)

    @cached_property
    def numbers(self) -> set[float]:
        return numbers_of(self.text, loose=True)

    @cached_property
    def digits(self) -> frozenset[int]:
        return frozenset(map(int, _DIGITS.findall(self.text)))

    @cached_property
    def spans(self) -> list[tuple[date, date]]:
        return [span for folded, at in self.messages for span in spans_of(folded, at)]

    def says(self, quote: str) -> bool:
        return " ".join(words_of(quote)) in self.flat

    def dates(self, year: int | None, month: int | None, day: int | None) -> bool:
        """Return whether a date is in the words, or lies in a span of time that they speak of."""
        months = {MONTHS[word] for word in self.words if word in MONTHS}
        this_day = (month is None or month in months or month in self.numbers or month in self.digits) and (
            day is None or day in self.numbers or day in self.digits
        )
        if this_day and (year is None or year in self.numbers or year in self.digits):
            return True
        if this_day and year is not None and month is not None and self._is_near(year, month, day or 15):
            return True
        return any(fits(start, end, year, month, day) for start, end in self.spans)

    def _is_near(self, year: int, month: int, day: int) -> bool:
        """Return whether a day that was named without its year is the next or the last one of that name."""
        try:
            named = date(year, month, day)
        except ValueError:
            return False
        return any(abs((named - at).days) <= YEAR for _text, at in self.messages)

    def counts(self, value: float) -> bool:
        """Return whether a number is in the words, or is the years since a year in them."""
        years = {at.year - n for _text, at in self.messages for n in self.numbers if 1900 <= n <= at.year}
        return (
            value in self.numbers
            or (value >= 100 and value in self.digits)
            or (value > 1 and any(abs(value - passed) <= 1 for passed in years))
        )

    def weekday(self, word: str) -> bool:
        wanted = WEEKDAYS[word]
        if word in self.words or word in self.text:
            return True
        if any(WEEKDAYS.get(said, SHORT_WEEKDAYS.get(said)) == wanted for said in self.words):
            return True
        short = [(start, end) for start, end in self.spans if (end - start).days <= 9]
        return any(
            (start + timedelta(n)).weekday() == wanted for start, end in short for n in range((end - start).days + 1)
        )

    def names(self, name: str) -> bool:
        """Return whether a name is in the words, inflected at most, or is a common word."""
        folded = fold(name)
        if folded in self.words or folded in NO_NAME or folded in MONTHS or folded in WEEKDAYS or folded.isdigit():
            return True
        if self.cjk or _has_cjk(folded):
            return folded in self.text or any(other in self.text for other in PLACE_OF.get(folded, "").split())
        people, place = PEOPLE_OF.get(folded), PLACE_OF.get(folded)
        return any(
            _is_inflected(folded, word)
            or (people is not None and PEOPLE_OF.get(word) == people)
            or (place is not None and PLACE_OF.get(word) == place)
            for word in self.words
        )

    def shares_script(self, folded: str) -> bool:
        """Return False for a body in Han or kana that shares no two neighboring characters with such a message."""
        if folded.isascii():
            return True
        pairs = {a + b for a, b in pairwise(folded) if _CJK.search(a) and _CJK.search(b)}
        pairs |= {match.group() for match in _KATAKANA.finditer(folded)}
        return not pairs or not self.cjk or any(pair in self.text for pair in pairs)


def _is_inflected(name: str, word: str) -> bool:
    """Return whether two words differ in their ending alone: "portuguese" and "portugal", "annas" and "anna"."""
    shared = 0
    for a, b in zip(name, word, strict=False):
        if a != b:
            break
        shared += 1
    return (shared >= 4 and len(name) - shared <= 4 and len(word) - shared <= 4) or (
        shared >= 3 and shared == len(word) and len(name) - shared <= 2
    )
