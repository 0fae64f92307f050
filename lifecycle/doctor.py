"""Checks every invariant of the store that exists so far, and repairs nothing."""

from collections.abc import Callable, Iterator
from datetime import timedelta

from django.db.models import Count
from django.utils import timezone

from consent.scope import Scope
from encryption.envelope import BadRecord
from encryption.services import KeyUnavailable, ScopeKeys
from extraction.models import Run
from facts.models import Fact
from facts.sealing import scope_keys
from facts.services import MAX_LIVE
from lifecycle import health

STUCK_AFTER = timedelta(hours=1)


def findings() -> Iterator[tuple[str, list[str]]]:
    """Yield each check's name and what is wrong; an empty list is good."""
    checks: dict[str, Callable[[], list[str]]] = {
        "deployment": _deployment,
        "cap": _cap,
        "uniqueness": _uniqueness,
        "decryptability": _decryptability,
        "orphans": _orphans,
        "backlog": _backlog,
    }
    for name, check in checks.items():
        yield name, check()


def _deployment() -> list[str]:
    return [f"{part}: {state}" for part, state in health.checks().items() if state != "ok" and part != "worker"]


def _cap() -> list[str]:
    counts = Fact.objects.live().values("organization", "user", "agent").annotate(count=Count("pk"))
    return [
        f"organization {row['organization']} user {row['user']} agent {row['agent']}: {row['count']} live facts"
        for row in counts.filter(count__gt=MAX_LIVE)
    ]


def _uniqueness() -> list[str]:
    slot = ("organization", "user", "agent", "memory_type", "key_hash", "content_hash")
    twice = Fact.objects.live().values(*slot).annotate(count=Count("pk")).filter(count__gt=1)
    return [f"user {row['user']} agent {row['agent']}: {row['count']} live facts in one slot" for row in twice]


def _decryptability() -> list[str]:
    """Open every row that retention has not removed yet, superseded and deleted ones included."""
    wrong: list[str] = []
    current: Scope | None = None
    keys: ScopeKeys | None = None
    rows = Fact.objects.order_by("organization_id", "user_id", "agent_id", "pk").only(
        "organization_id", "user_id", "agent_id", "memory_type", "sealed"
    )
    for row in rows.iterator(chunk_size=500):
        scope = Scope(row.organization_id, row.user_id, row.agent_id)
        if scope != current:
            current = scope
            try:
                keys = scope_keys(scope)
            except KeyUnavailable as error:
                keys = None
                wrong.append(f"organization {scope.organization_id}: key unavailable ({error.code})")
        if keys is not None:
            try:
                keys.open(row.pk, row.memory_type, bytes(row.sealed))
            except BadRecord as error:
                wrong.append(f"fact {row.pk}: does not open ({error.code})")
    return list(dict.fromkeys(wrong))


def _orphans() -> list[str]:
    """Live facts of subjects that are gone: a wipe that did not finish."""
    gone = Fact.objects.live().exclude(
        user__deleted_at__isnull=True, agent__deleted_at__isnull=True, organization__deleted_at__isnull=True
    )
    count = gone.count()
    return [f"{count} live facts of deleted users, agents or organizations"] if count else []


def _backlog() -> list[str]:
    late = Run.objects.filter(
        state__in=[Run.State.WAITING, Run.State.RUNNING], due_at__lt=timezone.now() - STUCK_AFTER
    ).count()
    failed = Run.objects.filter(state=Run.State.FAILED, finished_at__gt=timezone.now() - timedelta(days=1)).count()
    found = [f"{late} extraction runs have waited for over an hour"] if late else []
    return found + ([f"{failed} extraction runs failed in the last day"] if failed else [])
