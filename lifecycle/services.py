"""Deletes people, organizations, agents, or only their memory (R03): marks first, wipes in a transaction of its own.

A deletion and its pending wipe are committed together with the mark, before anything is wiped. So a wipe that fails, or
a process that dies, leaves a subject that is gone, leftovers that no gate lets through, and a row that says what waits.
Must not decrypt.
"""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

import structlog
from django.conf import settings
from django.db import DatabaseError, transaction

from accounts.models import Organization, User
from accounts.services import Ended, soft_delete_organization, soft_delete_user
from agents.models import Agent
from agents.permissions import remove_grants_of
from agents.services import soft_delete_agent
from audit.services import record
from database.patience import wait_at_most
from encryption import ledger
from encryption.erasure import destroy_organization_keys, destroyed_keys
from facts.erasure import Subject, close_memory, erase, erase_memory
from lifecycle.models import Deletion, PendingWipe

log = structlog.get_logger(__name__)
MAX_REASON: Final = 200  # characters


class AlreadyDeleted(Exception):
    """The subject is gone; nothing was done."""


@dataclass(frozen=True, slots=True)
class Marked:
    """What marking a subject as deleted ended."""

    ended: Ended = field(default_factory=Ended)
    grants: int = 0
    consents: int = 0


def delete_user(*, user: User, actor: User | None, reason: str = "", surface: str = "", now: datetime) -> Deletion:
    """Soft-delete a user: keys revoked, sign-ins ended, grants removed, memory wiped; her conversations stay.

    Raises AlreadyDeleted, and LedgerError when the erasure ledger cannot be written: nothing is done then.
    """

    def mark() -> Marked:
        _refuse_deleted(User.objects.select_for_update(no_key=True).get(pk=user.pk).deleted_at)
        ended = soft_delete_user(user=user, now=now, actor=actor, reason=reason, surface=surface)
        return Marked(ended, remove_grants_of(user.pk))

    deletion = Deletion(kind="user", subject_id=user.pk, memory_only=False)
    return _delete(deletion, mark, actor=actor, reason=reason, now=now)


def delete_agent(*, agent: Agent, actor: User | None, reason: str = "", surface: str = "", now: datetime) -> Deletion:
    """Soft-delete an agent: grants on it removed, its members' memory with it wiped; conversations stay.

    Raises AlreadyDeleted and LedgerError.
    """

    def mark() -> Marked:
        _refuse_deleted(Agent.objects.select_for_update(no_key=True).get(pk=agent.pk).deleted_at)
        grants = soft_delete_agent(agent=agent, now=now, actor=actor, reason=reason, surface=surface)
        return Marked(grants=grants)

    deletion = Deletion(kind="agent", subject_id=agent.pk, organization_id=agent.organization_id, memory_only=False)
    return _delete(deletion, mark, actor=actor, reason=reason, now=now)


def delete_organization(
    *, organization: Organization, actor: User | None, reason: str = "", surface: str = "", now: datetime
) -> Deletion:
    """Soft-delete an organization: API keys revoked, data keys destroyed for good, all of its memory wiped.

    Raises AlreadyDeleted and LedgerError.
    """

    def mark() -> Marked:
        _refuse_deleted(Organization.objects.select_for_update(no_key=True).get(pk=organization.pk).deleted_at)
        return Marked(
            soft_delete_organization(organization=organization, now=now, actor=actor, reason=reason, surface=surface)
        )

    deletion = Deletion(
        kind="organization", subject_id=organization.pk, organization_id=organization.pk, memory_only=False
    )
    return _delete(deletion, mark, actor=actor, reason=reason, now=now)


def delete_memory(
    *, subject: Subject, actor: User | None, reason: str = "", surface: str = "", now: datetime
) -> Deletion:
    """Wipe a subject's facts, withdraw consent, and leave the subject itself alone. Raises LedgerError.

    Every fact is a tombstone at once, so that leftovers of a failed wipe are served to nobody.
    """
    deletion = Deletion(
        kind=subject.kind, subject_id=subject.id, organization_id=organization_of(subject), memory_only=True
    )

    def mark() -> Marked:
        withdrawn = close_memory(subject, now=now)
        record_deletion("memory.delete", deletion, actor=actor, reason=reason, surface=surface)
        return Marked(consents=withdrawn)

    return _delete(deletion, mark, actor=actor, reason=reason, now=now)


def organization_of(subject: Subject) -> uuid.UUID | None:
    """Return the id of the organization that a subject is, or belongs to; None for a user, who may be in several."""
    if subject.kind == "agent":
        return Agent.objects.filter(pk=subject.id).values_list("organization_id", flat=True).first()
    return subject.id if subject.kind == "organization" else None


def _refuse_deleted(deleted_at: datetime | None) -> None:
    if deleted_at is not None:
        raise AlreadyDeleted


def _delete(
    deletion: Deletion, mark: Callable[[], Marked], *, actor: User | None, reason: str, now: datetime
) -> Deletion:
    """Mark, record what is to be wiped, commit; then try to wipe. Returns the deletion as it is then."""
    deletion.actor_id, deletion.reason, deletion.requested_at = actor.pk if actor else None, reason[:MAX_REASON], now
    with transaction.atomic(durable=True):
        marked = mark()
        deletion.api_keys, deletion.sessions = marked.ended.api_keys, marked.ended.sessions
        deletion.grants, deletion.consents = marked.grants, marked.consents
        deletion.save(force_insert=True)
        PendingWipe.objects.create(deletion=deletion)
        kind = "memory" if deletion.memory_only else deletion.kind
        # Before the commit: an erasure that is recorded and failed is done by a retry, one that was done and is not
        # recorded would be undone by a restore.
        ledger.append(Path(settings.ERASURE_LEDGER), kind=kind, at=now, **{deletion.kind: deletion.subject_id})
    attempt_wipe(deletion.pk, now=now)
    return Deletion.objects.get(pk=deletion.pk)


def attempt_wipe(deletion_id: uuid.UUID, *, now: datetime) -> bool:
    """Try to finish a deletion; return whether it is finished. A failure is recorded and waits for the next night."""
    try:
        _destroy_keys(deletion_id, now)
        with transaction.atomic(durable=True):
            wait_at_most()
            _wipe(deletion_id, now)
    except Exception as error:  # whatever it was, the deletion stands, and the other pending wipes are tried
        log.error("wipe_failed", deletion_id=str(deletion_id), code=type(error).__name__)
        try:
            _record_failure(deletion_id, type(error).__name__, now)
        except DatabaseError as second:
            log.error("wipe_failure_not_recorded", deletion_id=str(deletion_id), code=type(second).__name__)
        return False
    return True


def _destroy_keys(deletion_id: uuid.UUID, now: datetime) -> None:
    """Destroy a deleted organization's keys, before its rows: what a failed wipe leaves cannot be read then."""
    pending = Deletion.objects.filter(pk=deletion_id, kind="organization", memory_only=False, keys_destroyed=None)
    for deletion in pending:
        destroyed = destroy_organization_keys(organization_id=deletion.subject_id, now=now)
        # A try before this one may have destroyed them and not come as far as to say so.
        destroyed = destroyed or destroyed_keys(deletion.subject_id)
        if pending.filter(pk=deletion.pk).update(keys_destroyed=destroyed):
            record_deletion("organization.destroy_keys", deletion, details={"keys": destroyed})


def _wipe(deletion_id: uuid.UUID, now: datetime) -> None:
    pending = PendingWipe.objects.select_for_update(no_key=True).filter(deletion=deletion_id).first()
    if pending is None:  # another run was faster
        return
    deletion = pending.deletion
    subject = Subject(deletion.kind, deletion.subject_id)  # type: ignore[arg-type]  # the choices are the same words
    erased = erase_memory(subject, before=deletion.requested_at, now=now) if deletion.memory_only else erase(subject)
    deletion.facts, deletion.consents, deletion.wiped_at = erased.facts, deletion.consents + erased.consents, now
    deletion.save(update_fields=["facts", "consents", "wiped_at"])
    pending.delete()
    record_deletion("memory.wipe", deletion, details={"facts": deletion.facts, "consents": deletion.consents})


def _record_failure(deletion_id: uuid.UUID, code: str, now: datetime) -> None:
    with transaction.atomic():
        wait_at_most()
        pending = PendingWipe.objects.select_for_update(no_key=True).filter(deletion=deletion_id).first()
        if pending is None:
            return
        pending.attempts += 1
        pending.tried_at, pending.error_code = now, code[:60]
        pending.save(update_fields=["attempts", "tried_at", "error_code"])
        record_deletion("memory.wipe_failed", pending.deletion, details={"code": code, "attempts": pending.attempts})


def retry_wipes(*, now: datetime) -> tuple[int, int]:
    """Try every pending wipe again, the oldest first; return how many are done and how many still wait."""
    waiting = PendingWipe.objects.order_by("deletion__requested_at", "pk").values_list("pk", flat=True)
    done = sum(attempt_wipe(deletion_id, now=now) for deletion_id in list(waiting))
    return done, PendingWipe.objects.count()


def record_deletion(
    action: str,
    deletion: Deletion,
    *,
    actor: User | None = None,
    reason: str = "",
    surface: str = "",
    details: Mapping[str, int | str] | None = None,
) -> None:
    """Append an event about a deletion, with its subject."""
    record(
        action,
        actor=actor,
        organization_id=deletion.organization_id,
        subject_user_id=deletion.subject_id if deletion.kind == "user" else None,
        agent_id=deletion.subject_id if deletion.kind == "agent" else None,
        object_id=deletion.pk,
        reason=reason,
        surface=surface,
        details=details,
    )
