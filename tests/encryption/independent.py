"""A second implementation of the record format and the key wrapping, from their description; imports none of ours.

Record, version 1, all numbers big-endian::

    "F1" | algorithm u8 = 1 | dek_version u32 | nonce 12 | commitment 16 | AES-256-GCM ciphertext | tag 16

``list(parts)`` puts a u32 length before each part. ``scope`` is the list of the scope's ids, 16 bytes each.

* HKDF-SHA256 of the data key, empty salt, info ``list("F1", purpose, scope)``, 48 bytes: scope key 32 | commitment 16.
* Associated data: ``list("F1", purpose, scope, row id, row type, dek_version u32)``.
* Plaintext: JSON ``[label, body]`` in UTF-8, no spaces between, padded with spaces to a multiple of 64 bytes.

A wrapped key is ``nonce 12 | ciphertext 32 | tag 16`` under the key-encryption key, with the associated data
``list(organization id, purpose, version u32, kek id)``. A keyed hash is HMAC-SHA256 over
``list(purpose, id of each part of the scope, parts…)``.
"""

import hashlib
import hmac
import json
import uuid

from Crypto.Cipher import AES

Scope = tuple[uuid.UUID, ...]


class Refused(Exception):
    """A record or a wrapped key does not open; the text is the code."""


def u32(number: int) -> bytes:
    return number.to_bytes(4, "big")


def listed(*parts: bytes) -> bytes:
    out = b""
    for part in parts:
        out += u32(len(part)) + part
    return out


def hkdf(key: bytes, info: bytes, length: int) -> bytes:
    """RFC 5869 with SHA-256 and an empty salt."""
    extracted = hmac.new(b"\x00" * 32, key, hashlib.sha256).digest()
    out = block = b""
    counter = 1
    while len(out) < length:
        block = hmac.new(extracted, block + info + bytes([counter]), hashlib.sha256).digest()
        out += block
        counter += 1
    return out[:length]


def scope_bytes(scope: Scope) -> bytes:
    return listed(*(part.bytes for part in scope))


def derived(dek: bytes, purpose: str, scope: Scope) -> tuple[bytes, bytes]:
    out = hkdf(dek, listed(b"F1", purpose.encode(), scope_bytes(scope)), 48)
    return out[:32], out[32:]


def associated(purpose: str, scope: Scope, row_id: uuid.UUID, row_type: str, dek_version: int) -> bytes:
    parts = (b"F1", purpose.encode(), scope_bytes(scope), row_id.bytes, row_type.encode(), u32(dek_version))
    return listed(*parts)


def seal(
    dek: bytes,
    *,
    dek_version: int,
    purpose: str,
    scope: Scope,
    row_id: uuid.UUID,
    row_type: str,
    label: str,
    body: str,
    nonce: bytes,
) -> bytes:
    key, commitment = derived(dek, purpose, scope)
    plain = json.dumps([label, body], ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    plain += b" " * ((64 - len(plain) % 64) % 64)
    gcm = AES.new(key, AES.MODE_GCM, nonce=nonce)
    gcm.update(associated(purpose, scope, row_id, row_type, dek_version))
    ciphertext, tag = gcm.encrypt_and_digest(plain)
    return b"F1\x01" + u32(dek_version) + nonce + commitment + ciphertext + tag


def open_record(
    dek: bytes, record: bytes, *, dek_version: int, purpose: str, scope: Scope, row_id: uuid.UUID, row_type: str
) -> tuple[str, str]:
    if len(record) < 2 + 1 + 4 + 12 + 16 + 16:
        raise Refused("truncated")
    if record[:2] != b"F1" or record[2] != 1 or record[3:7] != u32(dek_version):
        raise Refused("unknown_format")
    key, commitment = derived(dek, purpose, scope)
    if record[19:35] != commitment:
        raise Refused("wrong_key")
    gcm = AES.new(key, AES.MODE_GCM, nonce=record[7:19])
    gcm.update(associated(purpose, scope, row_id, row_type, dek_version))
    try:
        plain = gcm.decrypt_and_verify(record[35:-16], record[-16:])
    except ValueError:
        raise Refused("tampered") from None
    label, body = json.loads(plain)
    return label, body


def place(organization_id: uuid.UUID, purpose: str, version: int, kek_id: str) -> bytes:
    return listed(organization_id.bytes, purpose.encode(), u32(version), kek_id.encode())


def wrap(kek: bytes, key: bytes, where: bytes, nonce: bytes) -> bytes:
    gcm = AES.new(kek, AES.MODE_GCM, nonce=nonce)
    gcm.update(where)
    ciphertext, tag = gcm.encrypt_and_digest(key)
    return nonce + ciphertext + tag


def unwrap(kek: bytes, wrapped: bytes, where: bytes) -> bytes:
    if len(wrapped) != 60:
        raise Refused("truncated")
    gcm = AES.new(kek, AES.MODE_GCM, nonce=wrapped[:12])
    gcm.update(where)
    try:
        return gcm.decrypt_and_verify(wrapped[12:44], wrapped[44:])
    except ValueError:
        raise Refused("wrong_key") from None


def keyed_hash(key: bytes, purpose: str, scope: Scope, *parts: bytes) -> bytes:
    return hmac.new(key, listed(purpose.encode(), *(part.bytes for part in scope), *parts), hashlib.sha256).digest()
