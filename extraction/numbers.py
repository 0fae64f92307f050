"""Read numbers out of text, in digits and in words of many languages; must not judge whether they fit."""

import re
from typing import Final

from extraction.vocabulary import ALSO_NO_NUMBER, HAN_DIGITS, ORDINAL_OF, SCALE_OF, TEN_OF, UNIT_OF
from screening.text import compiled, words_of

_NUMBER_WORDS: Final = frozenset().union(SCALE_OF, TEN_OF, UNIT_OF, ORDINAL_OF)
_TENS_BEHIND: Final = tuple(ten for ten in TEN_OF if ten.endswith("ig"))  # German and Dutch: "funfundzwanzig"
_NUMBER: Final = re.compile(r"[0-9]+(?:[.,:][0-9]+)*")  # no two ways to match: linear


def numbers_of(folded: str, *, loose: bool) -> set[float]:
    """Return the numbers of a text, also those in words. `loose` takes words that are often no number ("a", "one")."""
    found = {_value(written) for written in _NUMBER.findall(folded)}
    words = words_of(folded.replace("-", " "))
    if "ig" in folded or not _NUMBER_WORDS.isdisjoint(words):
        found |= _in_words(words, loose=loose)
    return found | _han_numbers(folded, loose=loose)


def _in_words(words: list[str], *, loose: bool) -> set[float]:
    found: set[float] = set()
    total, open_ = 0.0, False
    for word in [*words, ""]:
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
    return found


_HAN_RUN: Final = compiled(r"([〇零一二三四五六七八九十百千万两兩]+)(.?)")
_HAN_COUNTED: Final = frozenset("年月日天岁歳个個人只匹点點時时分次回名口元块塊公台本週周小位")
_HAN_SCALE: Final = {"十": 10, "百": 100, "千": 1000, "万": 10_000}


def _han_numbers(folded: str, *, loose: bool) -> set[float]:
    """Return the numbers that are written in Han; not `loose`, only those that count something ("五年", not "一样")."""
    found: set[float] = set()
    if folded.isascii():
        return found
    for match in _HAN_RUN.finditer(folded):
        run, after = match.groups()
        value = _han_value(run)
        if loose:
            found.update({value} | {float(HAN_DIGITS[c]) for c in run if c in HAN_DIGITS})
        elif value > 1 and after in _HAN_COUNTED and len(run) <= 8:
            found.add(value)
    return found


def _han_value(run: str) -> float:
    """Return the value of a number in Han: "五十" is 50, "两百零三" 203, "二〇二七" 2027."""
    if not any(c in _HAN_SCALE for c in run):
        return float("".join(str(HAN_DIGITS.get(c, 0)) for c in run[:9]))
    total, section, digit = 0, 0, 0
    for character in run[:20]:
        scale = _HAN_SCALE.get(character)
        if scale == 10_000:
            total, section, digit = (total + section + digit) * scale, 0, 0
        elif scale is not None:
            section, digit = section + (digit or 1) * scale, 0
        else:
            digit = HAN_DIGITS.get(character, 0)
    return float(total + section + digit)


def _value(text: str) -> float:
    """Return the value of digits with separators: "1,200" and "1.200" are 1200, "3.5" and "3,5" are 3.5."""
    parts = text.replace(",", ".").split(".")
    if ":" in text or len(parts) > 9 or len(text) > 30:
        return float(hash(text) % 10**9) + 0.123  # a time or a code: equal only to itself
    if len(parts) > 1 and all(len(part) == 3 for part in parts[1:]) and parts[0] != "0":
        return float("".join(parts))
    return float(parts[0] + "." + "".join(parts[1:])) if len(parts) > 1 else float(parts[0])


def _compound(word: str) -> int | None:
    """Return the value of a German or Dutch compound such as "funfundzwanzig" or "zevenentwintig", or None."""
    for ten in _TENS_BEHIND if word.endswith("ig") else ():
        before = word.removesuffix(ten)
        unit = before.removesuffix("und" if before.endswith("und") else "en")
        if unit != before != word and unit in UNIT_OF:
            return UNIT_OF[unit] + TEN_OF[ten]
    return None
