"""The sealed record, version 1: bytes in, bytes out. The only importer of `cryptography`; knows no database.

Layout: ``F1`` | algorithm u8 | dek_version u32 | nonce 12 | commitment 16 | AES-256-GCM(ciphertext + tag).
A record opens only with the key of its scope and only as the row that it was sealed for (F04).
"""

import hashlib
import hmac
import json
import os
import struct
import uuid
from dataclasses import dataclass, field
from typing import Final, NoReturn

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

MAGIC: Final = b"F1"
AES_256_GCM: Final = 1
HEADER: Final = struct.Struct(">2sBI")
NONCE_BYTES: Final = 12
COMMITMENT_BYTES: Final = 16
KEY_BYTES: Final = 32
PAD_BYTES: Final = 64  # hides the exact length of short facts
_NONCE_AT = HEADER.size
_COMMITMENT_AT = _NONCE_AT + NONCE_BYTES
_SEALED_AT = _COMMITMENT_AT + COMMITMENT_BYTES
SHORTEST: Final = _SEALED_AT + 16
SCRYPT_COST: Final = 2**17  # with r = 8: 128 MiB and about half a second for each guess at a passphrase
SALT_BYTES: Final = 16


class BadRecord(Exception):
    """A record does not open: `code` is truncated, unknown_format, wrong_key, or tampered. Carries no content."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True, repr=False)
class Opened:
    """The plaintext of one record. Prints as id and length, and refuses to be pickled into a queue or a cache."""

    row_id: uuid.UUID
    label: str
    body: str

    def __repr__(self) -> str:
        return f"<Opened {self.row_id} {len(self.body)} characters>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("an opened record is never pickled")


def join(*parts: bytes) -> bytes:
    """Return the length-prefixed list of parts: no two different lists give the same bytes."""
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def new_key() -> bytes:
    return os.urandom(KEY_BYTES)


def wrap_key(kek: bytes, key: bytes, associated: bytes) -> bytes:
    """Return nonce + AES-256-GCM(key) under a key-encryption key."""
    nonce = os.urandom(NONCE_BYTES)
    return nonce + AESGCM(kek).encrypt(nonce, key, associated)


def unwrap_key(kek: bytes, wrapped: bytes, associated: bytes) -> bytes:
    """Return the key, or raise BadRecord when the KEK is another one or the bytes were changed."""
    if len(wrapped) != NONCE_BYTES + KEY_BYTES + 16:
        raise BadRecord("truncated")
    try:
        return AESGCM(kek).decrypt(wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:], associated)
    except InvalidTag:
        raise BadRecord("wrong_key") from None


def _passphrase_key(passphrase: str, salt: bytes) -> bytes:
    return Scrypt(salt=salt, length=KEY_BYTES, n=SCRYPT_COST, r=8, p=1).derive(passphrase.encode())


def seal_with_passphrase(passphrase: str, text: bytes, associated: bytes) -> tuple[bytes, bytes]:
    """Return (salt, nonce + AES-256-GCM(text)) under the scrypt key of a passphrase."""
    salt = os.urandom(SALT_BYTES)
    nonce = os.urandom(NONCE_BYTES)
    aead = AESGCM(_passphrase_key(passphrase, salt))
    return salt, nonce + aead.encrypt(nonce, text, associated)


def open_with_passphrase(passphrase: str, salt: bytes, sealed: bytes, associated: bytes) -> bytes:
    """Return the text, or raise BadRecord: another passphrase, or changed bytes (which of the two, nobody can tell)."""
    if len(salt) != SALT_BYTES or len(sealed) < NONCE_BYTES + 16:
        raise BadRecord("truncated")
    try:
        aead = AESGCM(_passphrase_key(passphrase, salt))
        return aead.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], associated)
    except InvalidTag:
        raise BadRecord("wrong_key") from None


def keyed_hash(key: bytes, *parts: bytes) -> bytes:
    """Return HMAC-SHA256 over the length-prefixed parts; 32 bytes."""
    return hmac.digest(key, join(*parts), hashlib.sha256)


@dataclass(frozen=True, slots=True)
class ScopeCipher:
    """Seals and opens the records of one scope under one version of the organization's key.

    One HKDF gives the scope's key and its commitment, and one AESGCM serves all records: 200 facts cost little more
    than their bare decryption.
    """

    purpose: bytes
    scope: bytes
    dek_version: int
    _aead: AESGCM = field(repr=False)
    _commitment: bytes = field(repr=False)

    @classmethod
    def derive(cls, dek: bytes, *, dek_version: int, purpose: str, scope: tuple[uuid.UUID, ...]) -> "ScopeCipher":
        identity = join(*(part.bytes for part in scope))
        info = join(MAGIC, purpose.encode(), identity)
        derived = HKDF(algorithm=SHA256(), length=KEY_BYTES + COMMITMENT_BYTES, salt=None, info=info).derive(dek)
        return cls(purpose.encode(), identity, dek_version, AESGCM(derived[:KEY_BYTES]), derived[KEY_BYTES:])

    def _associated(self, row_id: uuid.UUID, row_type: str) -> bytes:
        version = self.dek_version.to_bytes(4, "big")
        return join(MAGIC, self.purpose, self.scope, row_id.bytes, row_type.encode(), version)

    def seal(self, row_id: uuid.UUID, row_type: str, label: str, body: str) -> bytes:
        """Return the record of one row; label and body must hold no lone surrogate (UnicodeEncodeError)."""
        plain = json.dumps([label, body], ensure_ascii=False, separators=(",", ":")).encode()
        plain += b" " * (-len(plain) % PAD_BYTES)  # JSON ignores trailing space
        nonce = os.urandom(NONCE_BYTES)
        sealed = self._aead.encrypt(nonce, plain, self._associated(row_id, row_type))
        return HEADER.pack(MAGIC, AES_256_GCM, self.dek_version) + nonce + self._commitment + sealed

    def open(self, row_id: uuid.UUID, row_type: str, record: bytes) -> Opened:
        """Return the plaintext, or raise BadRecord."""
        if len(record) < SHORTEST:
            raise BadRecord("truncated")
        if HEADER.unpack_from(record) != (MAGIC, AES_256_GCM, self.dek_version):
            raise BadRecord("unknown_format")
        if not hmac.compare_digest(record[_COMMITMENT_AT:_SEALED_AT], self._commitment):
            raise BadRecord("wrong_key")
        try:
            plain = self._aead.decrypt(
                record[_NONCE_AT:_COMMITMENT_AT], record[_SEALED_AT:], self._associated(row_id, row_type)
            )
        except InvalidTag:
            raise BadRecord("tampered") from None
        label, body = json.loads(plain)
        return Opened(row_id, label, body)


def record_version(record: bytes) -> int:
    """Return the dek_version that a record names, or raise BadRecord."""
    if len(record) < SHORTEST:
        raise BadRecord("truncated")
    magic, algorithm, version = HEADER.unpack_from(record)
    if (magic, algorithm) != (MAGIC, AES_256_GCM):
        raise BadRecord("unknown_format")
    return int(version)
