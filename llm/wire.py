"""The HTTP connection to a provider, bounded in bytes and time, which another thread may cut; knows no protocol."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import httpx2

    from llm.pinned import Resolve

MAX_BYTES: Final = 4 * 1024 * 1024  # of one answer; a very long reply has 200 KB


class TooBig(Exception):
    """The other side sends more than anybody could use, or packs it so that nobody can tell."""


class RefusedAddress(Exception):
    """A name leads to an address that may not be connected."""


def resolved(host: str, port: int, *, flags: int = 0) -> list[str]:
    """Return the IP addresses of a host, without what scopes them. Raises OSError and UnicodeError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)
    return list(dict.fromkeys(str(address[0]).partition("%")[0] for *_rest, address in found))


class Wire:
    """One HTTP client whose answers end after `MAX_BYTES` or `seconds`, however slowly they trickle.

    A time-out of the HTTP library counts from the last byte, so a server that sends one byte a minute would hold a
    worker for ever; this one counts from the beginning. `resolve` says which addresses a name may lead to.
    """

    def __init__(self, *, timeout: float, seconds: float, resolve: "Resolve") -> None:
        from httpx2 import Client, Timeout

        from llm.pinned import PinnedTransport

        self._lock = threading.Lock()
        self._streams: list[Any] = []
        self._cut = False
        self.late = False
        self._timer = threading.Timer(seconds, self._too_late)
        self._timer.daemon = True
        # No redirects: an address that was checked must not lead to one that was not.
        self.client: httpx2.Client = Client(
            transport=PinnedTransport(resolve),
            trust_env=False,
            timeout=Timeout(timeout, connect=min(timeout, 10.0)),
            follow_redirects=False,
            headers={"Accept-Encoding": "identity"},  # what is counted is what comes out
            event_hooks={"request": [self._watch], "response": [self._bound]},
        )

    def __enter__(self) -> "Wire":
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self.client.close()

    def cut(self) -> None:
        """Shut the connection down; whoever reads from it gets an error at once. Safe from any thread."""
        with self._lock:
            self._cut = True
            streams, self._streams = self._streams, []
        for stream in streams:
            _shut(stream)

    def _too_late(self) -> None:
        self.late = True
        self.cut()

    def _watch(self, request: "httpx2.Request") -> None:
        request.extensions = {**request.extensions, "trace": self._traced}

    def _traced(self, name: str, info: dict[str, Any]) -> None:
        if not name.endswith((".connect_tcp.complete", ".start_tls.complete")):
            return
        with self._lock:
            self._streams.append(info["return_value"])
            cut = self._cut
        if cut:
            _shut(info["return_value"])

    def _bound(self, response: "httpx2.Response") -> None:
        from httpx2 import SyncByteStream

        inner: Any = response.stream
        if response.headers.get("content-encoding", "identity") != "identity":
            inner.close()
            raise TooBig

        class Bounded(SyncByteStream):
            def __iter__(self) -> Iterator[bytes]:
                size = 0
                for part in inner:
                    size += len(part)
                    if size > MAX_BYTES:
                        raise TooBig
                    yield part

            def close(self) -> None:
                inner.close()

        response.stream = Bounded()


def _shut(stream: Any) -> None:
    raw = stream.get_extra_info("socket")
    if raw is None:
        return
    with contextlib.suppress(OSError):  # it was closed already
        # The plain method: the one of a TLS socket also drops state that the reading thread still uses.
        socket.socket.shutdown(raw, socket.SHUT_RDWR)
