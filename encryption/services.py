"""The keys of an organization: made at the first seal, unwrapped for use, kept in the process for at most a minute."""

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import structlog
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
from encryption.kept import UNWRAPPED
from encryption.keys import KeyringError, KeySource, KmsError
from encryption.models import OrganizationKey
from encryption.sources import load_source

log = structlog.get_logger(__name__)
KEEP_SECONDS: Final = 60  # a turn pays no extra round trip; a destroyed key is gone within a minute elsewhere


class KeyUnavailable(Exception):
    """The organization's keys cannot be used: no keyring, a wrong one, a silent key service, or destroyed keys.

    Carries ids and a code: keyring_*, kms_*, unknown_kek, wrong_kek, no_keys, no_organization.
    """

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

    def keyed_hash(self, *parts: bytes, lead: bytes = b"") -> bytes:
        return keyed_hash(self.hash_key, *parts, lead=lead)


class ScopeKeys:
    """Seals under the active key and opens records of every version, for one scope and one operation.

    `refetch` is asked once for keys that hold a version which is newer than what this process keeps.
    """

    def __init__(
        self,
        keys: OrganizationKeys,
        *,
        purpose: str,
        scope: tuple[uuid.UUID, ...],
        refetch: Callable[[int], OrganizationKeys | None] | None = None,
    ) -> None:
        self._keys = keys
        self._purpose = purpose
        self._scope = scope
        self._refetch = refetch
        self._ciphers: dict[int, ScopeCipher] = {}
        self._lead = join(purpose.encode(), *(part.bytes for part in scope))

    @property
    def active_version(self) -> int:
        return self._keys.active_version

    def _cipher(self, version: int) -> ScopeCipher:
        cipher = self._ciphers.get(version)
        if cipher is None:
            dek = self._dek(version)
            cipher = ScopeCipher.derive(dek, dek_version=version, purpose=self._purpose, scope=self._scope)
            self._ciphers[version] = cipher
        return cipher

    def _dek(self, version: int) -> bytes:
        if version not in self._keys.deks and self._refetch is not None:
            refetch, self._refetch = self._refetch, None
            self._keys = refetch(version) or self._keys
        if version not in self._keys.deks:
            raise BadRecord("wrong_key")
        return self._keys.deks[version]

    def seal(self, row_id: uuid.UUID, row_type: str, label: str, body: str) -> bytes:
        return self._cipher(self.active_version).seal(row_id, row_type, label, body)

    def open(self, row_id: uuid.UUID, row_type: str, record: bytes) -> Opened:
        return self._cipher(record_version(record)).open(row_id, row_type, record)

    def open_all(self, rows: Sequence[tuple[uuid.UUID, str, bytes]]) -> OpenedRows:
        """Open a whole scope, (row id, row type, record) each; bad records are left out and counted (P05, P06)."""
        return open_all(rows, self._cipher)

    def keyed_hash(self, *parts: bytes) -> bytes:
        """Return a hash that matches within this scope only."""
        return self._keys.keyed_hash(*parts, lead=self._lead)


def forget_keys(organization_id: uuid.UUID | None = None) -> None:
    """Drop unwrapped keys from this process: of one organization, or all."""
    UNWRAPPED.forget(organization_id)


def key_source(organization_id: uuid.UUID) -> KeySource:
    """Return the deployment's keyring or key service, or raise KeyUnavailable."""
    try:
        return load_source()
    except KeyringError as error:
        raise KeyUnavailable(f"keyring_{error.code}", organization_id) from None


def _associated(organization_id: uuid.UUID, purpose: str, version: int, kek_id: str) -> bytes:
    return join(organization_id.bytes, purpose.encode(), version.to_bytes(4, "big"), kek_id.encode())


def unwrap_row(source: KeySource, row: OrganizationKey) -> bytes:
    """Return the key of one row. Raises KeyUnavailable."""
    associated = _associated(row.organization_id, row.purpose, row.version, row.kek_id)
    try:
        return source.unwrap(row.kek_id, bytes(row.wrapped), associated)
    except KeyError:
        code = "unknown_kek"
    except BadRecord:
        code = "wrong_kek"
    except KmsError as error:
        code = error.code
    raise KeyUnavailable(code, row.organization_id, row.kek_id)


def wrap(source: KeySource, key: bytes, *, organization_id: uuid.UUID, purpose: str, version: int) -> tuple[str, bytes]:
    """Return the id of the primary key and `key` wrapped under it for its place. Raises KeyUnavailable."""
    kek_id = source.primary_id
    try:
        return kek_id, source.wrap(key, _associated(organization_id, purpose, version, kek_id))
    except KmsError as error:
        raise KeyUnavailable(error.code, organization_id, kek_id) from None


def _unwrap(organization_id: uuid.UUID, rows: list[OrganizationKey]) -> OrganizationKeys | None:
    source = key_source(organization_id)
    deks: dict[int, bytes] = {}
    active = hash_key = None
    for row in rows:
        key = unwrap_row(source, row)
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
    kept: OrganizationKeys | None = UNWRAPPED.get(organization_id, time.monotonic())
    if kept is not None:
        return kept
    asked = time.monotonic()  # before the read: what is kept is never older than KEEP_SECONDS
    keys = _read(organization_id)
    if keys is None:
        raise KeyUnavailable("no_keys", organization_id)
    UNWRAPPED.put(organization_id, keys, until=asked + KEEP_SECONDS)
    return keys


def newer_keys(organization_id: uuid.UUID, version: int) -> OrganizationKeys | None:
    """Return keys that hold a version which the kept ones lack: after a rotation elsewhere. None when there is none.

    One query for a record that names a version which does not exist, so that such records cost no unwrapping.
    """
    rows = OrganizationKey.objects.filter(organization=organization_id, purpose="dek", version=version)
    if not rows.exclude(state=OrganizationKey.State.DESTROYED).exists():
        return None
    forget_keys(organization_id)
    try:
        return organization_keys(organization_id)
    except KeyUnavailable as error:
        log.error("newer_keys_unavailable", code=error.code, organization_id=str(organization_id), kek_id=error.kek_id)
        return None


def ensure_organization_keys(organization_id: uuid.UUID) -> OrganizationKeys:
    """Return the keys for writing; makes them at the first seal, under the organization's lock. Not in a transaction.

    Keys that were destroyed are never replaced: the organization is gone.
    """
    try:
        return organization_keys(organization_id)
    except KeyUnavailable as error:
        if error.code != "no_keys":
            raise
    # Wrapped before the lock, because a key service may take its time.
    source = key_source(organization_id)
    made = {
        purpose: wrap(source, new_key(), organization_id=organization_id, purpose=purpose, version=1)
        for purpose in OrganizationKey.Purpose.values
    }
    # Durable: a caller's rollback must not take back keys that this process already keeps and seals with.
    with transaction.atomic(durable=True):
        live = Organization.objects.select_for_update(no_key=True).filter(pk=organization_id, deleted_at__isnull=True)
        if live.first() is None:
            raise KeyUnavailable("no_organization", organization_id)
        if not OrganizationKey.objects.filter(organization=organization_id).exists():
            for purpose, (kek_id, wrapped) in made.items():
                OrganizationKey.objects.create(
                    organization_id=organization_id, purpose=purpose, version=1, kek_id=kek_id, wrapped=wrapped
                )
            log.info("organization_keys_created", organization_id=str(organization_id), kek_id=source.primary_id)
    return organization_keys(organization_id)
