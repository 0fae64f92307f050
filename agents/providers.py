"""From a provider row to a model client that connects only where the deployment allows it (C05)."""

import os
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

import structlog
from django.db import connection, transaction
from django.utils import timezone

from agents.addresses import BadProvider, check_form, connectable
from agents.models import Agent, Provider, ProviderState
from encryption.deployment import SecretUnavailable, open_secret
from llm.client import ChatModel, ModelError

if TYPE_CHECKING:
    from llm.openai import OpenAIModel

log = structlog.get_logger(__name__)
QUIRK_BELIEVED: Final = timedelta(hours=12)  # a server that was replaced is asked properly again the next day


def model_for(agent: Agent, *, attempts: int = 3, longest: float = 600.0) -> ChatModel:
    """Return the client of the agent's configured model. Raises ModelError(misconfigured).

    `attempts` are tries within one call; `longest` (seconds) bounds the provider's own time-out.
    """
    if agent.provider.kind == Provider.Kind.OFFLINE:
        from llm.offline import OfflineModel

        return OfflineModel()
    return client_of(agent.provider, attempts=attempts, longest=longest)


def client_of(provider: Provider, *, attempts: int, longest: float) -> "OpenAIModel":
    """Return the client of an OpenAI-compatible server. Raises ModelError(misconfigured)."""
    from llm.openai import OpenAIModel

    if provider.secret_id:
        # Address and secret of one instant: they fit together, or nothing is sent.
        provider = Provider.objects.select_related("secret").filter(pk=provider.pk).first() or provider
    try:
        check_form(provider.base_url)
    except BadProvider:
        raise ModelError("misconfigured", retryable=False) from None
    return OpenAIModel(
        base_url=provider.base_url,
        api_key=_key_of(provider),
        timeout=min(float(provider.timeout_seconds), longest),
        resolve=connectable,
        attempts=attempts,
        quirks=quirks_of(provider, now=timezone.now()),
        learn=partial(_learn, provider),
    )


def _key_of(provider: Provider) -> str:
    """Return the provider's key, or "" for one that needs none. Raises ModelError(misconfigured)."""
    if provider.secret is not None:
        try:
            return open_secret(provider.secret, sealed_for=provider.secret_place)
        except SecretUnavailable as error:
            log.error("provider_secret_unavailable", provider_id=str(provider.pk), code=error.code)
            raise ModelError("misconfigured", retryable=error.code.startswith("kms_")) from None
    key = os.environ.get(provider.api_key_env, "") if provider.api_key_env else ""
    if provider.api_key_env and not key:
        raise ModelError("misconfigured", retryable=False)
    return key


def quirks_of(provider: Provider, *, now: datetime) -> frozenset[str]:
    """Return what the provider is believed not to take."""
    found = ProviderState.objects.filter(provider=provider).values_list("quirks", flat=True).first() or {}
    return frozenset(name for name, until in found.items() if datetime.fromisoformat(until) > now)


def _learn(provider: Provider, quirk: str) -> None:
    learn_quirk(provider, quirk)
    if not connection.in_atomic_block:
        connection.close()  # replies are read in threads of their own, whose connection nobody else would give back


@transaction.atomic
def learn_quirk(provider: Provider, quirk: str) -> None:
    """Remember for every process what the provider turned out not to take."""
    state, _made = ProviderState.objects.select_for_update(no_key=True).get_or_create(provider=provider)
    state.quirks[quirk] = (timezone.now() + QUIRK_BELIEVED).isoformat()
    state.save(update_fields=["quirks"])
