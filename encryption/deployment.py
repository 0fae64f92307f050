"""Secrets of the deployment: sealed for one place and opened only there. Knows neither places nor what they are for."""

import time
from collections.abc import Sequence
from typing import Final

from encryption.envelope import BadRecord, join, new_key, open_text, seal_text
from encryption.kept import UNWRAPPED
from encryption.keys import KeyringError, KeySource, KmsError
from encryption.models import Secret
from encryption.services import KEEP_SECONDS
from encryption.sources import load_source

FORMAT: Final = b"S1"


class SecretUnavailable(Exception):
    """A secret cannot be sealed or opened: `code` is keyring_*, kms_*, unknown_kek, wrong_kek, moved, or tampered."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def seal_secret(text: str, *, sealed_for: Sequence[str]) -> Secret:
    """Return an unsaved row that only `open_secret` with the same place opens (C05). Raises SecretUnavailable.

    Not in a transaction: a key service may take its time.
    """
    key = new_key()
    row = Secret(sealed_for=list(sealed_for), sealed=seal_text(key, text.encode(), _place(sealed_for)))
    row.kek_id, row.wrapped = wrap_secret_key(_source(), key, row)
    return row


def open_secret(row: Secret, *, sealed_for: Sequence[str]) -> str:
    """Return the text when the row was sealed for this place. Raises SecretUnavailable.

    The unwrapped key is kept for a minute, as those of organizations are, so that a key service is not asked each time.
    """
    if row.sealed_for != list(sealed_for):
        raise SecretUnavailable("moved")
    wrapped, now = bytes(row.wrapped), time.monotonic()
    kept_wrapped, key = UNWRAPPED.get(row.pk, now) or (b"", b"")
    if kept_wrapped != wrapped:
        key = unwrap_secret_key(_source(), row)
        UNWRAPPED.put(row.pk, (wrapped, key), until=now + KEEP_SECONDS)
    return _open(key, row)


def check_secret(source: KeySource, row: Secret) -> None:
    """Raise SecretUnavailable when a row does not open in the place that it names; the text goes nowhere."""
    _open(unwrap_secret_key(source, row), row)


def unwrap_secret_key(source: KeySource, row: Secret) -> bytes:
    """Return the key under which a secret is sealed. Raises SecretUnavailable."""
    try:
        return source.unwrap(row.kek_id, bytes(row.wrapped), _key_place(row, row.kek_id))
    except KeyError:
        code = "unknown_kek"
    except BadRecord:
        code = "wrong_kek"
    except KmsError as error:
        code = error.code
    raise SecretUnavailable(code)


def wrap_secret_key(source: KeySource, key: bytes, row: Secret) -> tuple[str, bytes]:
    """Return the id of the primary key and `key` wrapped under it for this row. Raises SecretUnavailable."""
    kek_id = source.primary_id
    try:
        return kek_id, source.wrap(key, _key_place(row, kek_id))
    except KmsError as error:
        raise SecretUnavailable(error.code) from None


def _open(key: bytes, row: Secret) -> str:
    try:
        return open_text(key, bytes(row.sealed), _place(row.sealed_for)).decode()
    except BadRecord:
        raise SecretUnavailable("tampered") from None


def _source() -> KeySource:
    try:
        return load_source()
    except KeyringError as error:
        raise SecretUnavailable(f"keyring_{error.code}") from None


def _place(sealed_for: Sequence[str]) -> bytes:
    return join(FORMAT, *(str(part).encode() for part in sealed_for))


def _key_place(row: Secret, kek_id: str) -> bytes:
    # Five parts, where an organization's key has four: neither can be taken for the other.
    return join(FORMAT, b"secret", row.pk.bytes, _place(row.sealed_for), kek_id.encode())
