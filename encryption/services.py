"""The keys of an organization: made at the first seal, unwrapped for use, kept in the process for at most a minute."""

import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

import structlog
from django.conf import settings
from django.db import transaction

from accounts.models import Organization
from encryption.envelope import (
    BadRecord,
    Opened,
    OpenedRows,
    ScopeCipher,
    join,
    keyed_hash,
    new_key,
    open_all,
    record_version,
)
from encryption.keys import KeyringError, KeySource, load_keyring
from encryption.models import OrganizationKey

log = structlog.get_logger(__name__)
KEEP_SECONDS: Final = 60  # a turn pays no extra round trip; a destroyed key is gone within a minute elsewhere


class KeyUnavailable(Exception):
    """The organization's keys cannot be used: no keyring, a wrong one, or destroyed keys. Carries ids and a code."""

    def __init__(self, code: str, organization_id: uuid.UUID, kek_id: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.organization_id = organization_id
        self.kek_id = kek_id


@dataclass(frozen=True, slots=True)
class OrganizationKeys:
    """The unwrapped keys of one organization."""

    active_version: int
    deks: Mapping[int, bytes] = field(repr=False)
    hash_key: bytes = field(repr=False)

    def keyed_hash(self, *parts: bytes) -> bytes:
        return keyed_hash(self.hash_key, *parts)


class ScopeKeys:
    """Seals under the active key and opens records of every version, for one scope and one operation."""

    def __init__(self, keys: OrganizationKeys, *, purpose: str, scope: tuple[uuid.UUID, ...]) -> None:
        self._keys = keys
        self._purpose = purpose
        self._scope = scope
        self._ciphers: dict[int, ScopeCipher] = {}

    @property
    def active_version(self) -> int:
        return self._keys.active_version

    def _cipher(self, version: int) -> ScopeCipher:
        cipher = self._ciphers.get(version)
        if cipher is None:
            dek = self._keys.deks.get(version)
            if dek is None:
                raise BadRecord("wrong_key")
            cipher = ScopeCipher.derive(dek, dek_version=version, purpose=self._purpose, scope=self._scope)
            self._ciphers[version] = cipher
        return cipher

    def seal(self, row_id: uuid.UUID, row_type: str, label: str, body: str) -> bytes:
        return self._cipher(self.active_version).seal(row_id, row_type, label, body)

    def open(self, row_id: uuid.UUID, row_type: str, record: bytes) -> Opened:
        return self._cipher(record_version(record)).open(row_id, row_type, record)

    def open_all(self, rows: Sequence[tuple[uuid.UUID, str, bytes]]) -> OpenedRows:
        """Open a whole scope, (row id, row type, record) each; bad records are left out and counted (P05, P06)."""
        return open_all(rows, self._cipher)

    def keyed_hash(self, *parts: bytes) -> bytes:
        """Return a hash that matches within this scope only."""
        return self._keys.keyed_hash(self._purpose.encode(), *(part.bytes for part in self._scope), *parts)


_kept: dict[uuid.UUID, tuple[float, OrganizationKeys]] = {}
_kept_lock = Lock()


def forget_keys(organization_id: uuid.UUID | None = None) -> None:
    """Drop unwrapped keys from this process: of one organization, or all."""
    with _kept_lock:
        if organization_id is None:
            _kept.clear()
        else:
            _kept.pop(organization_id, None)


def key_source(organization_id: uuid.UUID) -> KeySource:
    """Return the deployment's keyring, or raise KeyUnavailable."""
    try:
        return load_keyring(json_text=settings.KEYRING_JSON, file=settings.KEYRING_FILE)
    except KeyringError as error:
        raise KeyUnavailable(f"keyring_{error.code}", organization_id) from None


def _associated(organization_id: uuid.UUID, purpose: str, version: int, kek_id: str) -> bytes:
    return join(organization_id.bytes, purpose.encode(), version.to_bytes(4, "big"), kek_id.encode())


def _unwrap(organization_id: uuid.UUID, rows: list[OrganizationKey]) -> OrganizationKeys | None:
    source = key_source(organization_id)
    deks: dict[int, bytes] = {}
    active = hash_key = None
    for row in rows:
        associated = _associated(organization_id, row.purpose, row.version, row.kek_id)
        try:
            key = source.unwrap(row.kek_id, bytes(row.wrapped), associated)
        except KeyError:
            raise KeyUnavailable("unknown_kek", organization_id, row.kek_id) from None
        except BadRecord:
            raise KeyUnavailable("wrong_kek", organization_id, row.kek_id) from None
        if row.purpose == OrganizationKey.Purpose.HASH:
            hash_key = key if row.state == OrganizationKey.State.ACTIVE else hash_key
        else:
            deks[row.version] = key
            active = row.version if row.state == OrganizationKey.State.ACTIVE else active
    if active is None or hash_key is None:
        return None
    return OrganizationKeys(active, deks, hash_key)


def _read(organization_id: uuid.UUID) -> OrganizationKeys | None:
    rows = list(OrganizationKey.objects.filter(organization=organization_id).exclude(state="destroyed"))
    return _unwrap(organization_id, rows) if rows else None


def organization_keys(organization_id: uuid.UUID) -> OrganizationKeys:
    """Return the keys for reading. Raises KeyUnavailable, also with code `no_keys` when nothing was ever sealed."""
    with _kept_lock:
        kept = _kept.get(organization_id)
    if kept is not None and kept[0] > time.monotonic():
        return kept[1]
    keys = _read(organization_id)
    if keys is None:
        raise KeyUnavailable("no_keys", organization_id)
    with _kept_lock:
        _kept[organization_id] = (time.monotonic() + KEEP_SECONDS, keys)
    return keys


def ensure_organization_keys(organization_id: uuid.UUID) -> OrganizationKeys:
    """Return the keys for writing; makes them at the first seal, under the organization's lock. Not in a transaction.

    Keys that were destroyed are never replaced: the organization is gone.
    """
    try:
        return organization_keys(organization_id)
    except KeyUnavailable as error:
        if error.code != "no_keys":
            raise
    # Durable: a caller's rollback must not take back keys that this process already keeps and seals with.
    with transaction.atomic(durable=True):
        live = Organization.objects.select_for_update(no_key=True).filter(pk=organization_id, deleted_at__isnull=True)
        if live.first() is None:
            raise KeyUnavailable("no_organization", organization_id)
        if not OrganizationKey.objects.filter(organization=organization_id).exists():
            source = key_source(organization_id)
            for purpose in OrganizationKey.Purpose.values:
                wrapped = source.wrap(new_key(), _associated(organization_id, purpose, 1, source.primary_id))
                OrganizationKey.objects.create(
                    organization_id=organization_id,
                    purpose=purpose,
                    version=1,
                    kek_id=source.primary_id,
                    wrapped=wrapped,
                )
            log.info("organization_keys_created", organization_id=str(organization_id), kek_id=source.primary_id)
    return organization_keys(organization_id)
