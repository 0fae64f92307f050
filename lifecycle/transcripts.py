"""Reads a transcript file into sessions of messages (X02): a pure reader of three forms, with clear errors.

JSON lines of `{"role", "content", "at"}` (a `session` name, or an empty line, starts another session); an OpenAI
messages array; or a chat export, `{"sessions": [...]}` or a list of such conversations with `messages`.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from screening.text import UnacceptableText, clean_text, storable

MAX_CHARACTERS = 200_000  # of one message

YEARS = (1970, 2200)  # in UTC; times outside of them are mistakes, and some cannot be stored or shown


class BadTranscript(Exception):
    """The file cannot be read; the message names the line or entry and what is wrong."""


@dataclass(frozen=True, slots=True)
class FileMessage:
    """One message of the file; `at` is None where the file gives no time."""

    role: str
    content: str
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Exchange:
    """A user message and its recorded reply, None when the file has none."""

    said: tuple[FileMessage, ...]
    reply: FileMessage | None


def read_transcript(path: Path) -> list[list[FileMessage]]:
    """Return the file's sessions in order. Raises BadTranscript; nothing is read half."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadTranscript(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise BadTranscript(f"{path} is not UTF-8 text.") from None
    sessions = _read_whole(text)
    if sessions is None:
        sessions = _read_lines(text)
    sessions = [session for session in sessions if session]
    if not sessions:
        raise BadTranscript(f"{path} holds no messages.")
    return sessions


def _read_whole(text: str) -> list[list[FileMessage]] | None:
    """Read one JSON value that is the whole file; None when the file is not that."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, Mapping):
        if "role" in value:
            return [[_message(value, "The only entry")]]
        value = value.get("sessions") or value.get("conversations") or [value]
    if not isinstance(value, list):
        raise BadTranscript("The file is no list of messages or sessions.")
    if all(isinstance(entry, Mapping) and "role" in entry for entry in value):
        return [_messages(value, "Entry")]
    sessions = []
    for number, entry in enumerate(value, start=1):
        messages = entry.get("messages") if isinstance(entry, Mapping) else entry
        if not isinstance(messages, list):
            raise BadTranscript(f"Session {number} has no list of messages.")
        sessions.append(_messages(messages, f"Session {number}, entry"))
    return sessions


def _messages(entries: Iterable[Any], where: str) -> list[FileMessage]:
    return [_message(entry, f"{where} {number}") for number, entry in enumerate(entries, start=1)]


def _read_lines(text: str) -> list[list[FileMessage]]:
    sessions: list[list[FileMessage]] = [[]]
    named: dict[str, list[FileMessage]] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            sessions.append([])
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            raise BadTranscript(f"Line {number} is not valid JSON.") from None
        if isinstance(value, list):
            sessions += [_messages(value, f"Line {number}, entry"), []]
            continue
        message = _message(value, f"Line {number}")
        name = value.get("session")
        if name is None:
            sessions[-1].append(message)
        else:
            if str(name) not in named:
                named[str(name)] = []
                sessions += [named[str(name)], []]
            named[str(name)].append(message)
    return sessions


def _message(value: Any, where: str) -> FileMessage:
    if not isinstance(value, Mapping):
        raise BadTranscript(f"{where} is no object with role and content.")
    role = {"human": "user", "developer": "system"}.get(str(value.get("role")), value.get("role"))
    if role not in ("system", "user", "assistant"):
        raise BadTranscript(f"{where}: 'role' must be user, assistant or system.")
    content = value.get("content")
    if isinstance(content, list):
        content = "\n".join(str(part["text"]) for part in content if isinstance(part, Mapping) and part.get("text"))
    if content is None and role == "assistant":  # a tool call says nothing
        content = ""
    if not isinstance(content, str):
        raise BadTranscript(f"{where}: 'content' must be text.")
    if role == "user" and not content.strip():
        raise BadTranscript(
            f"{where}: the message has no text, and pictures or files cannot be replayed; leave it out."
        )
    try:
        # A model's reply may hold what no member may type, such as escape codes of a terminal; it is kept as it was.
        kept = storable(content) if role == "assistant" else content
        if role != "assistant" or len(kept) > MAX_CHARACTERS:
            kept = clean_text(kept, max_length=MAX_CHARACTERS, allow_empty=True)
    except UnacceptableText as error:
        raise BadTranscript(f"{where}: {error}") from None
    return FileMessage(role, kept, _instant(value.get("at", value.get("created_at")), where))


def _instant(value: Any, where: str) -> datetime | None:
    if value is None:
        return None
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    try:
        instant = datetime.fromtimestamp(value, tz=UTC) if number else datetime.fromisoformat(str(value))
        instant = instant.astimezone(UTC) if instant.tzinfo else instant.replace(tzinfo=UTC)
        sane = YEARS[0] <= instant.year <= YEARS[1]
    except (ValueError, OverflowError, OSError) as error:
        if not number and isinstance(error, ValueError):
            raise BadTranscript(f"{where}: 'at' is no ISO 8601 time.") from None
        sane = False  # a number, or after the conversion to UTC, before year 1 or after 9999
    if not sane:
        raise BadTranscript(f"{where}: 'at' is not within the years {YEARS[0]} to {YEARS[1]}.")
    return instant


def exchanges(session: Iterable[FileMessage]) -> list[Exchange]:
    """Return the session as user messages with their replies; system messages and stray replies are left out."""
    found: list[Exchange] = []
    said: list[FileMessage] = []
    for message in session:
        if message.role == "system" or not message.content.strip():
            continue
        if message.role == "user":
            said.append(message)
        elif said:
            found.append(Exchange(tuple(said), message))
            said = []
    if said:
        found.append(Exchange(tuple(said), None))
    return found


def time_of(message: FileMessage, *, after: datetime | None, now: datetime) -> datetime:
    """Return the message's own time; without one, a second after the one before, or now."""
    if message.at is not None:
        return message.at
    return after + timedelta(seconds=1) if after is not None else now
