"""Check that a fact says only what the member's own cited words say (E04a); must not ask a model or a database."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any, Final

from extraction.vocabulary import (
    ALSO_NO_NUMBER,
    HAN_DIGITS,
    MONTHS,
    NEAR_NOW,
    NO_NAME,
    ORDINAL_OF,
    PEOPLE_OF,
    SCALE_OF,
    SEASONS,
    SPANS,
    TEN_OF,
    UNIT_OF,
    VERBS,
    WEEKDAYS,
)
from screening.text import compiled, fold, visible, word_set

_WORD: Final = compiled(r"[\pL\pN]+(?:['][\pL]+)?")
_NUMBER: Final = compiled(r"\d+(?:[.,:]\d+)*")
_QUOTED: Final = compiled(r"\"([^\"\n]+)\"|(?:^|[ (])'([^'\n]{2,}?)'(?:$|[ ).,;:!?])")
_SENTENCE: Final = compiled(r"(?:^|[.!?:\n] +|^[\"'(]+)$")

_FENCE: Final = compiled(r"(?s)(?:```|~~~).*?(?:```|~~~|$)")
_MARKED: Final = compiled(
    r"(?is)<(?:blockquote|quote|pre|code)>.*?(?:</(?:blockquote|quote|pre|code)>|$)"
    r"|\[quote[^\]]*\].*?(?:\[/quote\]|$)"
)
_FORWARDED: Final = compiled(
    r"(?im)^[ >*]*(?:-{2,} ?(?:original|forwarded|urspr\S+|weitergeleitete|message|messaggio|mensaje|mensagem)[^\n]*"
    r"|begin forwarded message[^\n]*|(?:on|am|le|el|il|em|op|w dniu) [^\n]*\b(?:wrote|schrieb|a écrit"
    r"|escribió|ha scritto|escreveu|schreef)\b[^\n]*:?"
    r"|(?:from|von|de|da|van|od) ?: [^\n]+\n[ >*]*(?:sent|date|to|cc|subject|gesendet|datum|an|betreff|envoyé"
    r"|à|objet|enviado|para|asunto|data|inviato|assunto) ?:[^\n]*)$"
    r"|^[^\n]*\b(?:here is|here's|this is|see|below is|pasted|pasting|forwarding|hier ist|voici|aquí está"
    r"|ecco)\b[^\n]*\b(?:e-?mail|mail|message|letter|article|text|post|review|transcript|conversation|chat"
    r"|log|document|note|brief|nachricht|artikel|lettre|correo|carta|lettera)\b[^\n]*:[ ]*$"
)
_SAID: Final = (
    r"(?:wrote|writes|said|says|replied|replies|answered|asked|texted|told me|messaged|posted|schrieb"
    r"|schreibt|sagte|sagt|meinte|a écrit|écrit|a dit|dit"
    r"|escribió|escribe|dijo|dice|ha scritto|scrive|ha detto|escreveu|escreve|disse|diz|schreef|zei|zegt"
    r"|napisał\w*|powiedział\w*|написал\w*|сказал\w*|说|說|写道|寫道|言った|書いた)"
)
_REPORTED: Final = compiled(
    r"(?i)(?:^|[.!?\n] ?|, |\band |\bthen |\bwhat )([^.!?\n:,\"“„«]*?)\b"
    + _SAID
    + r"(?: [^.!?\n:\"“„«]{0,40})?[:,]? ?(?:\"[^\"\n]*(?:\"|$)|“[^”\n]*(?:”|$)|„[^“”\n]*(?:[“”]|$)|«[^»\n]*(?:»|$))"
    r"|(?i)(?:^|[.!?\n] ?)([^.!?\n:]*?)\b" + _SAID + r"(?: [^.!?\n:]{0,40})?: ?[^\n]*"
)
_OWN_SUBJECT: Final = compiled(r"(?i)(?:^|[^\pL])(?:i|ich|je|j'ai|yo|io|eu|ik|ja|я|我|私)(?:[^\pL]|$)")
_LONG_QUOTE: Final = compiled(
    r"\"(?:[^\"\s]+\s+){7,}[^\"]*\"|“(?:[^”\s]+\s+){7,}[^”]*”|„(?:[^“”\s]+\s+){7,}[^“”]*[“”]"
    r"|«(?:[^»\s]+\s+){7,}[^»]*»"
)
_SPEAKER: Final = compiled(
    r"^[ \-*]*(?:[\[(]?\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?: ?[APap][Mm])?[\])]?,? ?-? ?)?[<\[*]{0,2}([\pL][\pL\pN "
    r"._'-]{0,24}?)[>\]*]{0,2} ?[:>] ?\S"
)
_STAMPED: Final = compiled(r"^[ \-*]*[\[(]?\d{1,2}[:.]\d\d")
_ROLES: Final = word_set("user assistant bot ai human agent customer support system chatgpt claude gemini gpt q a")


_MONTH: Final = "(?:" + "|".join(sorted(MONTHS, key=len, reverse=True)) + ")"
_EXPLICIT: Final = compiled(
    r"(?P<y>\d{4})[-/.年](?P<m>\d{1,2})(?:[-/.月](?P<d>\d{1,2}))?日?"
    r"|(?P<d2>\d{1,2})[./-](?P<m2>\d{1,2})[./-](?P<y2>\d{4})"
    rf"|(?P<d3>\d{{1,2}})(?:st|nd|rd|th|er|º|\.)? ?(?:of |de |di )?(?P<m3>{_MONTH})\.?(?:$|[^\pL])(?:,? ?(?:de "
    rf"|del )?(?P<y3>\d{{4}}))?"
    rf"|(?P<m4>{_MONTH})\.? (?P<d4>\d{{1,2}})(?:st|nd|rd|th)?(?:$|[^\d:.])(?:,? ?(?P<y4>\d{{4}}))?"
    rf"|(?P<m5>{_MONTH}),? (?:de |of )?(?P<y5>\d{{4}})|(?P<y6>(?:19|20)\d\d)"
)

_LATIN_RUN: Final = compiled(r"[A-Za-z][A-Za-z0-9]+")
_CJK: Final = compiled(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]")
_KATAKANA: Final = compiled(r"[\p{Katakana}ー]{3,}")


@dataclass(frozen=True, slots=True)
class Cited:
    """One cited message. `own`: the scope's member wrote it. `at` is aware, in the member's time zone."""

    text: str = field(repr=False)
    own: bool
    at: datetime


def ungrounded(body: str, cited: Sequence[Cited]) -> str | None:
    """Return the rule by which a body says more than the member's own cited words (E04a), or None.

    Rules: quoted (no own words are left), quote, date, number, name. Only words count that the member wrote herself:
    other people's messages and passages that she quoted or pasted prove nothing.
    """
    own = [(own_words(message.text), message.at) for message in cited if message.own]
    evidence = _Evidence([(text, at) for text, at in own if any(c.isalnum() for c in text)])
    if not evidence.messages:
        return "quoted"
    shown, folded = visible(body), fold(body)
    if any(not evidence.says(quote) for quote in _quotes(folded)):
        return "quote"
    rest = folded
    for match in _EXPLICIT.finditer(folded):
        if (parts := _date_parts(match)) is not None:
            if not evidence.dates(*parts):
                return "date"
            rest = rest.replace(match.group(), " ", 1)
    if any(not evidence.counts(value) for value in _numbers(rest, loose=False)):
        return "number"
    if any(word in WEEKDAYS and not evidence.weekday(word) for word in _words(rest)):
        return "date"
    return None if all(evidence.names(name) for name in _names(shown)) and evidence.shares_script(folded) else "name"


def own_words(text: str) -> str:
    """Return what the writer says herself: no code, quoted lines, forwarded mail, pasted chats or reported speech."""
    text = _MARKED.sub("\n", _FENCE.sub("\n", text.replace("\r\n", "\n")))
    forwarded = _FORWARDED.search(text)
    if forwarded:
        text = text[: forwarded.start()]
    lines = [line for line in text.split("\n") if not line.lstrip().startswith((">", "|", "＞"))]
    pasted = _pasted_speakers(lines)
    text = "\n".join(line for line in lines if _speaker(line) not in pasted)
    text = str(_REPORTED.sub(_keep_own, text))
    return str(_LONG_QUOTE.sub(" ", text)).strip()


def _keep_own(match: Any) -> str:
    """Return reported speech when the writer reports herself ("I said: ..."), else only who spoke."""
    subject = match.group(1) or match.group(2) or ""
    return match.group() if _OWN_SUBJECT.search(subject) else " "


def _speaker(line: str) -> str:
    match = _SPEAKER.search(line)
    if match is None:
        return ""
    return f"[{match.group(1).casefold()}" if _STAMPED.search(line) else str(match.group(1)).casefold()


def _pasted_speakers(lines: Sequence[str]) -> frozenset[str]:
    """Return the speakers of a pasted chat: roles, stamped lines, or names that take several turns."""
    speakers = [speaker for line in lines if (speaker := _speaker(line))]
    if len(speakers) < 2:
        return frozenset()
    several = {s for s in speakers if speakers.count(s) > 1 or s.startswith("[") or s in _ROLES}
    return frozenset(speakers) if several and len(set(speakers)) > 1 else frozenset(several)


def _words(folded: str) -> list[str]:
    return [match.group() for match in _WORD.finditer(folded)]


def _quotes(folded: str) -> Iterator[str]:
    for match in _QUOTED.finditer(folded):
        yield match.group(1) or match.group(2)


def _numbers(folded: str, *, loose: bool) -> set[float]:
    """Return the numbers of a text, also those in words. `loose` takes words that are often no number ("a", "one")."""
    found = {_value(match.group()) for match in _NUMBER.finditer(folded)}
    total, open_ = 0.0, False
    for word in [*_words(folded.replace("-", " ")), ""]:
        if word in SCALE_OF and open_:
            total *= SCALE_OF[word]
        elif word in TEN_OF:
            total, open_ = float(TEN_OF[word]), True
        elif word in UNIT_OF and open_ and total >= 20 and total % 10 == 0:
            total += UNIT_OF[word]
        elif word in UNIT_OF and (loose or word not in ALSO_NO_NUMBER):
            if open_:
                found.add(total)
            total, open_ = float(UNIT_OF[word]), True
        elif (value := _compound(word)) is not None:
            total, open_ = float(value), True
        elif word not in ("and", "und", "et", "y", "e", "en", "i") or not open_:
            if open_:
                found.add(total)
            total, open_ = 0.0, False
        if loose and word in ORDINAL_OF:
            found.add(float(ORDINAL_OF[word]))
    return found | ({float(v) for c, v in HAN_DIGITS.items() if c in folded} if loose else set())


def _value(text: str) -> float:
    """Return the value of digits with separators: "1,200" and "1.200" are 1200, "3.5" and "3,5" are 3.5."""
    parts = text.replace(",", ".").split(".")
    if ":" in text or len(parts) > 9 or len(text) > 30:
        return float(hash(text) % 10**9) + 0.123  # a time or a code: equal only to itself
    if len(parts) > 1 and all(len(part) == 3 for part in parts[1:]) and parts[0] != "0":
        return float("".join(parts))
    return float(parts[0] + "." + "".join(parts[1:])) if len(parts) > 1 else float(parts[0])


def _compound(word: str) -> int | None:
    """Return the value of a German or Dutch compound such as "funfundzwanzig", or None."""
    for glue in ("und", "en"):
        unit, found, ten = word.partition(glue)
        if found and unit in UNIT_OF and ten in TEN_OF:
            return UNIT_OF[unit] + TEN_OF[ten]
    return None


def _date_parts(match: Any) -> tuple[int | None, int | None, int | None] | None:
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


def _names(shown: str) -> Iterator[str]:
    """Yield the words of a text that may be names: capitalized and not at the start, or of another script."""
    cjk = bool(_CJK.search(shown))
    matches = list(_WORD.finditer(shown))
    for place, match in enumerate(matches):
        word = match.group().removesuffix("'s")
        if cjk:
            continue
        if not any(c.isupper() for c in word):
            continue
        first = place == 0 or bool(_SENTENCE.search(shown[max(0, match.start() - 4) : match.start()]))
        after = matches[place + 1] if place + 1 < len(matches) else None
        if not first or match.group().endswith("'s") or (after is not None and _is_full_name(match, after, shown)):
            yield word.casefold()
    for pattern in (_KATAKANA, _LATIN_RUN) if cjk else ():
        for match in pattern.finditer(shown):
            yield match.group()


def _is_full_name(word: Any, after: Any, shown: str) -> bool:
    """Return whether a sentence starts with two capitalized words and goes on with a verb: "Maria Silva is"."""
    if not after.group()[0].isupper() or shown[word.end() : after.start()] != " ":
        return False
    rest = shown[after.end() :].split(maxsplit=1)
    return bool(rest) and rest[0] in VERBS


class _Evidence:
    """The member's own words of the cited messages, and which dates, numbers and names they prove."""

    def __init__(self, messages: Sequence[tuple[str, datetime]]):
        self.messages = [(fold(text), at.date()) for text, at in messages]
        self.text = " ".join(folded for folded, _at in self.messages)
        self.words = set(_words(self.text)) | {w.removesuffix("'s") for w in _words(self.text)}
        self.numbers = _numbers(self.text, loose=True)
        self.spans = [span for folded, at in self.messages for span in _spans(folded, at)]
        self.flat = " ".join(_words(self.text))

    def says(self, quote: str) -> bool:
        return " ".join(_words(quote)) in self.flat

    def dates(self, year: int | None, month: int | None, day: int | None) -> bool:
        """Return whether a date is in the words, or lies in a span of time that they speak of."""
        months = {MONTHS[word] for word in self.words if word in MONTHS}
        literal = (
            (year is None or year in self.numbers)
            and (month is None or month in months or month in self.numbers)
            and (day is None or day in self.numbers)
        )
        return literal or any(_fits(start, end, year, month, day) for start, end in self.spans)

    def counts(self, value: float) -> bool:
        """Return whether a number is in the words, or is the years since a year in them."""
        years = {at.year - n for _text, at in self.messages for n in self.numbers if 1900 <= n <= at.year}
        return value in self.numbers or (value > 1 and any(abs(value - passed) <= 1 for passed in years))

    def weekday(self, word: str) -> bool:
        if word in self.words or word in self.text:
            return True
        wanted = WEEKDAYS[word]
        short = [(start, end) for start, end in self.spans if (end - start).days <= 9]
        return any(
            (start + timedelta(n)).weekday() == wanted for start, end in short for n in range((end - start).days + 1)
        )

    def names(self, name: str) -> bool:
        """Return whether a name is in the words, inflected at most, or is a common word."""
        folded = fold(name)
        if folded in self.words or folded in NO_NAME or folded in MONTHS or folded in WEEKDAYS or folded.isdigit():
            return True
        if _CJK.search(folded) or _CJK.search(self.text):
            return folded in self.text
        group = PEOPLE_OF.get(folded)
        return any(
            _is_inflected(folded, word) or (group is not None and PEOPLE_OF.get(word) == group) for word in self.words
        )

    def shares_script(self, folded: str) -> bool:
        """Return False for a body in Han or kana that shares no two neighboring characters with such a message."""
        pairs = {a + b for a, b in pairwise(folded) if _CJK.search(a) and _CJK.search(b)}
        return not pairs or not _CJK.search(self.text) or any(pair in self.text for pair in pairs)


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


def _fits(start: date, end: date, year: int | None, month: int | None, day: int | None) -> bool:
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


def _spans(folded: str, at: date) -> Iterator[tuple[date, date]]:
    """Yield the spans of time that a message may speak of, both before and after it was written.

    "Last spring" yields last and next spring: whether the model counted in the right direction is not judged here, only
    that the date is one that the words can mean.
    """
    words = _words(folded.replace("-", " "))
    known = [
        word
        for word in (*WEEKDAYS, *SEASONS, *SPANS, *NEAR_NOW)
        if not word.isascii() and _CJK.search(word) and word in folded
    ]
    numbers = sorted(n for n in _numbers(folded, loose=True) if 0 < n <= 150)
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
        (parts := _date_parts(match)) is not None and parts[1:] == (MONTHS[month], parts[2]) and parts[2] is not None
        for match in _EXPLICIT.finditer(folded)
    )


def _around(at: date, offset: int, slack: int) -> tuple[date, date]:
    """Return the days within `slack` of `at` plus `offset`, kept inside the calendar."""
    middle = at.toordinal() + offset
    first, last = max(1, middle - slack), min(date.max.toordinal(), middle + slack)
    return date.fromordinal(min(first, last)), date.fromordinal(max(1, last))
