"""Rotation of keys: rewrap under another KEK, a new data key, destruction of old ones. Knows no record and no fact."""

import uuid
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

import structlog
from django.db import transaction
from django.db.models import Max, QuerySet

from accounts.models import Organization
from encryption import sources
from encryption.deployment import SecretUnavailable, check_secret, unwrap_secret_key, wrap_secret_key
from encryption.envelope import new_key
from encryption.keys import Chain, Keyring, KeyringError, KeySource, check_value
from encryption.models import OrganizationKey, Secret
from encryption.services import KeyUnavailable, forget_keys, key_source, unwrap_row, wrap

log = structlog.get_logger(__name__)
BATCH: Final = 100  # rows read at once; each is written by itself
# A background job holds the keys it began with while a model answers: five minutes, and one that keys are kept for.
RETIRE_AFTER: Final = timedelta(minutes=15)
ACTIVE, DECRYPT_ONLY, DESTROYED = OrganizationKey.State
DEK: Final = OrganizationKey.Purpose.DEK


class TooEarly(Exception):
    """Old data keys may still be written under by a process that began before the rotation. Says when it is time."""

    def __init__(self, at: datetime) -> None:
        super().__init__(f"Old keys can be retired from {at:%Y-%m-%d %H:%M:%S %Z} on.")
        self.at = at


@dataclass(frozen=True, slots=True)
class Kek:
    """One key-encryption key as an operator sees it; `check` is empty for a key service and for a key that is gone."""

    id: str
    check: str
    primary: bool
    known: bool
    wraps: int
    wrong: bool = False  # it is another key than the one that wrapped them


@dataclass(frozen=True, slots=True)
class Unopened:
    """A key-encryption key that is not here, or in whose place another one stands, and how many keys wait for it."""

    kek_id: str
    count: int
    wrong: bool


@dataclass(slots=True)
class Opened:
    """How many wrapped keys of organizations and secrets opened, and what did not, by code."""

    opened: int = 0
    secrets: int = 0
    failed: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Rewrapped:
    """How many keys are wrapped anew, why others are not, and how many are left under another key than the primary."""

    done: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    left: int = 0


def usable_keys() -> QuerySet[OrganizationKey]:
    return OrganizationKey.objects.exclude(state=DESTROYED)


def keks() -> list[Kek]:
    """Return every key-encryption key that the deployment holds or that wraps something. Raises KeyringError."""
    source, ring, wraps = sources.load_source(), _ring(), _wraps()
    checks = {key_id: check_value(key) for key_id, key in ring.keys.items()}
    return [
        Kek(
            key_id,
            checks.get(key_id, ""),
            key_id == source.primary_id,
            source.holds(key_id),
            wraps[key_id],
            wrong=ring.holds(key_id) and not _opens_one(ring, key_id),
        )
        for key_id in sorted({source.primary_id, *checks, *wraps})
    ]


def needed_keks() -> list[Kek]:
    """Return what the database needs, for when no keyring says what there is."""
    return [Kek(kek_id, "", primary=False, known=False, wraps=count) for kek_id, count in sorted(_wraps().items())]


def _ring() -> Keyring:
    try:
        return sources.keyring()
    except KeyringError:
        return Keyring("", {})  # a deployment with a key service needs none


def _wraps() -> Counter[str]:
    """Return how many keys, of organizations and of secrets, each key-encryption key wraps."""
    rows = (usable_keys(), Secret.objects.all())
    return Counter(kek_id for each in rows for kek_id in each.order_by().values_list("kek_id", flat=True))


def wrapped_under(kek_id: str) -> int:
    """Return how many keys would be lost with a key-encryption key."""
    return _wraps()[kek_id]


def unopened() -> list[Unopened]:
    """Return what the deployment's keys do not open; none is good.

    One key of each KEK is opened with the keyring; a key service is not asked. Raises KeyringError.
    """
    return _unopened(sources.load_source(), _ring())


def unopened_by(ring: Keyring) -> tuple[list[Unopened], int]:
    """Return what would not open with `ring` as the keyring, and how many keys it would open. Raises KeyringError."""
    service = sources.vault()
    lost = _unopened(ring if service is None else Chain((ring, service)), ring)
    held = {kek_id: count for kek_id, count in _wraps().items() if ring.holds(kek_id)}
    return lost, sum(held.values()) - sum(kek.count for kek in lost if kek.wrong)


def _unopened(source: KeySource, ring: Keyring) -> list[Unopened]:
    found = []
    for kek_id, count in sorted(_wraps().items()):
        if not source.holds(kek_id):
            found.append(Unopened(kek_id, count, wrong=False))
        elif ring.holds(kek_id) and not _opens_one(ring, kek_id):
            found.append(Unopened(kek_id, count, wrong=True))
    return found


def _opens_one(ring: Keyring, kek_id: str) -> bool:
    row = usable_keys().filter(kek_id=kek_id).first()
    secret = None if row else Secret.objects.filter(kek_id=kek_id).first()
    try:
        return bool(unwrap_row(ring, row) if row else secret is None or unwrap_secret_key(ring, secret))
    except (KeyUnavailable, SecretUnavailable):
        return False


def to_rewrap(*, every: bool = False) -> QuerySet[OrganizationKey]:
    """Return the keys under another KEK than the primary one; all, when the primary changed inside a key service."""
    return usable_keys() if every else usable_keys().exclude(kek_id=sources.load_source().primary_id)


def secrets_to_rewrap(*, every: bool = False) -> QuerySet[Secret]:
    """Return the secrets whose keys are under another KEK; all, as `to_rewrap` does."""
    secrets = Secret.objects.all()
    return secrets if every else secrets.exclude(kek_id=sources.load_source().primary_id)


def rewrap(*, every: bool = False, step: Callable[[int], object] = lambda _: None) -> Rewrapped:
    """Wrap keys anew under the primary KEK, one compare-and-swap each; may be killed and run again at any time.

    A row that another process rewrapped or destroyed meanwhile is left as that process made it. Raises KeyringError.
    """
    source, outcome = sources.load_source(), Rewrapped()

    def each[Row: (OrganizationKey, Secret)](
        todo: QuerySet[Row], usable: QuerySet[Row], again: Callable[[KeySource, Row], tuple[str, bytes]]
    ) -> None:
        last = uuid.UUID(int=0)
        while rows := list(todo.filter(pk__gt=last).order_by("pk")[:BATCH]):
            for row in rows:
                try:
                    kek_id, wrapped = again(source, row)
                except (KeyUnavailable, SecretUnavailable) as error:
                    outcome.failed[error.code] += 1
                else:
                    unchanged = usable.filter(pk=row.pk, wrapped=bytes(row.wrapped))
                    outcome.done += unchanged.update(kek_id=kek_id, wrapped=wrapped)
                step(1)
            last = rows[-1].pk

    each(to_rewrap(every=every), usable_keys(), _key_again)
    each(secrets_to_rewrap(every=every), Secret.objects.all(), _secret_again)
    outcome.left = to_rewrap().count() + secrets_to_rewrap().count()
    log.info("organization_keys_rewrapped", count=outcome.done, left=outcome.left, kek_id=source.primary_id)
    return outcome


def _key_again(source: KeySource, row: OrganizationKey) -> tuple[str, bytes]:
    key = unwrap_row(source, row)
    return wrap(source, key, organization_id=row.organization_id, purpose=row.purpose, version=row.version)


def _secret_again(source: KeySource, row: Secret) -> tuple[str, bytes]:
    return wrap_secret_key(source, unwrap_secret_key(source, row), row)


def verify_keys(*, step: Callable[[int], object] = lambda _: None) -> Opened:
    """Unwrap every key that is not destroyed, and open every secret. Raises KeyringError."""
    source, outcome = sources.load_source(), Opened()
    for row in usable_keys().iterator(chunk_size=BATCH):
        try:
            unwrap_row(source, row)
            outcome.opened += 1
        except KeyUnavailable as error:
            outcome.failed[error.code] += 1
        step(1)
    for secret in Secret.objects.iterator(chunk_size=BATCH):
        try:
            check_secret(source, secret)
            outcome.secrets += 1
        except SecretUnavailable as error:
            outcome.failed[f"secret_{error.code}"] += 1
        step(1)
    return outcome


def active_dek(organization_id: uuid.UUID) -> OrganizationKey:
    """Return the row of the data key that seals now. Raises KeyUnavailable (no_keys)."""
    row = OrganizationKey.objects.filter(organization=organization_id, purpose=DEK, state=ACTIVE).first()
    if row is None:
        raise KeyUnavailable("no_keys", organization_id)
    return row


def new_dek(organization_id: uuid.UUID, *, after: int) -> OrganizationKey:
    """Make a new data key the active one, the former `after` decrypt-only, and return the active one.

    When another process was faster, its key is returned. Raises KeyUnavailable.
    """
    keys = OrganizationKey.objects.filter(organization=organization_id, purpose=DEK)
    version = (keys.aggregate(last=Max("version"))["last"] or 0) + 1
    source = key_source(organization_id)
    kek_id, wrapped = wrap(source, new_key(), organization_id=organization_id, purpose=DEK, version=version)
    with transaction.atomic():
        live = Organization.objects.select_for_update(no_key=True).filter(pk=organization_id, deleted_at__isnull=True)
        if live.first() is None:
            raise KeyUnavailable("no_organization", organization_id)
        if active_dek(organization_id).version == after:
            keys.filter(state=ACTIVE).update(state=DECRYPT_ONLY)
            keys.create(organization_id=organization_id, purpose=DEK, version=version, kek_id=kek_id, wrapped=wrapped)
            log.info("data_key_rotated", organization_id=str(organization_id), version=version)
    forget_keys(organization_id)
    return active_dek(organization_id)


def retire_deks(organization_id: uuid.UUID, *, in_use: Collection[int], now: datetime) -> list[int]:
    """Destroy the decrypt-only data keys that seal no record, and return their versions; under the caller's lock.

    Raises TooEarly while a process may still hold such a key and write under it, and KeyUnavailable.
    """
    active = active_dek(organization_id)
    if now < active.created_at + RETIRE_AFTER:
        raise TooEarly(active.created_at + RETIRE_AFTER)
    old = OrganizationKey.objects.filter(organization=organization_id, purpose=DEK, state=DECRYPT_ONLY)
    old = old.exclude(version__in=in_use)
    versions = sorted(old.values_list("version", flat=True))
    old.update(state=DESTROYED, wrapped=b"", destroyed_at=now)
    if versions:
        log.info("data_keys_retired", organization_id=str(organization_id), count=len(versions))
    forget_keys(organization_id)
    return versions
