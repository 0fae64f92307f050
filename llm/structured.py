"""Read the JSON out of what models really send (E03); must not know what the JSON is about."""

import json
import math
import re
from dataclasses import dataclass, field
from typing import Any, Final

MAX_BYTES: Final = 1_000_000  # a thousand times what ten facts need
MAX_DEPTH: Final = 32
MAX_CUT_OFF_STARTS: Final = 8  # brackets in prose that run to the end of the text; each costs one more pass

_THINKING: Final = re.compile(
    r"<(/?)(?:think|thinking|thought|thoughts|reasoning|reflection|analysis|scratchpad)>", re.IGNORECASE
)
_TOKEN: Final = re.compile(
    r"""(?:[\s,]|//[^\n]*+(?:\n|$))*+
    (?:(?P<punctuation>[{}\[\]:])
    |(?P<string>"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|“[^“”]*+”)
    |(?P<number>-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
    |(?P<word>-?[A-Za-z_][\w-]*)
    |(?P<cut>["'“]|$))""",
    re.VERBOSE | re.DOTALL,
)
_BRACKET: Final = re.compile(r"[{\[]")
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_WORDS: Final = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_NOT_FINITE: Final = frozenset({"NaN", "nan", "Infinity", "-Infinity", "inf", "-inf", "-NaN"})
_REFUSAL: Final = re.compile(
    r"\bi(?:'|’)?m (?:sorry|unable|not able)|\bi (?:can(?:no|'|’)t|can not|won(?:'|’)t|will not)\b|\bas an ai\b"
    r"|\bi am (?:sorry|unable)|es tut mir leid|ich kann (?:das |dabei |diese \w+ )?(?:leider )?nicht|je suis d[ée]sol"
    r"|je ne peux pas|lo siento|no puedo|n[ãa]o posso|mi dispiace|non posso|het spijt me|nie mog[ęe]"
    r"|抱歉|无法|申し訳|できません|죄송",
    re.IGNORECASE,
)


class Unreadable(ValueError):
    """An answer that holds no usable JSON; never carries any of its text.

    `code` is one of: empty, refusal, no_json, too_big, too_deep, not_finite, truncated.
    """

    def __init__(self, code: str):
        super().__init__(code)
        self.code = code


def read_json(text: str, *, max_bytes: int = MAX_BYTES, max_depth: int = MAX_DEPTH) -> Any:
    """Return the JSON value that an answer holds, or raise Unreadable. Time is linear in the length of the answer.

    Copes with code fences, prose around the JSON, thinking blocks (also unclosed), comments, trailing or missing
    commas, single quotes, several objects in a row (they become a list), JSON inside a JSON string, and an answer that
    was cut off (the complete items of its outermost list are kept). Of several values the last one counts. With
    duplicate keys the last one wins, as in Python's own reader.
    """
    if len(text) > max_bytes or len(text.encode("utf-8", "surrogatepass")) > max_bytes:
        raise Unreadable("too_big")
    answer = _without_thinking(text).strip().lstrip("\ufeff").strip()
    if not answer:
        raise Unreadable("empty")
    if answer in _WORDS:
        return _WORDS[answer]
    if len(answer) > 1 and answer[0] == answer[-1] == '"' and (inner := _unquoted(answer).strip())[:1] in ("{", "["):
        answer = inner
    return _unwrapped(_best_value(answer, max_depth), max_depth)


def _without_thinking(text: str) -> str:
    """Return what is outside of thinking blocks; after an unclosed one, what follows it if nothing stood before it."""
    kept: list[str] = []
    depth, position = 0, 0
    for tag in _THINKING.finditer(text):
        closing = bool(tag.group(1))
        if depth == 0 and not closing:
            kept.append(text[position : tag.start()])
        elif depth == 0 and closing:  # the opening tag was part of the prompt: all before is thinking
            kept.clear()
        depth = max(0, depth - 1) if closing else depth + 1
        position = tag.end()
    rest = text[position:]
    if depth == 0 or not any(bracket in part for part in kept for bracket in "{["):
        kept.append(rest)
    return "".join(kept)


def _best_value(answer: str, max_depth: int) -> Any:
    if answer[0] in "{[" and answer.count("{") + answer.count("[") <= max_depth:
        try:  # what is clean JSON already, at a tenth of the time; it cannot be deeper than it has brackets
            return json.loads(answer, parse_float=_finite, parse_constant=_finite)
        except ValueError:
            pass
    values: list[tuple[Any, int, int]] = []
    position = cut_off = 0
    partial: Any = _NOTHING
    while bracket := _BRACKET.search(answer, position):
        start = bracket.start()
        attempt = _Attempt(answer, start, max_depth)
        attempt.run()
        if attempt.complete:
            values.append((attempt.root, start, attempt.position))
        elif attempt.cut_off:
            partial = attempt.kept() if partial is _NOTHING else partial
            cut_off += 1
            if cut_off > MAX_CUT_OFF_STARTS or partial is not _NOTHING:
                break
            position = start + 1
            continue
        position = max(start + 1, attempt.position)
    if partial is not _NOTHING:
        return partial
    if values:
        return _joined(answer, values)
    if cut_off:
        raise Unreadable("truncated")
    raise Unreadable("refusal" if _REFUSAL.search(answer[:2000]) else "no_json")


def _finite(written: str) -> float:
    number = float(written)
    if not math.isfinite(number):
        raise Unreadable("not_finite")
    return number


def _joined(answer: str, values: list[tuple[Any, int, int]]) -> Any:
    """Return the last value; objects that follow each other with nothing between are one list."""
    run = [values[-1]]
    for value in reversed(values[:-1]):
        if not isinstance(run[0][0], dict) or not isinstance(value[0], dict):
            break
        if answer[value[2] : run[-1][1]].strip(" \t\r\n,"):
            break
        run.append(value)
    if len(run) > 1:
        return [value for value, _start, _end in reversed(run)]
    useful = [value for value, _start, _end in values if _is_useful(value)]
    return useful[-1] if useful else values[-1][0]


def _is_useful(value: Any) -> bool:
    """Return whether a value may be an answer, as against "[1]" or "[m1, m2]" in prose."""
    return isinstance(value, dict) or not value or any(isinstance(item, dict | list) for item in value)


def _unwrapped(value: Any, max_depth: int) -> Any:
    """Return the value with JSON read out of strings near its top: {"facts": "[{...}]"} and {"facts": ["{...}"]}."""
    if isinstance(value, dict):
        return {
            key: [_read_string(part, max_depth) for part in item]
            if isinstance(item, list)
            else _read_string(item, max_depth)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_read_string(item, max_depth) for item in value]
    return value


def _read_string(item: Any, max_depth: int) -> Any:
    if not isinstance(item, str) or item.strip()[:1] not in ("{", "["):
        return item
    inner = item.strip()
    attempt = _Attempt(inner, 0, max_depth)
    attempt.run()
    return attempt.root if attempt.complete and attempt.position == len(inner) else item


_NOTHING: Final[Any] = object()


@dataclass(slots=True)
class _Attempt:
    """One try to read a value that starts with a bracket; iterative, so that depth costs no Python stack.

    Afterwards `position` is where it stopped; `complete` and `cut_off` say how.
    """

    text: str
    position: int
    max_depth: int
    root: Any = None
    complete: bool = False
    cut_off: bool = False
    stack: list[Any] = field(default_factory=list)
    keys: list[Any] = field(default_factory=list)

    def run(self) -> None:
        while not self.complete and not self.cut_off:
            token = _TOKEN.match(self.text, self.position)
            if token is None:
                return
            if token["cut"] is not None:
                self.cut_off = True
                return
            sign = token["punctuation"]
            if not (self._punctuation(sign) if sign else self._scalar(token)):
                return
            self.position = token.end()

    def _punctuation(self, sign: str) -> bool:
        if sign in "{[":
            return self._open({} if sign == "{" else [])
        if sign == ":":
            return bool(self.stack) and isinstance(self.stack[-1], dict) and self._turn_key()
        return self._close(sign)

    def _open(self, container: Any) -> bool:
        if self.stack and not self._add(container):
            return False
        if not self.stack:
            self.root = container
        if len(self.stack) >= self.max_depth:
            raise Unreadable("too_deep")
        self.stack.append(container)
        self.keys.append(_NOTHING)
        return True

    def _close(self, sign: str) -> bool:
        expected = "}" if isinstance(self.stack[-1], dict) else "]"
        if sign != expected or self.keys[-1] is not _NOTHING:
            return False
        self.stack.pop()
        self.keys.pop()
        self.complete = not self.stack
        return True

    def _turn_key(self) -> bool:
        """A colon: the key that was read waits for its value."""
        key = self.keys[-1]
        if key is _NOTHING or not isinstance(key, _Key) or key.has_colon:
            return False
        self.keys[-1] = _Key(key.name, has_colon=True)
        return True

    def _scalar(self, token: "re.Match[str]") -> bool:
        container, key = self.stack[-1], self.keys[-1]
        if isinstance(container, dict) and key is _NOTHING:
            name = _unquoted(token["string"]) if token["string"] else token["word"]
            if name is None:
                return False
            self.keys[-1] = _Key(name)
            return True
        if token["string"]:
            return self._add(_unquoted(token["string"]))
        if token["number"]:
            if token.end() == len(self.text):  # may have been cut in the middle
                self.cut_off = True
                return True
            return self._add(_number(token["number"]))
        if token["word"] in _NOT_FINITE:
            raise Unreadable("not_finite")
        return token["word"] in _WORDS and self._add(_WORDS[token["word"]])

    def _add(self, value: Any) -> bool:
        container, key = self.stack[-1], self.keys[-1]
        if isinstance(container, list):
            container.append(value)
            return True
        if key is _NOTHING or not key.has_colon:
            return False
        container[key.name] = value
        self.keys[-1] = _NOTHING
        return True

    def kept(self) -> Any:
        """Return what is complete of a value that was cut off: the outermost list without its unfinished item."""
        for depth, container in enumerate(self.stack):
            if isinstance(container, list):
                if depth + 1 < len(self.stack):
                    container.pop()
                return self.root if container else _NOTHING
        return _NOTHING


@dataclass(frozen=True, slots=True)
class _Key:
    """The key of an object whose value has not been read yet."""

    name: str
    has_colon: bool = False


def _number(text: str) -> int | float:
    """Return a number; one that is too large for a float is not finite and refused."""
    if text.lstrip("-").isdigit() and len(text) <= 20:
        return int(text)
    value = float(text)
    if not math.isfinite(value):
        raise Unreadable("not_finite")
    return value


def _unquoted(token: str) -> str:
    """Return what a string token says; an unknown escape stands for the character itself."""
    inner = token[1:-1]
    if "\\" not in inner:
        return inner

    def character(match: "re.Match[str]") -> str:
        code, letter = match.groups()
        return chr(int(code, 16)) if code else _ESCAPED.get(letter, letter)

    plain = _ESCAPE.sub(character, inner)
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
