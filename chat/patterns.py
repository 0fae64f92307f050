"""Compiles an administrator's RE2 pattern within limits and tells how long its matches can be; searches no text."""

from typing import Any, Final

import re2

MAX_PATTERN: Final = 500  # characters
MAX_PROGRAM: Final = 4_000  # instructions of RE2; `(\pL{50}){50}` would be millions
LONGEST_BOUND: Final = 500  # characters; a pattern whose match may be longer holds the whole reply back
_OPTIONS: Final = re2.Options()
_OPTIONS.log_errors = False  # it would log to standard error on its own
_OPTIONS.max_mem = 4 << 20
_OPTIONS.never_capture = True


class BadPattern(ValueError):
    """A pattern that is not taken. `code` is invalid, too_long, too_big or matches_empty; `detail` is RE2's word."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail


def compile_pattern(source: str) -> Any:
    """Return the compiled pattern, which matches in linear time, or raise BadPattern."""
    if len(source) > MAX_PATTERN:
        raise BadPattern("too_long")
    try:
        pattern = re2.compile(source, _OPTIONS)
    except re2.error as error:
        detail = error.args[0] if error.args else b""
        shown = detail.decode("utf-8", "replace") if isinstance(detail, bytes) else str(detail)
        raise BadPattern("invalid", shown) from None
    if pattern.programsize > MAX_PROGRAM:
        raise BadPattern("too_big")
    if pattern.search("") is not None:
        raise BadPattern("matches_empty")
    return pattern


def longest_match(source: str) -> int | None:
    """Return a bound, in characters, on the matches of a valid pattern; None when there is none up to LONGEST_BOUND.

    What this reader does not know well enough (`\\Q…\\E`) counts as unbounded: that only holds a reply back.
    """
    if "\\Q" in source:
        return None
    length = _Reader(source).alternatives()
    return int(length) if length <= LONGEST_BOUND else None


class _Reader:
    """Reads a pattern once from left to right and adds up lengths; infinity is "no bound"."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._at = 0

    def alternatives(self) -> float:
        longest, length = 0.0, 0.0
        while self._at < len(self._source) and self._source[self._at] != ")":
            if self._source[self._at] == "|":
                self._at += 1
                longest, length = max(longest, length), 0.0
            else:
                length += self._piece() * self._most()
        self._at += 1  # the parenthesis
        return max(longest, length)

    def _piece(self) -> float:
        sign = self._source[self._at]
        self._at += 1
        if sign == "(":
            return self._group()
        if sign == "[":
            return self._bracket()
        if sign == "\\":
            return self._escape()
        return 0 if sign in "^$" else 1

    def _group(self) -> float:
        if self._source.startswith("?", self._at):
            if self._source.startswith(("?P<", "?<"), self._at):
                self._at = self._source.index(">", self._at) + 1
            else:  # flags, which end in a colon or are a group of their own
                while self._source[self._at] not in ":)":
                    self._at += 1
                self._at += self._source[self._at] == ":"
        return self.alternatives()

    def _bracket(self) -> float:
        self._at += self._source.startswith("^", self._at)
        first = True
        while first or self._source[self._at] != "]":
            if self._source.startswith("[:", self._at) and ":]" in self._source[self._at :]:
                self._at = self._source.index(":]", self._at) + 2
            else:
                self._at += 2 if self._source[self._at] == "\\" else 1
            first = False
        self._at += 1
        return 1

    def _escape(self) -> float:
        sign = self._source[self._at]
        self._at += 1
        if sign in "pPx" and self._source.startswith("{", self._at):
            self._at = self._source.index("}", self._at) + 1
        elif sign in "pP":
            self._at += 1
        elif sign == "x":
            self._at += 2
        return 0 if sign in "AbBz" else 1

    def _most(self) -> float:
        """Return how often the piece just read may come, and read on past the sign that says so."""
        most = 1.0
        sign = self._source[self._at : self._at + 1]
        if sign and sign in "*+?":
            self._at += 1
            most = 1 if sign == "?" else float("inf")
        elif sign == "{":
            inner, brace, _rest = self._source[self._at + 1 :].partition("}")
            low, comma, high = inner.partition(",")
            if not brace or not low.isdecimal() or (high and not high.isdecimal()):
                return 1  # a brace that is meant as itself
            self._at += len(inner) + 2
            most = float("inf") if comma and not high else float(high or low)
        else:
            return 1
        self._at += self._source.startswith("?", self._at)  # lazy
        return most
