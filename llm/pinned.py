"""HTTP connections to exactly the addresses that were judged: a name is looked up once, here. Judges none itself."""

import ssl
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from httpcore2 import SOCKET_OPTION, ConnectError, ConnectionPool, NetworkStream, SyncBackend, default_ssl_context
from httpx2 import HTTPTransport

# From a host and a port to the IP addresses that may be connected, in order. Raises OSError, or refuses.
type Resolve = Callable[[str, int], Sequence[str]]


@cache
def _tls() -> ssl.SSLContext:
    """The system's certificates, or those of SSL_CERT_FILE; read once, because that costs more than a connection."""
    return default_ssl_context()


class PinnedTransport(HTTPTransport):
    """Connects to what `resolve` returns, and speaks TLS with the host's name: its certificate must be for the name.

    Knows no proxy: one from the environment would look names up again, and see what is sent.
    """

    def __init__(self, resolve: Resolve) -> None:
        self._pool = ConnectionPool(ssl_context=_tls(), network_backend=_Backend(resolve))


class _Backend(SyncBackend):
    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> NetworkStream:
        """Try one address after another within `timeout` seconds for all of them."""
        until = time.monotonic() + (timeout or 0)
        try:
            addresses = self._resolve(host, port)
        except (OSError, UnicodeError):
            raise ConnectError("The name cannot be resolved.") from None
        failure: Exception = ConnectError("The name has no address.")
        for address in addresses:
            left = None if timeout is None else until - time.monotonic()
            if left is not None and left <= 0:
                break
            try:
                return super().connect_tcp(address, port, left, local_address, socket_options)
            except Exception as error:
                failure = error
        raise failure
