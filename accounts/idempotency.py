"""`Idempotency-Key` (C01): which request of an API key may run; keeps hashes only, and must not know what ran."""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.crypto import salted_hmac

from accounts.models import IdempotentRequest

KEPT: Final = timedelta(hours=24)
# A turn starts within milliseconds; a claim that has none after this long has lost its process.
STARTS_WITHIN: Final = timedelta(minutes=1)
MAX_KEY: Final = 255  # characters
FORGOTTEN_AT_ONCE: Final = 100  # rows that one request cleans up after others


class KeyReused(Exception):
    """The key came with another body before."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to run the request: `attempt` is only this one's."""

    id: uuid.UUID
    attempt: int


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier request of the same key and body. `turn_id` is None while its turn is starting."""

    id: uuid.UUID
    attempt: int
    turn_id: uuid.UUID | None
    finish_reason: str


def claim(*, api_key_id: uuid.UUID, key: str, body: bytes, now: datetime) -> Claim | Earlier:
    """Claim a request for its first sender, or return what came before. Raises KeyReused for another body.

    `key` is what the client sent, at most MAX_KEY characters; `body` is all that makes a request the same request.
    After KEPT a key is as good as new. The unique constraint decides between requests that come at once.
    """
    key_hash, body_hash = _hash("key", key.encode()), _hash("body", body)
    forget_old(now=now, limit=FORGOTTEN_AT_ONCE)
    try:
        with transaction.atomic():
            made = IdempotentRequest.objects.create(
                api_key_id=api_key_id, key_hash=key_hash, body_hash=body_hash, created_at=now, claimed_at=now
            )
    except IntegrityError:
        found = IdempotentRequest.objects.filter(api_key=api_key_id, key_hash=key_hash).first()
        if found is None:  # released in between; its sender is told to come again
            return Earlier(uuid.UUID(int=0), 0, None, "")
    else:
        return Claim(made.pk, made.attempt)
    if found.created_at <= now - KEPT:
        IdempotentRequest.objects.filter(pk=found.pk, created_at=found.created_at).delete()
        return claim(api_key_id=api_key_id, key=key, body=body, now=now)
    if bytes(found.body_hash) != body_hash:
        raise KeyReused
    earlier = Earlier(found.pk, found.attempt, found.turn_id, found.finish_reason)
    if found.turn_id is None and found.claimed_at <= now - STARTS_WITHIN:
        return reclaim(earlier, now=now) or earlier
    return earlier


def reclaim(earlier: Earlier, *, now: datetime) -> Claim | None:
    """Claim the request again, since nothing came of the earlier one; None when somebody else was faster."""
    taken = IdempotentRequest.objects.filter(pk=earlier.id, attempt=earlier.attempt).update(
        attempt=F("attempt") + 1, turn_id=None, finish_reason="", claimed_at=now
    )
    return Claim(earlier.id, earlier.attempt + 1) if taken else None


def bind(claimed: Claim, *, turn_id: uuid.UUID) -> bool:
    """Record the turn that the claim started; False when the claim was lost meanwhile: then the turn must not run."""
    mine = IdempotentRequest.objects.filter(pk=claimed.id, attempt=claimed.attempt)
    return bool(mine.update(turn_id=turn_id))


def settle(claimed: Claim, *, finish_reason: str) -> None:
    """Record how the reply ended, so that a replay can say so too."""
    IdempotentRequest.objects.filter(pk=claimed.id, attempt=claimed.attempt).update(finish_reason=finish_reason[:40])


def release(claimed: Claim) -> None:
    """Forget a claim that led to no turn, so that the same key may be sent again at once."""
    IdempotentRequest.objects.filter(pk=claimed.id, attempt=claimed.attempt, turn_id__isnull=True).delete()


def forget_old(*, now: datetime, limit: int | None = None) -> int:
    """Delete rows that are older than KEPT, at most `limit` of them, and return how many."""
    old = IdempotentRequest.objects.filter(created_at__lte=now - KEPT).order_by("created_at").values("pk")
    return IdempotentRequest.objects.filter(pk__in=old[:limit]).delete()[0]


def _hash(purpose: str, value: bytes) -> bytes:
    return salted_hmac(f"memoryproject idempotency 1 {purpose}", value, algorithm="sha256").digest()
