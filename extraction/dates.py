"""Read dates and spans of time out of text, relative to when it was written; must not judge whether they fit a fact."""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any, Final

from extraction.numbers import numbers_of
from extraction.vocabulary import MONTHS, NEAR_NOW, SEASONS, SPANS, WEEKDAYS
from screening.text import compiled, words_of

_CJK: Final = compiled(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]")
_MONTH: Final = "(?:" + "|".join(sorted(MONTHS, key=len, reverse=True)) + ")"
EXPLICIT_DATE: Final = compiled(
    r"(?P<y>\d{4})[-/.年](?P<m>\d{1,2})(?:[-/.月](?P<d>\d{1,2}))?日?"
    r"|(?P<d2>\d{1,2})[./-](?P<m2>\d{1,2})[./-](?P<y2>\d{4})"
    rf"|(?P<d3>\d{{1,2}})(?:st|nd|rd|th|er|º|\.)? ?(?:of |de |di )?(?P<m3>{_MONTH})\.?(?:$|[^\pL])(?:,? ?(?:de "
    rf"|del )?(?P<y3>\d{{4}}))?"
    rf"|(?P<m4>{_MONTH})\.? (?P<d4>\d{{1,2}})(?:st|nd|rd|th)?(?:$|[^\d:.])(?:,? ?(?P<y4>\d{{4}}))?"
    rf"|(?P<m5>{_MONTH}),? (?:de |of )?(?P<y5>\d{{4}})|(?P<y6>(?:19|20)\d\d)"
)


def date_parts(match: Any) -> tuple[int | None, int | None, int | None] | None:
    """Return (year, month, day) of an explicit date, or None when it is none ("3 cats", "room 12")."""
    named = match.groupdict()
    day = next((named[name] for name in ("d", "d2", "d3", "d4") if named.get(name)), None)
    month = next((named[name] for name in ("m", "m2", "m3", "m4", "m5") if named.get(name)), None)
    year = next((named[name] for name in ("y", "y2", "y3", "y4", "y5", "y6") if named.get(name)), None)
    number = int(month) if month and month.isdigit() else MONTHS.get(month or "")
    if month and number is None:
        return (int(year), None, None) if year and int(year) in range(1900, 2101) and not day else None
    if (number is not None and not 1 <= number <= 12) or (day and not 1 <= int(day) <= 31):
        return None
    return (int(year) if year else None, number, int(day) if day else None)


def fits(start: date, end: date, year: int | None, month: int | None, day: int | None) -> bool:
    """Return whether some day from start to end has these parts."""
    if day is None:
        months = (
            (y, m)
            for y in range(start.year, end.year + 1)
            for m in range(1, 13)
            if (start.year, start.month) <= (y, m) <= (end.year, end.month)
        )
        return any((year is None or y == year) and (month is None or m == month) for y, m in months)
    days = (start + timedelta(n) for n in range(min((end - start).days, 800) + 1))
    return any((year is None or d.year == year) and (month is None or d.month == month) and d.day == day for d in days)


def spans_of(folded: str, at: date) -> Iterator[tuple[date, date]]:
    """Yield the spans of time that a message may speak of, both before and after it was written.

    "Last spring" yields last and next spring: whether the model counted in the right direction is not judged here, only
    that the date is one that the words can mean.
    """
    words = words_of(folded.replace("-", " "))
    known = [
        word
        for word in (*WEEKDAYS, *SEASONS, *SPANS, *NEAR_NOW)
        if not word.isascii() and _CJK.search(word) and word in folded
    ]
    numbers = sorted(n for n in numbers_of(folded, loose=True) if 0 < n <= 150)
    for word in {*words, *known}:
        if word in NEAR_NOW:
            yield _around(at, 0, NEAR_NOW[word])
        if word in WEEKDAYS:
            yield _around(at, 0, 13)
        if word in SEASONS or (word in MONTHS and not _has_day(folded, word)):
            for year in (at.year - 1, at.year, at.year + 1):
                first = date(year, SEASONS.get(word) or MONTHS[word], 1)
                yield first, first + timedelta(92 if word in SEASONS else 30)
        if word in SPANS:
            length = SPANS[word]
            yield _around(at, 0, 2 * length if length < 300 else 1)
            for count in (1, *numbers):
                for sign in (-1, 1):
                    yield _around(at, sign * int(count * length), max(1, length // 2) if length < 300 else 366)


def _has_day(folded: str, month: str) -> bool:
    """Return whether a month is part of a date with a day: "March 5th" does not speak of the rest of March."""
    return any(
        (parts := date_parts(match)) is not None and parts[1:] == (MONTHS[month], parts[2]) and parts[2] is not None
        for match in EXPLICIT_DATE.finditer(folded)
    )


def _around(at: date, offset: int, slack: int) -> tuple[date, date]:
    """Return the days within `slack` of `at` plus `offset`, kept inside the calendar."""
    middle = at.toordinal() + offset
    first, last = max(1, middle - slack), min(date.max.toordinal(), middle + slack)
    return date.fromordinal(min(first, last)), date.fromordinal(max(1, last))
