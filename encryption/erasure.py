"""Destroys the keys of an organization for good; imports no code that decrypts, so that an admin may import it."""

import uuid
from datetime import datetime
from pathlib import Path

import structlog
from django.conf import settings
from django.db import transaction

from accounts.models import Organization
from encryption import ledger
from encryption.kept import UNWRAPPED
from encryption.models import OrganizationKey

log = structlog.get_logger(__name__)


def destroy_organization_keys(*, organization_id: uuid.UUID, now: datetime) -> int:
    """Destroy every key of an organization, write it to the erasure ledger, and return how many there were.

    Nothing that was sealed under them opens again, and they are never made anew. The ledger comes before the commit: an
    erasure that is recorded and failed is done by the retry, one that was done and is not recorded would be undone by
    a restore. Needs no keyring. A transaction of its own; raises ledger.LedgerError, and nothing is destroyed then.
    """
    with transaction.atomic(durable=True):
        destroyed = _destroy(organization_id, now)
        if destroyed:
            ledger.append(Path(settings.ERASURE_LEDGER), kind="organization_keys", at=now, organization=organization_id)
    _dropped(organization_id, destroyed)
    return destroyed


def note_own_erasure(kind: str, *, at: datetime, **subjects: uuid.UUID) -> None:
    """Write to the ledger what a member deleted or withdrew herself; call it last in the transaction of the act.

    Her act does not hang on the ledger, as a deletion by support does: one that cannot be written is logged, and
    `check` and `doctor` say that the ledger cannot be written.
    """
    try:
        ledger.append(Path(settings.ERASURE_LEDGER), kind=kind, at=at, **subjects)
    except ledger.LedgerError:
        ids = {name: str(subject) for name, subject in subjects.items()}
        log.error("erasure_not_in_ledger", kind=kind, **ids)


def destroyed_keys(organization_id: uuid.UUID) -> int:
    """Return how many keys of an organization were destroyed."""
    destroyed = OrganizationKey.objects.filter(organization=organization_id, state=OrganizationKey.State.DESTROYED)
    return destroyed.count()


def destroy_again(*, organization_id: uuid.UUID, now: datetime) -> int:
    """Destroy what a restore brought back; the ledger has it already. Returns how many keys there were."""
    with transaction.atomic(durable=True):
        destroyed = _destroy(organization_id, now)
    _dropped(organization_id, destroyed)
    return destroyed


def _destroy(organization_id: uuid.UUID, now: datetime) -> int:
    # The organization's lock: its first seal makes keys under it.
    found = Organization.objects.select_for_update(no_key=True).filter(pk=organization_id).first()
    keys = OrganizationKey.objects.filter(organization=organization_id)
    destroyed = OrganizationKey.State.DESTROYED
    if found is not None and not keys.exists():
        # The mark that keeps the first seal from making keys for what was erased.
        keys.create(organization=found, purpose="dek", version=1, wrapped=b"", state=destroyed, destroyed_at=now)
    return keys.exclude(state=destroyed).update(state=destroyed, wrapped=b"", destroyed_at=now)


def _dropped(organization_id: uuid.UUID, destroyed: int) -> None:
    UNWRAPPED.forget(organization_id)
    if destroyed:
        log.info("organization_keys_destroyed", organization_id=str(organization_id), count=destroyed)
