"""To which addresses a provider's URL may lead (C05): looks names up and judges what they lead to; sends nothing."""

import ipaddress
import socket
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext as _

from llm.wire import RefusedAddress, resolved

type Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAT64: Final = ipaddress.ip_network("64:ff9b::/96")
_GLOBAL_UNICAST: Final = ipaddress.ip_network("2000::/3")
# Special by IANA's registers, and public to the `ipaddress` of some versions of Python.
_SPECIAL: Final = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "3fff::/20")))
# Where clouds tell a machine its own credentials, other than on link-local addresses.
_METADATA: Final = frozenset({"fd00:ec2::254", "100.100.100.200"})


class BadProvider(ValueError):
    """The provider's address may not be used. The message says why and what to do."""


def check_address(base_url: str) -> None:
    """Refuse an address that is no http(s) URL, or is plain http or private unless the deployment allows that."""
    host, port = check_form(base_url)
    # Where private ones are allowed a name may belong to a server that is not up yet; it is judged when it is called.
    flags = socket.AI_NUMERICHOST if settings.ALLOW_PRIVATE_PROVIDERS else 0
    try:
        judge(resolved(host, port, flags=flags))
    except (OSError, UnicodeError):
        if not settings.ALLOW_PRIVATE_PROVIDERS:
            raise BadProvider(_("The host name of the provider address cannot be resolved.")) from None


def check_form(base_url: str) -> tuple[str, int]:
    """Return host and port of an http(s) URL; plain http needs the deployment's leave. Looks nothing up."""
    try:
        parts = urlsplit(base_url)
        port = parts.port  # raises ValueError for what is no port
    except ValueError:
        raise BadProvider(_("The provider address is not a URL.")) from None
    if port == 0 or any(character.isspace() for character in base_url):
        raise BadProvider(_("The provider address has a space, or a port that nobody can be reached at."))
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or {"?", "#"} & set(base_url):
        raise BadProvider(_("The provider address must be an http(s) URL with a host and no user, query or fragment."))
    if parts.scheme != "https" and not settings.ALLOW_PRIVATE_PROVIDERS:
        raise BadProvider(
            _(
                "The provider address must use https. For a model server on this machine or network set "
                "MEMORYPROJECT_ALLOW_PRIVATE_PROVIDERS=1."
            )
        )
    return parts.hostname, port or (80 if parts.scheme == "http" else 443)


def connectable(host: str, port: int) -> list[str]:
    """Look a name up, once, for a connection to exactly what is returned. Raises RefusedAddress, OSError."""
    addresses = resolved(host, port)
    try:
        judge(addresses)
    except BadProvider:
        raise RefusedAddress from None
    return addresses


def judge(addresses: list[str]) -> None:
    """Raise BadProvider when one of the addresses may not be connected: a name is as good as its worst address."""
    for ip in map(ipaddress.ip_address, addresses):
        if not settings.ALLOW_PRIVATE_PROVIDERS and not _is_public(ip):
            raise BadProvider(
                _(
                    "The provider address leads to a private network. To allow that set "
                    "MEMORYPROJECT_ALLOW_PRIVATE_PROVIDERS=1."
                )
            )
        reached = _carried(ip) or ip
        if reached.is_link_local or reached.is_multicast or str(reached) in _METADATA:
            raise BadProvider(_("The provider address is link-local, multicast, or a cloud's metadata: never used."))


def _carried(ip: Address) -> Address | None:
    """Return the IPv4 address that an IPv6 address carries."""
    if isinstance(ip, ipaddress.IPv4Address):
        return None
    return ip.ipv4_mapped or ip.sixtofour or (ipaddress.IPv4Address(ip.packed[12:]) if ip in _NAT64 else None)


def _is_public(ip: Address) -> bool:
    """Whether an address leads to the public internet; one that carries an IPv4 address is judged by that one."""
    carried = _carried(ip)
    if carried is None and isinstance(ip, ipaddress.IPv6Address) and ip not in _GLOBAL_UNICAST:
        return False
    reached = carried or ip
    return reached.is_global and not reached.is_multicast and not any(reached in network for network in _SPECIAL)
