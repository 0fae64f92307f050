"""Puts the messages of a model call in order; the only place that does (P03, C07). Pure."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from llm.client import ChatMessage


@dataclass(frozen=True, slots=True)
class Prompt:
    """The messages of one call, and the cache key of the compiled system prompt alone."""

    messages: tuple[ChatMessage, ...]
    cache_key: str


def compile_prompt(system_prompt: str) -> str:
    """Return the agent's system prompt as it is sent."""
    return system_prompt.strip()


def assemble(
    *,
    system_prompt: str,
    blocks: Sequence[str],
    client_system: Sequence[str],
    history: Sequence[tuple[str, str]],
) -> Prompt:
    """Return compiled prompt and memory blocks in one system message, the client's system messages, then the history.

    The cache key is a hash of the compiled prompt; memory blocks are not part of it.
    """
    compiled = compile_prompt(system_prompt)
    system = "\n\n".join(part for part in (compiled, *blocks) if part)
    messages = [ChatMessage("system", system)] if system else []
    messages += [ChatMessage("system", text) for text in client_system if text]
    messages += [ChatMessage("assistant" if role == "assistant" else "user", text) for role, text in history]
    return Prompt(tuple(messages), hashlib.sha256(compiled.encode()).hexdigest())
