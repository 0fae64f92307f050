"""From a provider row to a model client that connects only where the deployment allows it (C05)."""

import os
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from django.db import transaction
from django.utils import timezone

from agents.addresses import BadProvider, check_form, connectable
from agents.models import Agent, Provider, ProviderState
from llm.client import ChatModel, ModelError

QUIRK_BELIEVED: Final = timedelta(hours=12)  # a server that was replaced is asked properly again the next day


def model_for(agent: Agent, *, attempts: int = 3, longest: float = 600.0) -> ChatModel:
    """Return the client of the agent's configured model. Raises ModelError(misconfigured).

    `attempts` are tries within one call; `longest` (seconds) bounds the provider's own time-out.
    """
    provider = agent.provider
    if provider.kind == Provider.Kind.OFFLINE:
        from llm.offline import OfflineModel

        return OfflineModel()
    from llm.openai import OpenAIModel

    try:
        check_form(provider.base_url)
    except BadProvider:
        raise ModelError("misconfigured", retryable=False) from None
    key = os.environ.get(provider.api_key_env, "") if provider.api_key_env else ""
    if provider.api_key_env and not key:
        raise ModelError("misconfigured", retryable=False)
    return OpenAIModel(
        base_url=provider.base_url,
        api_key=key,
        timeout=min(float(provider.timeout_seconds), longest),
        resolve=connectable,
        attempts=attempts,
        quirks=quirks_of(provider, now=timezone.now()),
        learn=partial(learn_quirk, provider),
    )


def quirks_of(provider: Provider, *, now: datetime) -> frozenset[str]:
    """Return what the provider is believed not to take."""
    found = ProviderState.objects.filter(provider=provider).values_list("quirks", flat=True).first() or {}
    return frozenset(name for name, until in found.items() if datetime.fromisoformat(until) > now)


@transaction.atomic
def learn_quirk(provider: Provider, quirk: str) -> None:
    """Remember for every process what the provider turned out not to take."""
    state, _made = ProviderState.objects.select_for_update(no_key=True).get_or_create(provider=provider)
    state.quirks[quirk] = (timezone.now() + QUIRK_BELIEVED).isoformat()
    state.save(update_fields=["quirks"])
