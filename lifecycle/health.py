"""`/healthz` and `/readyz`: alive, and in order; says what is wrong in words an operator can use."""

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from psycopg_pool import PoolTimeout

from encryption.keys import KeyringError
from encryption.rotation import unopened
from encryption.sources import load_source
from jobs.models import Heartbeat
from jobs.supervisor import BEAT, WORKER_SILENT_AFTER


def healthz(request: HttpRequest) -> JsonResponse:
    """Answer as long as the process does; with the name that whoever started it gave it."""
    return JsonResponse({"status": "alive"} | ({"instance": settings.INSTANCE} if settings.INSTANCE else {}))


def checks() -> dict[str, str]:
    """Return what is wrong by part; `ok` where nothing is."""
    found = {"database": "ok", "migrations": "ok", "keyring": "ok", "worker": "ok"}
    try:
        load_source()
    except KeyringError as error:
        found["keyring"] = error.code
    try:
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            # Without its tables nothing below can be asked.
            return found | {"migrations": "not applied: run manage.py migrate", "worker": "unknown"}
        if found["keyring"] == "ok" and (lost := unopened()):
            count, ids = sum(kek.count for kek in lost), ", ".join(kek.kek_id for kek in lost)
            found["keyring"] = f"does not open {count} wrapped keys, which need {ids}: put the right one back"
        beat = Heartbeat.objects.filter(name=BEAT).first()
        if beat is None or timezone.now() - beat.at > WORKER_SILENT_AFTER:
            found["worker"] = "no sign of life for a minute: start manage.py worker"
    except (DatabaseError, InterfaceError, PoolTimeout):
        found["database"] = "cannot be reached"
        found["migrations"] = found["worker"] = "unknown"
    except KeyringError as error:  # it was replaced just now
        found["keyring"] = error.code
    return found


def readyz(request: HttpRequest) -> JsonResponse:
    found = checks()
    ready = all(state == "ok" for state in found.values())
    return JsonResponse({"status": "ready" if ready else "not ready", **found}, status=200 if ready else 503)
