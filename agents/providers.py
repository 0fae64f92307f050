"""From a provider row to a model client; checks the address before anything is sent (C05)."""

import ipaddress
import os
import socket
from datetime import datetime, timedelta
from functools import partial
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from agents.models import Agent, Provider, ProviderState
from llm.client import ChatModel, ModelError

QUIRK_BELIEVED: Final = timedelta(hours=12)  # a server that was replaced is asked properly again the next day


class BadProvider(ValueError):
    """The provider's address may not be used. The message says why and what to do."""


_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")


def _is_public(ip: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether an address leads to the public internet; one that carries an IPv4 address is judged by that one."""
    if isinstance(ip, ipaddress.IPv6Address):
        carried = ip.ipv4_mapped or ip.sixtofour or (ipaddress.IPv4Address(ip.packed[12:]) if ip in _NAT64 else None)
        if carried is None and ip not in _GLOBAL_UNICAST:
            return False
        ip = carried or ip
    return ip.is_global and not ip.is_multicast


def check_address(base_url: str) -> None:
    """Refuse an address that is no http(s) URL, or is plain http or private unless the deployment allows that."""
    try:
        parts = urlsplit(base_url)
        port = parts.port or 443  # raises ValueError for what is no port
    except ValueError:
        raise BadProvider("The provider address is not a URL.") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or {"?", "#"} & set(base_url):
        raise BadProvider("The provider address must be an http(s) URL with a host and no user, query or fragment.")
    if settings.ALLOW_PRIVATE_PROVIDERS:
        return
    if parts.scheme != "https":
        raise BadProvider(
            "The provider address must use https. For a model server on this machine or network set "
            "MEMORYPROJECT_ALLOW_PRIVATE_PROVIDERS=1."
        )
    try:
        found = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError):
        raise BadProvider("The host name of the provider address cannot be resolved.") from None
    for *_rest, address in found:
        if not _is_public(ipaddress.ip_address(str(address[0]).partition("%")[0])):
            raise BadProvider(
                "The provider address leads to a private network. To allow that set "
                "MEMORYPROJECT_ALLOW_PRIVATE_PROVIDERS=1."
            )


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
        check_address(provider.base_url)
    except BadProvider:
        raise ModelError("misconfigured", retryable=False) from None
    key = os.environ.get(provider.api_key_env, "") if provider.api_key_env else ""
    if provider.api_key_env and not key:
        raise ModelError("misconfigured", retryable=False)
    return OpenAIModel(
        base_url=provider.base_url,
        api_key=key,
        timeout=min(float(provider.timeout_seconds), longest),
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
