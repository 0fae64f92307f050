"""Counts tries per hour across all processes, by keyed hashes; must keep neither an address nor a network as text."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from django.db import connection, transaction
from django.utils.crypto import salted_hmac

from accounts.models import Attempt

PERIOD: Final = timedelta(hours=1)  # the pause of the sign-in


def allowed(limits: Mapping[str, int], *, now: datetime) -> bool:
    """Count one try under each name, unless one of them has had so many within the hour; then count none.

    Whoever asks at the same time about the same name waits, so that no burst passes.
    """
    hashes = {_hash(name): limit for name, limit in limits.items()}
    with transaction.atomic():
        with connection.cursor() as cursor:
            for each in sorted(hashes):
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [int.from_bytes(each[:8], signed=True)])
        Attempt.objects.filter(at__lte=now - PERIOD).delete()
        if any(Attempt.objects.filter(counted=each).count() >= limit for each, limit in hashes.items()):
            return False
        Attempt.objects.bulk_create(Attempt(counted=each, at=now) for each in hashes)
    return True


def _hash(name: str) -> bytes:
    return salted_hmac("accounts.limits", name, algorithm="sha256").digest()
