"""Asks a provider one small thing for an operator and says in a code how it went; never shows the answer (C05)."""

import time
from dataclasses import dataclass
from typing import Final

from accounts.models import User
from agents import breaker
from agents.models import Provider
from agents.providers import client_of
from audit.services import record
from llm.client import ChatMessage, ChatRequest, ModelError

LONGEST: Final = 15.0  # seconds; somebody waits for the page
ANSWER_TOKENS: Final = 16  # reasoning models refuse to be asked for less
QUESTION: Final = "Answer with one word: OK."


@dataclass(frozen=True, slots=True)
class Trial:
    """How it went: `code` is "" when it works, else one of ModelError's; `models` are on offer, where it was asked."""

    code: str
    milliseconds: int
    status: int | None = None
    models: int | None = None


def try_provider(*, provider: Provider, model: str, actor: User | None) -> Trial:
    """Ask for one word of a model, or, without a model's name, for the list of models; the audit tells the code.

    Past the breaker, which a success closes. Not in a transaction.
    """
    began = time.monotonic()
    offered: int | None = None
    failure: ModelError | None = None
    try:
        client = client_of(provider, attempts=1, longest=LONGEST)
        if model:
            client.complete(ChatRequest(model, (ChatMessage("user", QUESTION),), max_tokens=ANSWER_TOKENS))
        else:
            offered = len(client.models())
    except ModelError as error:
        failure = error
    spent = round((time.monotonic() - began) * 1000)
    code, status = (failure.code, failure.status) if failure else ("", None)
    if not failure:
        breaker.close(provider)
    record("provider.test", actor=actor, object_id=provider.pk, details={"code": code or "works", "ms": spent})
    return Trial(code, spent, status, offered)
