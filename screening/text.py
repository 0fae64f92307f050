"""The one door for text from outside, and copies of it for hashing, judging and showing; must not judge meaning."""

import html
import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any, Final

import re2

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False  # it would log to standard error on its own
_OPTIONS.max_mem = 32 << 20
_NO_GROUPS = re2.Options()
_NO_GROUPS.log_errors, _NO_GROUPS.never_capture, _NO_GROUPS.max_mem = False, True, 64 << 20
_ANYWHERE: Final = re2._Anchor.UNANCHORED
_KEY_SEPARATORS: Final = frozenset(" .,_-–—/\\:;|>·・")
_NO_SEPARATORS: Final = dict.fromkeys(map(ord, _KEY_SEPARATORS))
_JOINTS = {ord(sign): None for sign in " ._-*"}
_LATIN = re2.compile(r"\p{Latin}")
_LOOKALIKE_SCRIPT = re2.compile(r"[\p{Cyrillic}\p{Greek}]")
_OVERRIDES: Final = "\u202d\u202e"  # letters after them stand in the other order than they are
_LINE_BREAKS: Final = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"

# Letters that look like a Latin one. Used only inside words that mix scripts: Russian and Greek stay themselves.
_CONFUSABLE = str.maketrans(
    "авекмнорстухіјѕԁԛԝһӏгзьαβγεζηικμνορτυχωѵԍո",
    "abekmhopctyxijsdqwhlrzbabyeznikmvoptuxwvgn",
)
# Letters that NFKD does not take apart.
_PLAIN_LETTER = {ord("ł"): "l", ord("ø"): "o", ord("đ"): "d", ord("ı"): "i", ord("æ"): "ae", ord("œ"): "oe"}
_ONE_PIECE = re2.compile("[łøđıæœ]")
# Punctuation of every script in ASCII, so that the rules need to know one form of each sign.
_PLAIN_SIGNS = dict(zip("。、，؛؟፧՞‘’‚‛′،।：；！", ".,,;???''''',.:;!", strict=True))
_SIGN_OF = {"Pd": "-", "Pi": '"', "Pf": '"', "Ps": "(", "Pe": ")", "Po": ".", "So": " ", "Sk": " "}
_LEET = str.maketrans("013457@$!|", "oieastasil")
_LEET_SIGN: Final = re.compile(r"[013457@$!|]")


class UnacceptableText(ValueError):
    """Text that must not enter. `code` is one of the keys of `MESSAGES`; `numbers` fill its message.

    The message is plain English for developers and logs; a door translates by `code` and `numbers`. It never holds
    any of the text.
    """

    MESSAGES: Final = {
        "nul": "The text contains a NUL character. Remove it and try again.",
        "surrogate": "The text contains half of a character (a lone surrogate). Type or paste it again.",
        "control": "The text contains a control character at position {position}. Remove it and try again.",
        "line_break": "The text must be one line. Remove the line breaks.",
        "override": "The text contains a sign that reverses letters at position {position}. Remove it.",
        "too_long": "The text has {length} characters; at most {limit} are allowed. Shorten it.",
        "empty": "The text is empty. Write at least one character that is not a space.",
    }

    def __init__(self, code: str, **numbers: int):
        super().__init__(self.MESSAGES[code].format(**numbers))
        self.code = code
        self.numbers = numbers


def clean_text(value: str, *, max_length: int, single_line: bool = False, allow_empty: bool = False) -> str:
    """Return text from outside as it is stored: NFC, line ends as "\\n" (F08), or raise UnacceptableText.

    `max_length` counts Unicode code points after NFC. C0 and C1 control characters other than "\\n" and "\\t" are
    refused, not dropped: dropping would store something that the person never wrote and would not see.
    With `single_line`, as for names and titles, every kind of line break is refused, and direction overrides, with
    which one name looks like another. A tab is not a line break.
    """
    if len(value) > 8 * max_length + 1024:  # NFC shortens at most about 4-fold: spare the work on a huge text
        raise UnacceptableText("too_long", length=len(value), limit=max_length)
    if value.isascii() and value.isprintable() and len(value) <= max_length and (allow_empty or value.strip()):
        return value  # most texts, at a tenth of the time
    if "\0" in value:
        raise UnacceptableText("nul")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise UnacceptableText("surrogate")
    text = unicodedata.normalize("NFC", value.replace("\r\n", "\n").replace("\r", "\n"))
    if single_line and any(character in text for character in _LINE_BREAKS):
        raise UnacceptableText("line_break")
    for position, character in enumerate(text):
        if single_line and character in _OVERRIDES:
            raise UnacceptableText("override", position=position)
        if character not in "\n\t\x85" and unicodedata.category(character) == "Cc":
            raise UnacceptableText("control", position=position)
    if len(text) > max_length:
        raise UnacceptableText("too_long", length=len(text), limit=max_length)
    if not allow_empty and not one_line(text):
        raise UnacceptableText("empty")
    return text


_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """Return a model's text with a replacement sign for what no database takes: NUL, and halves of characters."""
    return _UNSTORABLE.sub("\ufffd", text)


def normalize_for_hash(text: str) -> str:
    """Return the form whose keyed hash decides whether two bodies are the same: NFC, single spaces, trimmed."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def normalize_key(key: str) -> str:
    """Return the form in which keys compare (F03): NFC, single spaces, trimmed, case folded."""
    return unicodedata.normalize("NFC", " ".join(unicodedata.normalize("NFC", key).split()).casefold())


def canonical_key(key: str) -> str:
    """Return the form in which keys are compared for disagreement (E05): `normalize_key` without separators.

    "home_city", "home city", "home.city", "Home-City" and "homeCity" are one key; "python.3.1" and "python.31" are two,
    since a separator between digits stays. Synonyms stay apart. A key of separators alone is itself.
    """
    folded = normalize_key(key)
    if not any(map(str.isdigit, folded)):
        return folded.translate(_NO_SEPARATORS) or folded
    kept = [
        c if c not in _KEY_SEPARATORS else "." if _is_between_digits(folded, place) else ""
        for place, c in enumerate(folded)
    ]
    return "".join(kept) or folded


def _is_between_digits(text: str, place: int) -> bool:
    return 0 < place < len(text) - 1 and text[place - 1].isdigit() and text[place + 1].isdigit()


# Tags, variation selectors, fillers and overlays: they show nothing, and `str.isprintable` lets some of them pass.
_SHOWS_NOTHING: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\ufe00-\ufe0f\uffa0\ufffc\U000e0000-\U000e0fff]"
)


def _is_invisible(character: str) -> bool:
    """Return whether a character shows nothing: those, and controls and format characters."""
    return unicodedata.category(character) in ("Cc", "Cf", "Cs") or bool(_SHOWS_NOTHING.match(character))


class _Table(dict[int, str | None]):
    """A `str.translate` table that is filled as characters are met, up to a size that no text can drive up."""

    def __missing__(self, code: int) -> str | None:
        shown = self.shown(code, chr(code))
        if len(self) < 8192:
            self[code] = shown
        return shown

    def shown(self, code: int, character: str) -> str | None:
        raise NotImplementedError


class _Rendering(_Table):
    """Every break and space becomes a plain space, everything invisible becomes nothing."""

    def shown(self, code: int, character: str) -> str | None:
        if character in _LINE_BREAKS or character == "\t" or unicodedata.category(character) in ("Zs", "Zl", "Zp"):
            return " "
        return None if _is_invisible(character) else character


class _Speaking(_Rendering):
    """As above, but line breaks stay (they tell a transcript); digits and signs of every script become ASCII."""

    def shown(self, code: int, character: str) -> str | None:
        if character in _LINE_BREAKS:
            return "\n"
        if 0x0300 <= code <= 0x036F or 0x064B <= code <= 0x0652:  # accents; Arabic vowel signs
            return None
        digit = unicodedata.decimal(character, None)
        if digit is not None:
            return str(digit)
        if code > 127 and (sign := _PLAIN_SIGNS.get(character) or _SIGN_OF.get(unicodedata.category(character))):
            return sign
        return super().shown(code, character)


class _Judging(_Speaking):
    """As above, but accents go: character by character, which saves taking the whole text apart and together again."""

    def shown(self, code: int, character: str) -> str | None:
        if code < 0xC0 or unicodedata.category(character) not in ("Ll", "Lu", "Lo", "Lt", "Lm"):
            return super().shown(code, character)
        parts = unicodedata.normalize("NFD", character).translate(_ACCENTS)
        return unicodedata.normalize("NFC", parts)


_ACCENTS: Final = dict.fromkeys((*range(0x0300, 0x0370), *range(0x064B, 0x0653)))
_RENDERING = _Rendering()
_SPEAKING = _Speaking()
_JUDGING = _Judging()


def one_line(text: str) -> str:
    """Return the text as one line without invisible characters, runs of space collapsed, trimmed (P04).

    Joiners are dropped too, also where emoji and Persian use them: a family emoji falls apart into its members and
    stays readable, and no character is left that anybody could hide something with. Length never grows.
    """
    # Most texts, at a tenth of the time. What is printable has no break and no space but the plain one.
    if text.isprintable() and "  " not in text and (text.isascii() or not _SHOWS_NOTHING.search(text)):
        return text.strip()
    return " ".join(text.translate(_RENDERING).split())


def visible(text: str) -> str:
    """Return the text as a reader sees it, case kept: HTML entities read, NFKC, nothing invisible, ASCII digits."""
    if "&" in text:
        text = html.unescape(text)
    if text.isascii():
        return text.translate(_JUDGING)
    return _unmix(unicodedata.normalize("NFKC", text).translate(_JUDGING))


def spoken(text: str) -> str:
    """Return the text as `visible` does, but in lower case and with its accents: "würde" is not "wurde"."""
    if "&" in text:
        text = html.unescape(text)
    return unicodedata.normalize("NFKC", text).translate(_SPEAKING).casefold()


def fold(text: str) -> str:
    """Return the copy on which text is judged: `visible`, without accents, look-alike letters undone, case folded."""
    return fold_visible(visible(text))


def fold_visible(shown: str) -> str:
    """Return the folded copy of a text that is `visible` already."""
    folded = shown.casefold()
    if shown.isascii() or not _ONE_PIECE.search(folded):
        return folded
    return folded.translate(_PLAIN_LETTER)


def _unmix(text: str) -> str:
    """Return the text with Cyrillic and Greek look-alikes made Latin where a word mixes scripts.

    Words made of look-alikes alone follow when another word of the text mixes scripts: "аnd" gives "асе" away.
    """
    if not _LOOKALIKE_SCRIPT.search(text) or not _LATIN.search(text):
        return text
    words = text.split(" ")
    if not any(_mixes_scripts(word) for word in words if not word.isascii()):
        return text
    return " ".join(word if word.isascii() else _latin(word) for word in words)


def _mixes_scripts(word: str) -> bool:
    return any(c.isascii() and c.isalpha() for c in word) and any("\u0370" <= c <= "\u052f" for c in word)


def _latin(word: str) -> str:
    plain = word.casefold().translate(_CONFUSABLE)
    return plain if plain.isascii() else word


def unspaced(text: str) -> str:
    """Return the text with s p a c e d letters joined; two or more spaces between them are a word boundary."""
    return str(_SPACED.sub(_join, text))


def _join(match: Any) -> str:
    words = (word.translate(_JOINTS) for word in match.group(0).split("  "))
    return " " + " ".join(word for word in words if word) + " "


def unleet(text: str) -> str:
    """Return the text with digits and signs read as the letters that they stand for, in words that hold a letter."""
    if not _LEET_SIGN.search(text):
        return text
    return " ".join(
        word.translate(_LEET) if not word.isalpha() and any(c.isalpha() for c in word) else word
        for word in text.split(" ")
    )


_UNICODE_CLASS = re2.compile(r"\\p[LN]|\\.|[\[\]]|[^\\\[\]]+")
_CLASSES = {r"\pL": r"a-zA-Z\x{80}-\x{10ffff}", r"\pN": "0-9"}


class Pattern:
    """A compiled RE2 pattern that answers quickly that a text holds nothing, which is what most texts are asked.

    RE2's module for Python goes through a generator for every question, which takes three times as long as the
    question. Its object below that is asked first; only what it finds is read in full.
    """

    __slots__ = ("_holds", "_re", "pattern")

    def __init__(self, pattern: str, options: Any):
        self.pattern = pattern
        self._re = re2.compile(pattern, options)
        self._holds = self._re._regexp.Match

    def is_in(self, text: str) -> bool:
        """Return whether there is a match, which is told sooner than where it is."""
        encoded = text.encode()
        return bool(self._holds(_ANYWHERE, encoded, 0, len(encoded))[0][0] >= 0)

    def search(self, text: str) -> Any:
        """Return the first match, or None."""
        encoded = text.encode()
        found = self._holds(_ANYWHERE, encoded, 0, len(encoded))[0][0] >= 0  # `is_in`, which is asked most of all
        return self._re.search(text) if found else None

    def match(self, text: str) -> Any:
        """Return the match at the beginning, or None."""
        return self._re.match(text)

    def finditer(self, text: str, start: int = 0) -> Iterator[Any]:
        """Return the matches that begin at the character `start` or later, in their order."""
        return self._re.finditer(text, start) if self.is_in(text) else iter(())

    def sub(self, replacement: str | Callable[[Any], str], text: str) -> str:
        """Return the text with every match replaced."""
        return str(self._re.sub(replacement, text)) if self.is_in(text) else text


def compiled(source: str) -> Pattern:
    """Compile a pattern for visible or folded text, in which \\pL is any letter and \\pN any digit.

    RE2's own Unicode classes cost thousands of states each and make it fall back to a matcher that is a hundred times
    slower. In visible text every sign and digit is ASCII, so that whatever is beyond ASCII may count as a letter.
    """
    parts, inside = [], False
    for match in _UNICODE_CLASS.finditer(source):
        part = match.group()
        if part in _CLASSES:
            part = _CLASSES[part] if inside else f"[{_CLASSES[part]}]"
        elif part == "[" and not inside:
            inside = True
        elif part == "]":
            inside = False
        parts.append(part)
    return Pattern("".join(parts), _OPTIONS)


_LETTER: Final = r"a-zA-Z\x80-\U0010ffff"
LETTER: Final = re.compile(f"[{_LETTER}]")
# One run of one class cannot backtrack, and Python's own `re` takes all the words of a text in one call.
WORD: Final = re.compile(f"[{_LETTER}0-9]+")
WORD_WITH_ENDING: Final = re.compile(f"[{_LETTER}0-9]+(?:'[{_LETTER}]+)?")


def words_of(shown: str) -> list[str]:
    """Return the words of a visible or folded text in their order; "anna's" is one word."""
    return WORD_WITH_ENDING.findall(shown)


def either(*patterns: Pattern) -> Pattern:
    """Compile one pattern that is found in a text just when one of the given ones is; it captures nothing.

    Most texts hold none of them, and one pass says so.
    """
    return Pattern("|".join(f"(?:{pattern.pattern})" for pattern in patterns), _NO_GROUPS)


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text that are written apart by spaces."""
    return frozenset(words.split())


def any_of(words: str) -> str:
    """Return a pattern for one of the words, which are written apart by spaces and folded like the text is.

    Within a word "_" stands for a space and "*" for any further letters: "ignor* do_not_follow".
    """
    return "(?:" + "|".join(fold(word).replace("_", " ").replace("*", r"\pL*") for word in words.split()) + ")"


_SPACED = compiled(r"(?:^|[^\pL\pN])(?:[\pL\pN][ ._\-*]{1,3}){5,}[\pL\pN](?:$|[^\pL\pN])")
