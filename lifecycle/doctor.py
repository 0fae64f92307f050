"""Checks every invariant of the store and repairs nothing."""

from collections.abc import Callable, Iterator
from datetime import timedelta

from django.utils import timezone

from encryption.apps import check_keyring
from extraction.models import Run
from lifecycle import fact_checks, health, key_checks, ledger_checks, retention_checks, schema_checks
from lifecycle.models import PendingWipe

STUCK_AFTER = timedelta(hours=1)


def findings() -> Iterator[tuple[str, list[str]]]:
    """Yield each check's name and what is wrong; an empty list is good. Without a database there is only the first."""
    parts = health.checks()
    said = {"keyring": "; ".join(error.msg for error in check_keyring())} if parts["keyring"] != "ok" else {}
    yield (
        "deployment",
        [
            f"{part}: {said.get(part) or state}"
            for part, state in parts.items()
            if state not in ("ok", "unknown") and part != "worker"
        ],
    )
    if not parts["database"] == parts["migrations"] == "ok":
        return
    checks: dict[str, Callable[[], list[str]]] = {
        "constraints": schema_checks.constraints,
        "values": fact_checks.values,
        "cap": fact_checks.cap,
        "uniqueness": fact_checks.uniqueness,
        "decryptability": fact_checks.decryptability,
        "sources": fact_checks.sources,
        "expiry": fact_checks.expiry,
        "tombstones": fact_checks.tombstones,
        "chains": fact_checks.chains,
        "consent": fact_checks.consent,
        "orphans": fact_checks.orphans,
        "data keys": key_checks.data_keys,
        "wrapped keys": key_checks.wrapped_keys,
        "ledger": lambda: [*ledger_checks.unwritable(), *ledger_checks.lost()],
        "retention": retention_checks.retention,
        "backlog": _backlog,
    }
    for name, check in checks.items():
        yield name, check()


def _backlog() -> list[str]:
    late = Run.objects.filter(
        state__in=[Run.State.WAITING, Run.State.RUNNING], due_at__lt=timezone.now() - STUCK_AFTER
    ).count()
    failed = Run.objects.filter(state=Run.State.FAILED, finished_at__gt=timezone.now() - timedelta(days=1)).count()
    found = [f"{late} extraction runs have waited for over an hour"] if late else []
    found += [f"{failed} extraction runs failed in the last day"] if failed else []
    wipes = PendingWipe.objects.count()
    return found + ([f"{wipes} wipes of deleted subjects or of their memory are not done"] if wipes else [])
