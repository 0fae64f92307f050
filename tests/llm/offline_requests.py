"""Requests as extraction makes them, for the tests of the offline model; must not know the expected answers."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from extraction.prompt import SCHEMA, Author, ShownMessage, build_messages
from llm.client import ChatRequest
from llm.offline import OfflineModel

LISBON = ZoneInfo("Europe/Lisbon")
MONDAY = datetime(2027, 2, 1, 12, 0, tzinfo=LISBON)  # when the member speaks unless a test says otherwise


def request(*messages: ShownMessage, known: Sequence[tuple[str, str]] = (), zone: ZoneInfo = LISBON) -> ChatRequest:
    """Return the extraction request for the shown messages."""
    return ChatRequest("offline", build_messages(messages, known, zone=zone), schema=SCHEMA)


def shown(text: str, *, id: str = "m1", author: Author = "member", at: datetime = MONDAY) -> ShownMessage:
    """Return one message of the window."""
    return ShownMessage(id, author, at, text)


def facts(
    *messages: ShownMessage, known: Sequence[tuple[str, str]] = (), zone: ZoneInfo = LISBON
) -> list[dict[str, Any]]:
    """Return what the offline model notes about the member."""
    answer = OfflineModel().complete(request(*messages, known=known, zone=zone))
    found: list[dict[str, Any]] = json.loads(answer.text)["facts"]
    return found


def facts_of(text: str, *, at: datetime = MONDAY) -> list[dict[str, Any]]:
    """Return what the offline model notes when the member says `text`."""
    return facts(shown(text, at=at))
