"""Moves facts to the organization's newest data key, a batch at a time; may be killed anywhere and run again (F04).

It changes nothing but `sealed`, `dek_version` and `row_version`: what a fact says, its hashes and its times stay.
"""

import time
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from typing import Final

import structlog
from django.db import connection, transaction
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.utils import timezone

from accounts.models import Organization
from consent.scope import Scope
from encryption.envelope import BadRecord
from encryption.models import OrganizationKey
from encryption.rotation import active_dek, new_dek, retire_deks
from encryption.services import KEEP_SECONDS, KeyUnavailable
from facts.models import Fact
from facts.sealing import scope_keys

log = structlog.get_logger(__name__)
BATCH: Final = 200  # rows; locked for some ten milliseconds
GRACE_SECONDS: Final = KEEP_SECONDS + 5  # other processes seal under the former key for as long as they keep it
type Step = Callable[[int], object]


class NewKey(Enum):
    """When a rotation makes a new data key. A record that never opens keeps a rotation unfinished: hence ALWAYS."""

    UNLESS_UNFINISHED = 1
    ALWAYS = 2
    NEVER = 3


@dataclass(slots=True)
class Moved:
    """How many records have been sealed anew, and why others could not be, by code."""

    done: int = 0
    failed: Counter[str] = field(default_factory=Counter)


def with_active_keys(organization_ids: Collection[uuid.UUID] | None = None) -> list[uuid.UUID]:
    """Return the live organizations that have a data key; of the given ones, or of all."""
    keys = OrganizationKey.objects.filter(purpose="dek", state="active", organization__deleted_at__isnull=True)
    if organization_ids is not None:
        keys = keys.filter(organization__in=organization_ids)
    return list(keys.order_by("organization").values_list("organization", flat=True))


def stale(organization_ids: Iterable[uuid.UUID]) -> QuerySet[Fact]:
    """Return the rows of every status that are sealed under an older key than the active one."""
    active = OrganizationKey.objects.filter(organization=OuterRef("organization"), purpose="dek", state="active")
    newest = Subquery(active.values("version"))
    return Fact.objects.filter(organization__in=list(organization_ids), dek_version__lt=newest)


def by_version(organization_id: uuid.UUID) -> dict[int, int]:
    """Return how many records are sealed under each version."""
    rows = Fact.objects.filter(organization=organization_id).values_list("dek_version").annotate(Count("pk"))
    return dict(rows.order_by("dek_version"))


def in_grace(organization_ids: Iterable[uuid.UUID], *, grace: float) -> set[uuid.UUID]:
    """Return the organizations whose newest data key was rotated in less than `grace` seconds ago."""
    young = OrganizationKey.objects.filter(organization__in=list(organization_ids), purpose="dek", state="active")
    young = young.filter(version__gt=1, created_at__gt=timezone.now() - timedelta(seconds=grace))
    return set(young.values_list("organization", flat=True))


def to_move(
    organization_ids: Iterable[uuid.UUID], *, grace: float = 0, new_key: NewKey = NewKey.UNLESS_UNFINISHED
) -> int:
    """Return how many records a rotation will seal anew, as far as can be known before."""
    left, whole = stale(organization_ids), set(organization_ids)
    if new_key is NewKey.NEVER:
        return left.count()
    counts = dict(left.values_list("organization").annotate(Count("pk")).order_by())
    if new_key is NewKey.UNLESS_UNFINISHED:
        whole -= set(counts) | in_grace(whole, grace=grace)
    unfinished: int = sum(count for organization_id, count in counts.items() if organization_id not in whole)
    return unfinished + Fact.objects.filter(organization__in=whole).count()


def begin(organization_id: uuid.UUID, new_key: NewKey, *, grace: float = 0) -> OrganizationKey:
    """Return the data key to move to, new or, where an earlier rotation goes on, its own. Raises KeyUnavailable.

    A rotation goes on while a record is left under an older key, and until others may no longer write under one.
    """
    active = active_dek(organization_id)
    if new_key is NewKey.NEVER:
        return active
    if new_key is NewKey.UNLESS_UNFINISHED:
        one = [organization_id]
        if stale(one).exists() or in_grace(one, grace=grace):
            return active
    return new_dek(organization_id, after=active.version)


def rotate(
    organization_ids: Collection[uuid.UUID],
    *,
    grace: float = GRACE_SECONDS,
    new_key: NewKey = NewKey.UNLESS_UNFINISHED,
    step: Step = lambda _: None,
    sleep: Callable[[float], object] = time.sleep,
) -> Moved:
    """Rotate the data keys of organizations and seal their facts anew until none is left under an older key.

    `grace` seconds after the newest key was made, what others wrote under the former one meanwhile is moved as well.
    An organization whose key is unavailable is counted under that code, and the others go on.
    """
    outcome, begun = Moved(), list[OrganizationKey]()
    unavailable = Counter[str]()
    for organization_id in organization_ids:
        try:
            active = begin(organization_id, new_key, grace=grace)
        except KeyUnavailable as error:
            unavailable[error.code] += 1
            continue
        begun.append(active)
        _move_organization(active.organization_id, outcome, step)
    if begun and (wait := grace - (timezone.now() - max(row.created_at for row in begun)).total_seconds()) > 0:
        sleep(wait)
    outcome.failed = unavailable  # what did not open above is met again below, and counted once
    for active in begun:
        _move_organization(active.organization_id, outcome, step)
    return outcome


def _move_organization(organization_id: uuid.UUID, outcome: Moved, step: Step) -> None:
    scopes = stale([organization_id]).values_list("user", "agent").distinct().order_by("user", "agent")
    for user_id, agent_id in list(scopes):
        try:
            _move_scope(Scope(organization_id, user_id, agent_id), outcome, step)
        except KeyUnavailable as error:
            outcome.failed[error.code] += 1
            return


def _move_scope(scope: Scope, outcome: Moved, step: Step) -> None:
    keys = scope_keys(scope)
    todo = Fact.objects.for_scope(scope).filter(dek_version__lt=keys.active_version)
    bad: list[uuid.UUID] = []
    while True:
        with transaction.atomic():
            # Rows that somebody holds are left to the next pass: who waits for nothing takes part in no deadlock.
            free = todo.exclude(pk__in=bad).select_for_update(no_key=True, skip_locked=True)
            rows = list(free.only("memory_type", "sealed", "row_version")[:BATCH])
            if not rows:
                return
            changes: list[tuple[bytes, int, uuid.UUID, int]] = []
            for row in rows:
                try:
                    opened = keys.open(row.pk, row.memory_type, bytes(row.sealed))
                except BadRecord as error:
                    bad.append(row.pk)
                    outcome.failed[error.code] += 1
                    continue
                sealed = keys.seal(row.pk, row.memory_type, opened.label, opened.body)
                changes.append((sealed, keys.active_version, row.pk, row.row_version))
            outcome.done += _swap(changes)
        step(len(rows))


def _swap(changes: list[tuple[bytes, int, uuid.UUID, int]]) -> int:
    """Write the records whose row is still at the version that was read."""
    if not changes:
        return 0
    table = connection.ops.quote_name(Fact._meta.db_table)
    with connection.cursor() as cursor:
        cursor.executemany(
            f"UPDATE {table} SET sealed = %s, dek_version = %s, row_version = row_version + 1 "  # noqa: S608 (our table)
            "WHERE id = %s AND row_version = %s",
            changes,
        )
        return int(cursor.rowcount)


@transaction.atomic
def retire_old(organization_id: uuid.UUID, *, now: datetime) -> list[int]:
    """Destroy the former data keys under which nothing is left; return their versions. Raises TooEarly, KeyUnavailable.

    In the organization's lock, so that no rotation begins meanwhile.
    """
    Organization.objects.select_for_update(no_key=True).filter(pk=organization_id).first()
    return retire_deks(organization_id, in_use=list(by_version(organization_id)), now=now)
