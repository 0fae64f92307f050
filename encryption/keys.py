"""The key ring: key-encryption keys from a 0600 file or the environment. Never from SECRET_KEY; imports no Django."""

import base64
import hashlib
import hmac
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from encryption import envelope

MAX_KEY_ID: Final = 64  # characters; the column of the wrapped keys


class KeyringError(Exception):
    """The keyring cannot be used; `code` is missing, unreadable, exposed, malformed, or check_failed."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class KmsError(Exception):
    """A key management service gave no key: `code` is kms_unreachable, kms_untrusted, kms_denied, kms_unavailable,
    kms_token or kms_answer. Says nothing about the key itself; the same call may succeed later.
    """

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class KeySource(Protocol):
    """Wraps and unwraps organization keys: a keyring, or a key management service."""

    @property
    def primary_id(self) -> str: ...

    def holds(self, kek_id: str) -> bool:
        """Whether this source is the one to ask for a key-encryption key; asks nobody."""
        ...

    def wrap(self, key: bytes, associated: bytes) -> bytes:
        """Return `key` wrapped under the primary key. Raises KmsError."""
        ...

    def unwrap(self, kek_id: str, wrapped: bytes, associated: bytes) -> bytes:
        """Return the key. Raises KeyError for an unknown id, envelope.BadRecord for a wrong key, and KmsError."""
        ...


@dataclass(frozen=True, slots=True)
class Keyring:
    """Several key-encryption keys by id, one of them primary."""

    primary_id: str
    keys: Mapping[str, bytes] = field(repr=False)

    def holds(self, kek_id: str) -> bool:
        return kek_id in self.keys

    def wrap(self, key: bytes, associated: bytes) -> bytes:
        return envelope.wrap_key(self.keys[self.primary_id], key, associated)

    def unwrap(self, kek_id: str, wrapped: bytes, associated: bytes) -> bytes:
        return envelope.unwrap_key(self.keys[kek_id], wrapped, associated)


@dataclass(frozen=True, slots=True)
class Chain:
    """Wraps with the first source and unwraps with the one that holds the key: how a deployment moves between them."""

    sources: tuple[KeySource, ...]

    @property
    def primary_id(self) -> str:
        return self.sources[0].primary_id

    def holds(self, kek_id: str) -> bool:
        return any(source.holds(kek_id) for source in self.sources)

    def wrap(self, key: bytes, associated: bytes) -> bytes:
        return self.sources[0].wrap(key, associated)

    def unwrap(self, kek_id: str, wrapped: bytes, associated: bytes) -> bytes:
        for source in self.sources:
            if source.holds(kek_id):
                return source.unwrap(kek_id, wrapped, associated)
        raise KeyError(kek_id)


def check_value(key: bytes) -> str:
    """Return 8 hex digits that tell a mistyped key from the right one and nothing about the key."""
    return hmac.digest(key, b"memoryproject key check", hashlib.sha256).hex()[:8]


def _entry(key: bytes) -> dict[str, str]:
    return {"key": base64.b64encode(key).decode(), "check": check_value(key)}


def keyring_json(ring: Keyring) -> str:
    """Return the JSON text that `parse_keyring` reads. It is the secret itself: for the keyring file only."""
    keys = {key_id: _entry(key) for key_id, key in ring.keys.items()}
    return json.dumps({"primary": ring.primary_id, "keys": keys}, indent=2) + "\n"


def new_keyring_json() -> str:
    """Return a keyring with one new random key, as JSON text."""
    key_id, key = new_kek()
    return keyring_json(Keyring(key_id, {key_id: key}))


def new_kek() -> tuple[str, bytes]:
    """Return a new random key and the id by which the keyring knows it."""
    key = envelope.new_key()
    return f"kek-{check_value(key)}", key


def parse_keyring(text: str) -> Keyring:
    """Read `{"primary": ID, "keys": {ID: {"key": BASE64, "check": HEX}}}`. Raises KeyringError."""
    try:
        raw = json.loads(text)
        primary = raw["primary"]
        keys = {key_id: base64.b64decode(entry["key"], validate=True) for key_id, entry in raw["keys"].items()}
        checks = {key_id: entry["check"] for key_id, entry in raw["keys"].items()}
        known = primary in keys
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise KeyringError(
            "malformed", 'The keyring is not of the form {"primary": ID, "keys": {ID: {"key": …, "check": …}}}.'
        ) from None
    if not known:
        raise KeyringError("malformed", "The keyring's primary key is not among its keys.")
    for key_id, key in keys.items():
        if not 0 < len(key_id) <= MAX_KEY_ID:
            raise KeyringError("malformed", f"A key id of the keyring does not have 1 to {MAX_KEY_ID} characters.")
        if len(key) != envelope.KEY_BYTES:
            raise KeyringError("malformed", f"Key {key_id} of the keyring does not have 32 bytes.")
        if checks[key_id] != check_value(key):
            raise KeyringError("check_failed", f"Key {key_id} of the keyring does not match its check value.")
    return Keyring(primary, keys)


def load_keyring(*, json_text: str, file: Path | None) -> Keyring:
    """Load the keyring from the environment's JSON text, else from the file. Raises KeyringError."""
    if json_text:
        return parse_keyring(json_text)
    if file is None:
        raise KeyringError("missing", "No keyring is set. Set MEMORYPROJECT_KEYRING_FILE or MEMORYPROJECT_KEYRING.")
    try:
        with file.open() as opened:  # mode and text of one file, though another may be renamed over it meanwhile
            mode = os.fstat(opened.fileno()).st_mode
            text = opened.read()
    except FileNotFoundError:
        raise KeyringError(
            "missing", f"The keyring {file} is missing. Put it back from its backup; a new one opens nothing."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise KeyringError("unreadable", f"The keyring {file} cannot be read ({type(error).__name__}).") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise KeyringError("exposed", f"The keyring {file} can be read by others. Run: chmod 600 {file}")
    return parse_keyring(text)
