"""`/healthz` and `/readyz`: alive, and in order; says what is wrong in words an operator can use."""

from datetime import timedelta
from typing import Final

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from psycopg_pool import PoolTimeout

from encryption.keys import KeyringError
from encryption.sources import load_source
from jobs.models import Heartbeat
from jobs.supervisor import BEAT

WORKER_SILENT_AFTER: Final = timedelta(seconds=60)


def healthz(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "alive"})


def checks() -> dict[str, str]:
    """Return what is wrong by part; `ok` where nothing is."""
    found = {"database": "ok", "migrations": "ok", "keyring": "ok", "worker": "ok"}
    try:
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            found["migrations"] = "not applied: run manage.py migrate"
        beat = Heartbeat.objects.filter(name=BEAT).first()
        if beat is None or timezone.now() - beat.at > WORKER_SILENT_AFTER:
            found["worker"] = "no sign of life for a minute: start manage.py worker"
    except (DatabaseError, PoolTimeout):
        found["database"] = "cannot be reached"
        found["migrations"] = found["worker"] = "unknown"
    try:
        load_source()
    except KeyringError as error:
        found["keyring"] = error.code
    return found


def readyz(request: HttpRequest) -> JsonResponse:
    found = checks()
    ready = all(state == "ok" for state in found.values())
    return JsonResponse({"status": "ready" if ready else "not ready", **found}, status=200 if ready else 503)
