"""A growing text as it is written and as a reader sees it, with the place of every character; judges nothing."""

import re
from functools import lru_cache
from typing import Final

from screening.text import fold_visible, visible

LONGEST_WORD: Final = 64  # characters; what is longer is read in pieces of this length
_TOKEN: Final = re.compile(rf"\S{{1,{LONGEST_WORD}}}|\s")
_one: Final = lru_cache(maxsize=8192)(visible)


class Reading:
    """The text so far, without what nobody needs any more. Places are counted from the beginning of the whole text.

    `raw` is what was written and begins at `raw_from`. `shown` and `folded` are how it reads (screening.text), the
    second in the form in which text is judged; they have the same length and begin at `view_from`. They grow by whole
    words, and each word is read alone, so that they do not depend on the pieces in which the text came.
    """

    def __init__(self, *, views: bool) -> None:
        self.raw, self.raw_from = "", 0
        self.shown, self.folded, self.view_from = "", "", 0
        self._views = views
        self._read = 0  # the place in the raw text up to which the views go
        self._starts: list[int] = []  # where in the raw text each character of the views begins, and where it ends
        self._ends: list[int] = []

    @property
    def raw_to(self) -> int:
        return self.raw_from + len(self.raw)

    @property
    def view_to(self) -> int:
        return self.view_from + len(self.shown)

    def add(self, text: str, *, final: bool) -> None:
        """Take more of the text; with `final` the last word is whole too."""
        self.raw += text
        if not self._views:
            return
        shown, folded = [], []
        for token in _TOKEN.finditer(self.raw, self._read - self.raw_from):
            word = token.group()
            if token.end() == len(self.raw) and not final and len(word) < LONGEST_WORD and not word.isspace():
                break
            start, end = self.raw_from + token.start(), self.raw_from + token.end()
            word_shown, word_folded, aligned = _read(word)
            shown.append(word_shown)
            folded.append(word_folded)
            if aligned:
                self._starts.extend(range(start, end))
                self._ends.extend(range(start + 1, end + 1))
            else:  # a place inside the word means the whole word
                self._starts.extend([start] * len(word_shown))
                self._ends.extend([end] * len(word_shown))
            self._read = end
        self.shown += "".join(shown)
        self.folded += "".join(folded)

    def raw_start(self, place: int) -> int:
        """Return where in the raw text the character at a place of the views begins."""
        index = place - self.view_from
        return self._starts[index] if index < len(self._starts) else self._read

    def raw_end(self, place: int) -> int:
        """Return where in the raw text the character before a place of the views ends."""
        return self._ends[place - 1 - self.view_from]

    def forget(self, *, raw: int, view: int) -> None:
        """Drop what lies before these places, but for one character that tells what a match may begin after."""
        gone = min(raw, self._read if self._views else raw) - 1 - self.raw_from
        if gone > 0:
            self.raw, self.raw_from = self.raw[gone:], self.raw_from + gone
        gone = view - 1 - self.view_from
        if gone > 0:
            self.shown, self.folded, self.view_from = self.shown[gone:], self.folded[gone:], self.view_from + gone
            del self._starts[:gone], self._ends[:gone]


def _read(word: str) -> tuple[str, str, bool]:
    """Return a word as shown and as folded, of one length, and whether it has that length as it was written."""
    if word.isascii() and "&" not in word and word.isprintable():
        return word, word.lower(), True
    if word.isspace():
        seen = "\n" if word != "\t" and visible(word) == "\n" else " "
        return seen, seen, True
    shown = visible(word)
    folded = fold_visible(shown)
    if len(folded) != len(shown):  # letters that fold to several, like "ß", are shown folded
        shown = "".join(c if len(fold_visible(c)) == 1 else fold_visible(c) for c in shown)
        folded = "".join(fold_visible(c) for c in shown)
    return shown, folded, len(shown) == len(word) and all(len(_one(c)) == 1 for c in word)
