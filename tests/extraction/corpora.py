"""Run the rows of the candidate corpora through the pipeline's judgment, without a database."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from extraction.candidates import Candidate, read_candidates
from extraction.evidence import Heard, find_doubt
from extraction.grounding import ungrounded
from extraction.own_words import Cited
from screening.verdict import screen

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
FOLDER = Path(__file__).with_name("corpus")


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """One row; `reason` is None when the candidate is stored. `should_store` is what the row asks for."""

    id: str
    kind: str
    language: str
    content: str
    reason: str | None
    should_store: bool


def judged_rows(name: str) -> Iterator[JudgedRow]:
    """Yield the rows of a corpus (junk, good or fresh) with the reason of refusal."""
    for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        should_store = row.get("stored", name == "good")
        content = row["candidate"]["content"] if "candidate" in row else row["content"]
        yield JudgedRow(row["id"], row["kind"], row["lang"], content, reason_for(row), should_store)


def reason_for(row: dict[str, Any]) -> str | None:
    """Return why the candidate of a row is refused, as "reason rule", or None."""
    candidate = row.get("candidate") or {
        "memory_type": "profile",
        "key": "note",
        "content": row["content"],
        "confidence": 0.8,
        "sources": row["sources"],
    }
    messages = {m["id"]: Cited(m["text"], m["author"] == "member", NOW) for m in row["messages"]}
    reading = read_candidates(json.dumps([candidate]), shown_ids=list(messages), now=NOW, zone=ZoneInfo("UTC"))
    if not reading.candidates:
        return next(iter(reading.refusals))
    return _refusal(reading.candidates[0], messages)


def _refusal(candidate: Candidate, messages: dict[str, Cited]) -> str | None:
    cited = [messages[source] for source in candidate.sources]
    if not any(message.own for message in cited):
        return "citation"
    verdict = screen(candidate.key, candidate.body)
    if verdict.reason:
        return f"{verdict.reason} {verdict.rule}"
    if rule := ungrounded(candidate.body, cited):
        return f"ungrounded {rule}"
    doubt = find_doubt(candidate.body, cited, Heard(list(messages.values())))
    return f"{doubt.reason} {doubt.rule}" if doubt else None
