"""Read the model's answer into candidates, each judged alone (E03, E04); must not judge what a candidate says."""

import math
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final, Literal
from zoneinfo import ZoneInfo

from extraction.prompt import MAX_CANDIDATES, MAX_SOURCES
from llm.structured import Unreadable, read_json
from screening.text import UnacceptableText, clean_text, fold

MAX_KEY: Final = 120  # F03
MAX_BODY: Final = 4_000  # F08
MAX_LIFE: Final = timedelta(hours=180 * 24)  # F05: 180 days are 180 × 24 hours
WITHOUT_CONFIDENCE: Final = 0.5  # a model that leaves it out says nothing about it; the tab shows one half

MemoryType = Literal["profile", "semantic", "episodic"]
Refusal = Literal["malformed", "citation"]

# What models call the fields, in letters only: "memoryType", "memory-type" and "Memory Type" are "memorytype".
_NAMES: Final = {
    "memory_type": ("memorytype", "type", "kind", "category", "facttype"),
    "key": ("key", "label", "name", "attribute", "topic"),
    "body": ("content", "body", "fact", "text", "value", "statement", "memory", "description"),
    "confidence": ("confidence", "confidencescore", "score", "probability", "certainty"),
    "expires_at": ("expiresat", "expires", "expiry", "expireson", "expirydate", "expirationdate", "validuntil"),
    "sources": ("sources", "source", "sourceids", "messageids", "citations", "evidence", "ids"),
}
_SPELLINGS: Final = frozenset().union(*_NAMES.values())
_LISTS: Final = (
    "facts",
    "candidates",
    "memories",
    "factcandidates",
    "items",
    "results",
    "result",
    "data",
    "output",
    "response",
    "answer",
    "entries",
    "records",
    "memory",
    "extractedfacts",
    "arguments",  # of a tool call
    "parameters",
    "input",
)
# Also as models translate them, folded.
_TYPES: Final[dict[str, MemoryType]] = {
    "profile": "profile",
    "semantic": "semantic",
    "episodic": "episodic",
    "episode": "episodic",
    **dict.fromkeys(
        ("profil", "profiel", "perfil", "profilo", "profilowy", "个人资料", "档案", "プロフィール"), "profile"
    ),
    **dict.fromkeys(
        (
            "semantisch",
            "semantique",
            "semantico",
            "semantica",
            "semantyczny",
            "semantyczna",
            "语义",
            "意味",
            "セマンティック",
        ),
        "semantic",
    ),
    **dict.fromkeys(
        ("episodisch", "episodique", "episodico", "episodica", "epizodyczny", "epizodyczna", "情景", "エピソード"),
        "episodic",
    ),
}
_NOT_LETTERS: Final = re.compile(r"[^a-z]")
_BETWEEN_IDS: Final = re.compile(r"[\s,;\[\]()\"'#]+")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One fact as the model proposes it. `sources` are ids of shown messages, each once, in the order cited."""

    memory_type: MemoryType
    key: str
    body: str = field(repr=False)
    confidence: float
    expires_at: datetime | None
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """What an answer held: usable candidates, and how many were refused by reason (malformed, citation)."""

    candidates: list[Candidate] = field(default_factory=list)
    refusals: dict[str, int] = field(default_factory=dict)


class _Refused(Exception):
    """One candidate is unusable; carries the reason."""

    def __init__(self, reason: Refusal):
        super().__init__(reason)
        self.reason = reason


def read_candidates(text: str, *, shown_ids: Collection[str], now: datetime, zone: ZoneInfo) -> Reading:
    """Return the candidates of an answer; at most the first ten are considered, whatever comes after (E03).

    `shown_ids` are the ids that the request showed; `now` is aware; a date without an offset is in `zone`. An empty
    answer holds no candidates. Raises Unreadable when there is an answer and no JSON can be read from it.
    """
    try:
        value = read_json(text)
    except Unreadable as error:
        if error.code == "empty":
            return Reading()
        raise
    reading = Reading()
    for item in _items(value)[:MAX_CANDIDATES]:
        try:
            reading.candidates.append(_candidate(item, shown_ids=shown_ids, now=now, zone=zone))
        except _Refused as refused:
            reading.refusals[refused.reason] = reading.refusals.get(refused.reason, 0) + 1
    return reading


def _items(value: Any) -> list[Any]:
    """Return the list of candidates, however the model wrapped it."""
    for _ in range(3):  # {"response": {"data": {"facts": [...]}}}
        if not isinstance(value, dict):
            break
        fields = {_letters(name): item for name, item in value.items()}
        wrapped = next((fields[name] for name in _LISTS if isinstance(fields.get(name), list)), None)
        if wrapped is None and not _looks_like_candidate(fields):
            wrapped = next((fields[name] for name in _LISTS if isinstance(fields.get(name), dict)), None)
        if wrapped is None:
            lists = [item for item in value.values() if isinstance(item, list)]
            if _looks_like_candidate(fields) or not value:
                break
            wrapped = lists[0] if len(lists) == 1 else None
        if wrapped is None:
            break
        value = wrapped
    if isinstance(value, list):
        return _without_wrappers(value)
    if isinstance(value, dict) and not any(value.values()):  # {"facts": null}
        return []
    return [value] if value else []


def _without_wrappers(items: list[Any]) -> list[Any]:
    """Return the candidates of several answers in a row, such as the echoed schema and then the answer itself."""
    found: list[Any] = []
    for item in items:
        if isinstance(item, dict) and isinstance(item.get("content"), str) and "properties" not in item:
            found.append(item)  # as it was asked for
            continue
        fields = {_letters(name): part for name, part in item.items()} if isinstance(item, dict) else {}
        lists = [fields[name] for name in _LISTS if isinstance(fields.get(name), list)]
        if lists and not _looks_like_candidate(fields):
            found += lists[0]
        elif not ("properties" in fields and fields.get("type") == "object"):
            found.append(item)
    return found


def _looks_like_candidate(fields: dict[str, Any]) -> bool:
    return any(isinstance(fields.get(name), str) for name in _NAMES["body"])


def _candidate(item: Any, *, shown_ids: Collection[str], now: datetime, zone: ZoneInfo) -> Candidate:
    if not isinstance(item, dict):
        raise _Refused("malformed")
    fields = {name if name in _SPELLINGS else _letters(name): value for name, value in item.items()}
    memory_type = _memory_type(_field(fields, "memory_type"))
    if memory_type is None:
        raise _Refused("malformed")
    key = _text(_field(fields, "key"), MAX_KEY, single_line=True)
    body = _text(_field(fields, "body"), MAX_BODY, single_line=False)
    confidence = _confidence(_field(fields, "confidence"))
    expires_at = _expiry(_field(fields, "expires_at"), now=now, zone=zone)
    sources = _sources(_field(fields, "sources"), shown_ids)
    return Candidate(memory_type, key, body, confidence, expires_at, sources)


def _memory_type(value: Any) -> MemoryType | None:
    if not isinstance(value, str) or len(value) > 40:
        return None
    return _TYPES.get(_letters(value)) or _TYPES.get(fold(value).strip())


def _letters(name: object) -> str:
    if not isinstance(name, str):
        return ""
    return name if name.isascii() and name.isalpha() and name.islower() else _NOT_LETTERS.sub("", name.lower())


def _field(fields: dict[str, Any], name: str) -> Any:
    for spelling in _NAMES[name]:
        if (value := fields.get(spelling)) is not None:
            return value
    return None


def _text(value: Any, max_length: int, *, single_line: bool) -> str:
    if not isinstance(value, str):
        raise _Refused("malformed")
    try:
        return clean_text(value.strip(), max_length=max_length, single_line=single_line)
    except UnacceptableText as error:
        raise _Refused("malformed") from error


def _confidence(value: Any) -> float:
    """Return a confidence of 0..1, also written as a string; a percentage is refused, for 1 would be ambiguous."""
    if value is None:
        return WITHOUT_CONFIDENCE
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise _Refused("malformed")
    try:
        confidence = float(value)
    except (ValueError, OverflowError) as error:
        raise _Refused("malformed") from error
    if not math.isfinite(confidence) or not 0 <= confidence <= 1:
        raise _Refused("malformed")
    return confidence


def _expiry(value: Any, *, now: datetime, zone: ZoneInfo) -> datetime | None:
    """Return the expiry in UTC, or None for the default; refused when unreadable, past, or later than 180 days (F05).

    A date without a time lasts to the end of that day in `zone`.
    """
    if value is None or (isinstance(value, str) and value.strip().lower() in ("", "null", "none", "never", "n/a")):
        return None
    if not isinstance(value, str) or len(value) > 40:
        raise _Refused("malformed")
    try:
        expires_at = _instant(value.strip(), zone)
    except (ValueError, OverflowError) as error:
        raise _Refused("malformed") from error
    if not now < expires_at <= now + MAX_LIFE:
        raise _Refused("malformed")
    return expires_at


def _instant(text: str, zone: ZoneInfo) -> datetime:
    if len(text) == 10:
        day = date.fromisoformat(text)
        return datetime.combine(day + timedelta(days=1), time(), zone).astimezone(UTC)
    instant = datetime.fromisoformat(text)
    return (instant if instant.tzinfo else instant.replace(tzinfo=zone)).astimezone(UTC)


def _sources(value: Any, shown_ids: Collection[str]) -> tuple[str, ...]:
    """Return the cited ids as they were shown; refused when there are none, more than five, or one was not shown."""
    cited: list[str] = []
    for item in _flat(value):
        source = _shown(item, shown_ids)
        if source is None:
            raise _Refused("citation")
        if source not in cited:
            cited.append(source)
    if not 1 <= len(cited) <= MAX_SOURCES:
        raise _Refused("citation")
    return tuple(cited)


def _flat(value: Any) -> Iterable[str]:
    """Return the ids of "m1", "m1, m2", 1, ["m1", 2] and [{"id": "m1"}] as strings."""
    if isinstance(value, str):
        return [part for part in _BETWEEN_IDS.split(value) if part]
    if isinstance(value, int) and not isinstance(value, bool):
        return [str(value)]
    if isinstance(value, dict):
        return _flat(value.get("id", value.get("message_id")))
    if isinstance(value, list):
        return [source for item in value[: 4 * MAX_SOURCES] if not isinstance(item, list) for source in _flat(item)]
    return []


def _shown(cited: str, shown_ids: Collection[str]) -> str | None:
    """Return the shown id that is meant: itself, in the other case, or "3" for "m3" where only one id is m3."""
    if cited in shown_ids:
        return cited
    lowered = cited.lower()
    for shown in shown_ids:
        if shown.lower() == lowered or (lowered.isdigit() and shown.lower() == f"m{lowered}"):
            return shown
    return None
