"""Answer the extraction question (E02, E03): read its JSON, apply the rules, write the facts; must not use a clock."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any, cast, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from llm.offline_rules import rules_group, rules_style
from llm.offline_rules.clauses import clauses
from llm.offline_rules.contractions import expand
from llm.offline_rules.drafts import MAX_CONTENT, Draft, MemoryType
from llm.offline_rules.foreign import foreign_drafts
from llm.offline_rules.keys import fit
from llm.offline_rules.own_words import Sentence, own_sentences
from llm.offline_rules.rules import read_clause
from llm.offline_rules.words import SECRET_NOUNS

MAX_FACTS = 10
MAX_SOURCES = 5
LONGEST_EXPIRY = timedelta(days=179)  # the store refuses an expiry later than 180 days from the write (F05)

_UNSAFE = re.compile(r"[@<>{}\[\]|`*]|https?:|www\.|\d{6,}|\d[\d -]{7,}\d", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Message:
    id: str
    said: date
    zone: tzinfo | None
    text: str


@dataclass(slots=True)
class _Candidate:
    draft: Draft
    sources: list[str]
    order: int


def answer(question: str) -> str:
    """Return the JSON answer {"facts": [...]} for the JSON question of the extraction prompt; best facts first.

    A question that is not such JSON has no facts in it.
    """
    try:
        asked = json.loads(question)
    except (ValueError, RecursionError):
        asked = None
    if not isinstance(asked, dict):
        return '{"facts": []}'
    zone = _zone(asked.get("time_zone"))
    messages = _members_messages(asked.get("messages"))
    known = _known_keys(asked.get("known_keys"))
    chosen = _best(_candidates(messages, known))
    return json.dumps({"facts": [_as_json(candidate, messages, zone) for candidate in chosen]}, ensure_ascii=False)


def _zone(name: object) -> tzinfo | None:
    try:
        return ZoneInfo(str(name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _known_keys(entries: object) -> list[tuple[str, str]]:
    return [
        (str(entry["memory_type"]), str(entry["key"]))
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict) and "key" in entry and entry.get("memory_type") in get_args(MemoryType)
    ]


def _members_messages(messages: object) -> list[_Message]:
    found = []
    for message in messages if isinstance(messages, list) else []:
        if not isinstance(message, dict) or message.get("author") != "member":
            continue
        try:
            said = datetime.fromisoformat(str(message.get("at")))
        except ValueError:
            continue
        found.append(_Message(str(message.get("id")), said.date(), said.tzinfo, str(message.get("text", ""))))
    return found


def drafts_of(text: str, said: date) -> list[Draft]:
    """Return what one message of the member says about her, in the order of saying; `said` is her day."""
    found: list[Draft] = []
    for sentence in own_sentences(text):
        if not sentence.is_joke:
            found.extend(_drafts_of_sentence(sentence, said))
    return [draft for draft in found if _is_fit(draft)]


def _drafts_of_sentence(sentence: Sentence, said: date) -> list[Draft]:
    asks = sentence.is_question and not re.match(
        r"(?:and |also |please )?(?:can|could|would|will) you\b", sentence.text, re.IGNORECASE
    )
    text = expand(sentence.text)
    wishes = [] if asks else rules_style.standing_wishes(text)
    if wishes:
        return wishes
    found: list[Draft] = []
    for clause in clauses(text, is_question=sentence.is_question, remembered=sentence.asked_to_remember):
        found.extend(read_clause(clause, said))
    if not found and not sentence.is_question:
        found = foreign_drafts(sentence.text, said)
    if sentence.asked_to_remember:
        found = [replace(draft, confidence=0.95) for draft in found] or rules_group.remembered(sentence.text)
    return found


def _is_fit(draft: Draft) -> bool:
    sensible = 6 <= len(draft.content) <= MAX_CONTENT and len(draft.key) > 2 and draft.content.count('"') % 2 == 0
    return sensible and not _UNSAFE.search(draft.content) and not SECRET_NOUNS.search(draft.content)


def _candidates(messages: list[_Message], known: list[tuple[str, str]]) -> list[_Candidate]:
    """Gather the drafts: a fact said twice cites both messages, a later word on a key replaces the earlier one."""
    by_key: dict[tuple[str, str], _Candidate] = {}
    order = 0
    for message in messages:
        for draft in drafts_of(message.text, message.said):
            memory_type, key = fit(draft.memory_type, draft.key, known)
            placed = replace(draft, memory_type=cast(MemoryType, memory_type), key=key)
            order += 1
            earlier = by_key.get((memory_type, key))
            if earlier is not None and earlier.draft.content.casefold() == placed.content.casefold():
                if message.id not in earlier.sources and len(earlier.sources) < MAX_SOURCES:
                    earlier.sources.append(message.id)
                continue
            by_key[memory_type, key] = _Candidate(placed, [message.id], order)
    return list(by_key.values())


def _best(candidates: Iterable[_Candidate]) -> list[_Candidate]:
    return sorted(candidates, key=lambda one: (-one.draft.confidence, one.order))[:MAX_FACTS]


def _as_json(candidate: _Candidate, messages: list[_Message], zone: tzinfo | None) -> dict[str, Any]:
    draft = candidate.draft
    expires = None
    if draft.ends is not None:
        cited = next(message for message in messages if message.id == candidate.sources[0])
        if draft.ends - cited.said <= LONGEST_EXPIRY:
            expires = datetime.combine(draft.ends, time(), tzinfo=zone or cited.zone).isoformat()
    return {
        "memory_type": draft.memory_type,
        "key": draft.key,
        "content": draft.content,
        "confidence": draft.confidence,
        "expires_at": expires,
        "sources": candidate.sources,
    }
