"""The sealed record, version 1: bytes in, bytes out. The only importer of `cryptography`; knows no database.

Layout: ``F1`` | algorithm u8 | dek_version u32 | nonce 12 | commitment 16 | AES-256-GCM(ciphertext + tag).
A record opens only with the key of its scope and only as the row that it was sealed for (F04).
"""

import hmac
import json
import os
import struct
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

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
_ID_LENGTH: Final = (16).to_bytes(4, "big")  # as `join` writes it
_FRONT: Final = struct.Struct(f">{HEADER.size}s{NONCE_BYTES}s{COMMITMENT_BYTES}s")
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


@dataclass(frozen=True, slots=True, repr=False)
class OpenedRows:
    """The plaintexts of many records, in the order given and without an object for each.

    `texts[i]` is [label, body] of the row `ids[i]`; `bad` counts the records that did not open and were left out.
    Prints as counts and is never pickled either.
    """

    ids: list[uuid.UUID]
    texts: list[list[str]]
    bad: int

    def __repr__(self) -> str:
        return f"<OpenedRows {len(self.ids)} opened, {self.bad} bad>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("opened records are never pickled")


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


def seal_text(key: bytes, text: bytes, associated: bytes) -> bytes:
    """Return nonce + AES-256-GCM(text) under a key that seals this text alone."""
    nonce = os.urandom(NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, text, associated)


def open_text(key: bytes, sealed: bytes, associated: bytes) -> bytes:
    """Return the text, or raise BadRecord: another key, another place, or changed bytes."""
    if len(sealed) < NONCE_BYTES + 16:
        raise BadRecord("truncated")
    try:
        return AESGCM(key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], associated)
    except InvalidTag:
        raise BadRecord("tampered") from None


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


def keyed_hash(key: bytes, *parts: bytes, lead: bytes = b"") -> bytes:
    """Return HMAC-SHA256 over the length-prefixed parts; 32 bytes. `lead` is the first of them, joined already."""
    return hmac.digest(key, lead + join(*parts), "sha256")


@dataclass(frozen=True, slots=True)
class ScopeCipher:
    """Seals and opens the records of one scope under one version of the organization's key.

    One HKDF gives the scope's key and its commitment, and one AESGCM serves all records: 200 facts cost little more
    than their bare decryption.
    """

    dek_version: int
    header: bytes
    commitment: bytes = field(repr=False)
    _aead: AESGCM = field(repr=False)
    # The associated data is join(magic, purpose, scope, row id, row type, version): only row id and type differ.
    _lead: bytes = field(repr=False)
    _tails: dict[str, bytes] = field(repr=False, default_factory=dict)  # by row type; made once for each

    @classmethod
    def derive(cls, dek: bytes, *, dek_version: int, purpose: str, scope: tuple[uuid.UUID, ...]) -> "ScopeCipher":
        identity = join(*(part.bytes for part in scope))
        info = join(MAGIC, purpose.encode(), identity)
        derived = HKDF(algorithm=SHA256(), length=KEY_BYTES + COMMITMENT_BYTES, salt=None, info=info).derive(dek)
        return cls(
            dek_version=dek_version,
            header=HEADER.pack(MAGIC, AES_256_GCM, dek_version),
            commitment=derived[KEY_BYTES:],
            _aead=AESGCM(derived[:KEY_BYTES]),
            _lead=info + _ID_LENGTH,
        )

    def _associated(self, row_id: uuid.UUID, row_type: str) -> bytes:
        return self._lead + row_id.bytes + (self._tails.get(row_type) or self._tail(row_type))

    def _tail(self, row_type: str) -> bytes:
        tail = self._tails[row_type] = join(row_type.encode(), self.dek_version.to_bytes(4, "big"))
        return tail

    def seal(self, row_id: uuid.UUID, row_type: str, label: str, body: str) -> bytes:
        """Return the record of one row; label and body must hold no lone surrogate (UnicodeEncodeError)."""
        plain = json.dumps([label, body], ensure_ascii=False, separators=(",", ":")).encode()
        plain += b" " * (-len(plain) % PAD_BYTES)  # JSON ignores trailing space
        nonce = os.urandom(NONCE_BYTES)
        sealed = self._aead.encrypt(nonce, plain, self._associated(row_id, row_type))
        return self.header + nonce + self.commitment + sealed

    def open(self, row_id: uuid.UUID, row_type: str, record: bytes) -> Opened:
        """Return the plaintext, or raise BadRecord."""
        if len(record) < SHORTEST:
            raise BadRecord("truncated")
        if record[:_NONCE_AT] != self.header:
            raise BadRecord("unknown_format")
        if not hmac.compare_digest(record[_COMMITMENT_AT:_SEALED_AT], self.commitment):
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


def open_all(rows: Sequence[tuple[uuid.UUID, str, bytes]], cipher_for: Callable[[int], ScopeCipher]) -> OpenedRows:
    """Open the records of many rows, (id, type, record) each, with all the checks of `ScopeCipher.open`; skip bad ones.

    `cipher_for` gives the scope's cipher of a key version or raises BadRecord; it is asked whenever the version
    changes from one record to the next. At a microsecond a record every look-up counts: hence the local names.
    """
    plains: list[bytes] = []
    bad: set[uuid.UUID] = set()
    cipher: Any = None
    header = commitment = lead = b""
    tails: dict[str, bytes] = {}
    decrypt: Any = None
    split, same, keep, start = _FRONT.unpack_from, hmac.compare_digest, plains.append, _SEALED_AT
    for row_id, row_type, record in rows:
        try:
            front, nonce, committed = split(record)
            if front != header:
                cipher = cipher_for(record_version(record))
                header, commitment, lead, tails = cipher.header, cipher.commitment, cipher._lead, cipher._tails
                decrypt = cipher._aead.decrypt
            if not same(committed, commitment):
                raise BadRecord("wrong_key")
            tail = tails.get(row_type) or cipher._tail(row_type)
            keep(decrypt(nonce, record[start:], lead + row_id.bytes + tail))
        except (BadRecord, InvalidTag, struct.error):
            bad.add(row_id)
    ids = [row[0] for row in rows if not bad or row[0] not in bad]
    # One call parses all the plaintexts; one call each would cost twice as much as their decryption.
    return OpenedRows(ids, json.loads(b"[%b]" % b",".join(plains)), len(bad))
