"""Find a date expression in a phrase and resolve it against the day on which it was said (E04a); knows no grammar."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from llm.offline_rules.words import MONTH_NAMES, MONTHS, NUMBERS, WEEKDAYS

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DAY = "|".join(sorted(WEEKDAYS, key=len, reverse=True))
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_COUNT = r"\d{1,3}|a couple of|a couple|couple of|a few|several|" + "|".join(sorted(NUMBERS, key=len, reverse=True))


@dataclass(frozen=True, slots=True)
class When:
    """A resolved time: `label` reads after a verb ("on 3 May 2027"), `first` to before `after` are its days."""

    label: str
    first: date
    after: date


@dataclass(frozen=True, slots=True)
class Found:
    """Where in the phrase the expression stands, and what it means."""

    start: int
    end: int
    when: When


def find(text: str, said: date, *, future: bool) -> Found | None:
    """Return the first date expression of `text`; an expression without a year means the next or the last one."""
    best: Found | None = None
    for pattern, resolve in _PATTERNS:
        for found in pattern.finditer(text):
            if best is not None and found.start() >= best.start:
                break
            when = _resolved(resolve, found, said, future=future)
            if when is not None:
                best = Found(found.start(), found.end(), when)
                break
    return best


def without(text: str, found: Found) -> str:
    """Return `text` without the expression."""
    return " ".join(f"{text[: found.start]} {text[found.end :]}".split()).strip(" ,")


def _resolved(resolve: "_Resolve", found: re.Match[str], said: date, *, future: bool) -> When | None:
    try:
        return resolve(found, said, future)
    except (ValueError, OverflowError):  # 31 February, the year 0
        return None


type _Resolve = Callable[[re.Match[str], date, bool], When | None]


def on_day(day: date) -> When:
    """Return the When of one day."""
    return When(f"on {day.day} {MONTH_NAMES[day.month - 1]} {day.year}", day, day + timedelta(days=1))


def _in_month(year: int, month: int, qualifier: str = "") -> When:
    after = date(year + month // 12, month % 12 + 1, 1)
    return When(f"in {qualifier}{MONTH_NAMES[month - 1]} {year}", date(year, month, 1), after)


def _in_year(year: int) -> When:
    return When(f"in {year}", date(year, 1, 1), date(year + 1, 1, 1))


def _iso(found: re.Match[str], said: date, future: bool) -> When | None:
    return on_day(date(int(found["y"]), int(found["m"]), int(found["d"])))


def _calendar_day(found: re.Match[str], said: date, future: bool) -> When | None:
    month, number = MONTHS[found["month"].lower()], int(found["d"])
    if found["y"]:
        return on_day(date(int(found["y"]), month, number))
    day = date(said.year, month, number)
    if future and day < said:
        day = date(said.year + 1, month, number)
    if not future and day > said:
        day = date(said.year - 1, month, number)
    # No year was said, so none is written: a fact lives for half a year at most, and "3 May" is never in doubt.
    return When(f"on {number} {MONTH_NAMES[month - 1]}", day, day + timedelta(days=1))


def _month(found: re.Match[str], said: date, future: bool) -> When | None:
    month = MONTHS[found["month"].lower()]
    word = found["word"].lower()
    qualifier = f"{found['part'].lower()} " if found["part"] else ""
    if found["y"]:
        return _in_month(int(found["y"]), month, qualifier)
    if word == "last" or not future:
        strict = word == "last"
        return _in_month(said.year - (month > said.month or (strict and month == said.month)), month, qualifier)
    return _in_month(said.year + (month < said.month or (word == "next" and month == said.month)), month, qualifier)


def _weekday(found: re.Match[str], said: date, future: bool) -> When | None:
    number, word = WEEKDAYS[found["day"].lower()], (found["word"] or "").lower().strip()
    ahead = (number - said.weekday()) % 7
    if word == "last" or (not future and word not in {"next", "this", "this coming", "coming"}):
        return on_day(said - timedelta(days=(said.weekday() - number) % 7 or 7))
    if word == "next":  # "next Friday" is the Friday of next week
        return on_day(said + timedelta(days=7 - said.weekday() + number))
    return on_day(said + timedelta(days=ahead or (0 if word == "this" else 7)))


def _relative_day(found: re.Match[str], said: date, future: bool) -> When | None:
    words = found[0].lower()
    offsets = {"the day after tomorrow": 2, "the day before yesterday": -2}
    shift = offsets.get(words, 1 if "tomorrow" in words else -1 if "yesterday" in words or "last" in words else 0)
    return on_day(said + timedelta(days=shift))


def _period(found: re.Match[str], said: date, future: bool) -> When | None:
    shift = {"last": -1, "past": -1, "this": 0, "next": 1, "coming": 1, "this coming": 1}[found["word"].lower()]
    unit = found["unit"].lower()
    if unit == "year":
        return _in_year(said.year + shift)
    if unit == "month":
        months = said.year * 12 + said.month - 1 + shift
        return _in_month(months // 12, months % 12 + 1)
    monday = said - timedelta(days=said.weekday()) + timedelta(weeks=shift)
    if unit == "weekend":
        saturday = monday + timedelta(days=5)
        label = on_day(saturday).label.removeprefix("on ")
        return When(f"on the weekend of {label}", saturday, saturday + timedelta(days=2))
    return When(f"in the week of {on_day(monday).label.removeprefix('on ')}", monday, monday + timedelta(days=7))


def _season(found: re.Match[str], said: date, future: bool) -> When | None:
    season, word = found["season"].lower(), (found["word"] or "in").lower()
    first_month = _SEASONS[season]

    def starting(year: int) -> When:
        after = date(year + 1, 3, 1) if first_month == 12 else date(year, first_month + 3, 1)
        return When(f"in {season} {year}", date(year, first_month, 1), after)

    if found["y"]:
        return starting(int(found["y"]))
    nearest = [starting(said.year + shift) for shift in (-2, -1, 0, 1, 2)]
    if word in {"last", "past"}:
        return [when for when in nearest if when.after <= said][-1]
    if word == "next":
        return next(when for when in nearest if when.first > said)
    if word == "this":
        return min(nearest, key=lambda when: abs((when.first - said).days + 45))
    if future:
        return next(when for when in nearest if when.after > said)
    return [when for when in nearest if when.first <= said][-1]


def _year(found: re.Match[str], said: date, future: bool) -> When | None:
    return _in_year(int(found["y"]))


def _count(words: str) -> int:
    words = words.lower()
    if words.isdigit():
        return int(words)
    if "couple" in words:
        return 2
    return NUMBERS.get(words, 3)  # "a few", "several"


def _shifted(found: re.Match[str], said: date, future: bool) -> When | None:
    amount = _count(found["n"]) * (-1 if found["ago"] else 1)
    unit = found["unit"].lower()
    if unit == "year":
        return _in_year(said.year + amount)
    if unit == "month":
        months = said.year * 12 + said.month - 1 + amount
        return _in_month(months // 12, months % 12 + 1)
    day = said + timedelta(days=amount * (7 if unit == "week" else 1))
    if unit == "week" and found["ago"]:
        return _in_month(day.year, day.month)
    return on_day(day)


def _day_of_month(found: re.Match[str], said: date, future: bool) -> When | None:
    number = int(found["d"])
    if not 1 <= number <= 28:  # every month has them
        return None
    day = said.replace(day=number)
    if future and day < said:
        day = date(said.year + said.month // 12, said.month % 12 + 1, number)
    if not future and day > said:
        day = (said.replace(day=1) - timedelta(days=1)).replace(day=number)
    return on_day(day)


_PATTERNS: tuple[tuple[re.Pattern[str], _Resolve], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), resolve)
    for pattern, resolve in (
        (r"\b(?:on |until |by |since )?(?P<y>20\d\d)-(?P<m>\d\d)-(?P<d>\d\d)\b", _iso),
        (
            rf"\b(?:on |by |until |since )?(?:the )?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\.?(?: of)? "
            rf"(?P<month>{_MONTH})\b\.?"
            r"(?:,? (?P<y>(?:19|20)\d\d)\b)?",
            _calendar_day,
        ),
        (
            rf"\b(?:on |by |until |since )?(?P<month>{_MONTH})\.? (?:the )?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:|\d)"
            r"(?:,? (?P<y>(?:19|20)\d\d)\b)?",
            _calendar_day,
        ),
        (
            rf"\b(?P<word>in|since|by|until|this|next|last|for|around)(?: (?:the )?(?P<part>early|mid|"
            rf"late))?[ -](?:of )?"
            rf"(?P<month>{_MONTH})\b(?: (?:of )?(?P<y>(?:19|20)\d\d)\b)?",
            _month,
        ),
        (
            rf"(?<!every )(?<!each )\b(?:on |by |until )?(?P<word>next |last |this |this coming |coming "
            rf")?(?P<day>{_DAY})\b(?!s)"
            r"(?: (?:morning|afternoon|evening|night))?",
            _weekday,
        ),
        (
            r"\b(?:the day after tomorrow|the day before yesterday|(?:today|tomorrow|yesterday)(?: (?:morning|"
            r"afternoon|"
            r"evening|night))?|tonight|last night|this (?:morning|afternoon|evening))\b",
            _relative_day,
        ),
        (r"\b(?P<word>last|past|this coming|this|next|coming) (?P<unit>year|month|week|weekend)\b", _period),
        (
            r"\b(?:(?P<word>last|past|this|next|in) )(?:the )?(?P<season>spring|summer|autumn|fall|winter)\b"
            r"(?: (?:of )?(?P<y>(?:19|20)\d\d)\b)?",
            _season,
        ),
        (r"\b(?:back )?(?:in|since|until|by) (?P<y>(?:19|20)\d\d)\b", _year),
        (rf"\b(?:about |around |over )?(?P<n>{_COUNT}) (?P<unit>day|week|month|year)s? (?P<ago>ago|back)\b", _shifted),
        (rf"\bin (?:about |around )?(?P<n>{_COUNT}) (?P<unit>day|week|month|year)s?\b(?P<ago>\Z.)?", _shifted),
        (r"\bon the (?P<d>\d{1,2})(?:st|nd|rd|th)\b", _day_of_month),
    )
)
