"""Keyed digests of transcript prefixes, so that a resent history finds its session (C02)."""

import hashlib
import hmac
import unicodedata
import uuid
from collections.abc import Iterable

from django.conf import settings

# The transcript itself is readable in the same database, so its digest needs no key of the organization: this one only
# keeps a digest from telling anything to who holds the digest column alone, and works without a keyring.
_PURPOSE = b"memoryproject transcript digest 1"


def _key() -> bytes:
    return hmac.digest(settings.SECRET_KEY.encode(), _PURPOSE, hashlib.sha256)


def start(*, organization_id: uuid.UUID, agent_id: uuid.UUID, api_key_id: uuid.UUID | None, end_user_id: str) -> bytes:
    """Return the digest of an empty transcript; only the same key, agent and end user continue it."""
    parts = (organization_id.bytes, agent_id.bytes, api_key_id.bytes if api_key_id else b"", end_user_id.encode())
    return hmac.digest(_key(), b"".join(len(part).to_bytes(4, "big") + part for part in parts), hashlib.sha256)


def extend(digest: bytes, messages: Iterable[tuple[str, str]]) -> bytes:
    """Return the digest of the transcript after these (role, content) messages. System messages do not count."""
    key = _key()
    for role, content in messages:
        if role != "system":
            text = unicodedata.normalize("NFC", content.replace("\r\n", "\n").replace("\r", "\n")).strip()
            digest = hmac.digest(key, digest + role.encode() + b"\x00" + text.encode(), hashlib.sha256)
    return digest
