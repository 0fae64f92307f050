"""Wraps organization keys in HashiCorp Vault's Transit engine over HTTP; never sees a fact. Imports no Django.

The key-encryption key stays in Vault: this module sends a 32-byte key to be wrapped, or a wrapped one to be opened,
with the same associated data as the keyring. Keys are kept by the caller, so Vault is asked on a miss only.
"""

import base64
import binascii
import http.client
import io
import json
import re
import socket
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from encryption.envelope import KEY_BYTES, BadRecord
from encryption.keys import KeyringError, KmsError

PREFIX: Final = "vault:"
TIMEOUT: Final = 3.0  # seconds for each wait on the socket: a chat turn is waiting
DEADLINE: Final = 5.0  # seconds for a whole call, however its answer trickles in
LARGEST_ANSWER: Final = 65_536  # bytes; a wrapped key has about a hundred
NAME: Final = re.compile(r"\w[\w.-]{0,57}", re.ASCII)  # no dot segment; with its prefix it fits the kek_id column
MOUNT: Final = re.compile(r"\w[\w.-]*(/\w[\w.-]*)*", re.ASCII)
LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True)
class VaultTransit:
    """One key of one Transit mount, of the type aes256-gcm96. `check()` what an operator set before it is used."""

    address: str
    key_name: str
    token: str = field(default="", repr=False)
    token_file: Path | None = None
    mount: str = "transit"
    namespace: str = ""
    ca_file: Path | None = None
    timeout: float = TIMEOUT
    deadline: float = DEADLINE

    def check(self) -> None:
        """Raise KeyringError, code `malformed`, when a setting cannot be right; asks nobody."""
        wrong = ""
        try:
            parts, port = urlsplit(self.address), urlsplit(self.address).port
        except ValueError:  # brackets that do not close, a port that is none
            parts, port = urlsplit("https://"), 0
        host = parts.hostname or ""
        if parts.scheme != "https" and not (parts.scheme == "http" and host in LOOPBACK):
            wrong = "MEMORYPROJECT_VAULT_ADDRESS must be an https address (http on loopback only)."
        elif not host or not host.isascii() or port == 0 or parts.path.strip("/") or parts.query or parts.username:
            wrong = "MEMORYPROJECT_VAULT_ADDRESS must be scheme, host and port alone."
        elif not NAME.fullmatch(self.key_name):
            wrong = "MEMORYPROJECT_VAULT_KEY must be the name of a Transit key, at most 58 letters, digits, _ . or -."
        elif not MOUNT.fullmatch(self.mount):
            wrong = "MEMORYPROJECT_VAULT_MOUNT is no path of a mount."
        elif not self.token and self.token_file is None:
            wrong = "Set MEMORYPROJECT_VAULT_TOKEN_FILE or MEMORYPROJECT_VAULT_TOKEN."
        elif not _fits_a_header(self.token) or not _fits_a_header(self.namespace):
            wrong = "MEMORYPROJECT_VAULT_TOKEN and MEMORYPROJECT_VAULT_NAMESPACE are one line of ASCII characters."
        if wrong:
            raise KeyringError("malformed", wrong)

    @property
    def primary_id(self) -> str:
        return PREFIX + self.key_name

    def holds(self, kek_id: str) -> bool:
        return kek_id.startswith(PREFIX)

    def wrap(self, key: bytes, associated: bytes) -> bytes:
        """Return Vault's ciphertext (`vault:v1:…`, ASCII). Raises KmsError."""
        try:
            data = self._ask("encrypt", self.key_name, plaintext=_encode(key), associated_data=_encode(associated))
            return str(data["ciphertext"]).encode("ascii")
        except (BadRecord, KeyError, UnicodeEncodeError):
            raise KmsError("kms_answer") from None

    def unwrap(self, kek_id: str, wrapped: bytes, associated: bytes) -> bytes:
        """Return the key. Raises KeyError for an id of another source, BadRecord when Vault refuses it, KmsError."""
        name = kek_id.removeprefix(PREFIX)
        if name == kek_id or not NAME.fullmatch(name):
            raise KeyError(kek_id)
        try:
            ciphertext = wrapped.decode("ascii")
        except UnicodeDecodeError:
            raise BadRecord("wrong_key") from None
        data = self._ask("decrypt", name, ciphertext=ciphertext, associated_data=_encode(associated))
        try:
            key = base64.b64decode(data["plaintext"], validate=True)
        except (KeyError, TypeError, ValueError, binascii.Error):
            raise KmsError("kms_answer") from None
        if len(key) != KEY_BYTES:
            raise BadRecord("wrong_key")
        return key

    def _ask(self, verb: str, name: str, **body: str) -> dict[str, Any]:
        headers = {"X-Vault-Token": self._current_token(), "X-Vault-Request": "true"}
        headers |= {"Content-Type": "application/json"}
        if self.namespace:
            headers["X-Vault-Namespace"] = self.namespace
        connection = self._connection()
        try:
            connection.request("POST", f"/v1/{self.mount}/{verb}/{name}", json.dumps(body), headers)
            answer = connection.getresponse()
            status, text = answer.status, answer.read(LARGEST_ANSWER + 1)
        except ssl.SSLError:
            raise KmsError("kms_untrusted") from None
        except (OSError, http.client.HTTPException, ValueError):  # ValueError: a name or header that cannot be sent
            raise KmsError("kms_unreachable") from None
        finally:
            connection.close()
        if status != 200:
            raise _refusal(status)
        try:
            data = json.loads(text)["data"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise KmsError("kms_answer") from None
        if len(text) > LARGEST_ANSWER or not isinstance(data, dict):
            raise KmsError("kms_answer")
        return data

    def _connection(self) -> "_Connection":
        try:
            parts = urlsplit(self.address)
            host, port = parts.hostname or "", parts.port or 8200
        except ValueError:
            raise KmsError("kms_unreachable") from None
        context = None
        if parts.scheme != "http":
            try:
                context = ssl.create_default_context(cafile=str(self.ca_file) if self.ca_file else None)
            except OSError:  # no such file, or no certificate in it
                raise KmsError("kms_untrusted") from None
        return _Connection(host, port, context=context, wait=self.timeout, until=time.monotonic() + self.deadline)

    def _current_token(self) -> str:
        """Return the token; a file is read each time, because an agent beside us renews it."""
        token = self.token
        if self.token_file is not None:
            try:
                token = self.token_file.read_text().strip()
            except (OSError, UnicodeDecodeError):
                raise KmsError("kms_token") from None
        if not token or not _fits_a_header(token):
            raise KmsError("kms_token")
        return token


class _Connection(http.client.HTTPConnection):
    """A connection all of whose waits, from the first packet to the last byte of the answer, end at one instant."""

    def __init__(self, host: str, port: int, *, context: ssl.SSLContext | None, wait: float, until: float) -> None:
        super().__init__(host, port)
        self._context, self._wait, self._until = context, wait, until

    def connect(self) -> None:
        refused: OSError = ConnectionError()
        for family, kind, protocol, _name, address in socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM):
            sock = socket.socket(family, kind, protocol)
            try:
                self.timed(sock).connect(address)
                if self._context is not None:
                    sock = self._context.wrap_socket(self.timed(sock), server_hostname=self.host)
            except ssl.SSLError:  # somebody else's certificate: another address of the same name is no better
                sock.close()
                raise
            except OSError as error:
                sock.close()
                refused = error
            else:
                self.sock = _Timed(sock, self.timed)
                return
        raise refused

    def timed(self, sock: socket.socket) -> socket.socket:
        """Return the socket with what is left of the time for its next wait. Raises TimeoutError when none is."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        sock.settimeout(min(left, self._wait))
        return sock


class _Timed:
    """What `http.client` uses of a socket, each wait through `timed`."""

    def __init__(self, sock: socket.socket, timed: Callable[[socket.socket], socket.socket]) -> None:
        self._sock, self._timed = sock, timed

    def sendall(self, data: bytes) -> None:
        self._timed(self._sock).sendall(data)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Answer(self._sock, self._timed))

    def close(self) -> None:
        self._sock.close()


class _Answer(io.RawIOBase):
    """The bytes of the answer, in pieces as they arrive."""

    def __init__(self, sock: socket.socket, timed: Callable[[socket.socket], socket.socket]) -> None:
        super().__init__()
        self._sock, self._timed = sock, timed
        self._raw = sock.makefile("rb", buffering=0)  # keeps the socket open when the connection lets go of it

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._timed(self._sock)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


def _fits_a_header(text: str) -> bool:
    return text.isascii() and (text.isprintable() or not text)


def _encode(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _refusal(status: int) -> Exception:
    """Vault answers 400 to a ciphertext that does not open, and 403 to a token that may not."""
    if status == 400:
        return BadRecord("wrong_key")
    if status in {401, 403, 404}:
        return KmsError("kms_denied")
    return KmsError("kms_unavailable")
