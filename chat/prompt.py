"""Puts the messages of a model call in order; the only place that does (P03, C07). Pure."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from llm.client import ChatMessage


@dataclass(frozen=True, slots=True)
class Prompt:
    """The messages of one call, and the cache key of the compiled system prompt alone."""

    messages: tuple[ChatMessage, ...]
    cache_key: str


def compile_prompt(system_prompt: str) -> str:
    """Return the agent's system prompt as it is sent."""
    return system_prompt.strip()


def member_line(*, time_zone: str, language: str, now: datetime) -> str:
    """Return the line about a member's settings: an IANA zone and a language's English name, or "" for what is not set.

    It names the day but no hour: the line stands before the history, and a provider's cache ends at the first change.
    """
    parts = []
    if time_zone:
        today = now.astimezone(ZoneInfo(time_zone))
        parts.append(f"This person's time zone is {time_zone}; today is {today:%A}, {today.day} {today:%B %Y} there.")
    if language:
        parts.append(f"The language of this person's settings is {language}.")
    return " ".join(parts)


def assemble(
    *,
    system_prompt: str,
    about_member: str = "",
    blocks: Sequence[str],
    client_system: Sequence[str],
    history: Sequence[tuple[str, str]],
) -> Prompt:
    """Return compiled prompt and memory blocks in one system message, the client's system messages, then the history.

    The cache key is a hash of the compiled prompt; what depends on the member is not part of it and comes after it.
    """
    compiled = compile_prompt(system_prompt)
    system = "\n\n".join(part for part in (compiled, about_member, *blocks) if part)
    messages = [ChatMessage("system", system)] if system else []
    messages += [ChatMessage("system", text) for text in client_system if text]
    messages += [ChatMessage("assistant" if role == "assistant" else "user", text) for role, text in history]
    return Prompt(tuple(messages), hashlib.sha256(compiled.encode()).hexdigest())
