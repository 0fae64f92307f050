"""How often a key, an organization or a network may ask (I06): counted in the database, so exact over all processes.

Must not know what is asked. Each bucket is one row that says when it is full again (GCRA, a token bucket without a
counter): as many requests as the limit at once, and then as many a minute, evenly.
"""

import ipaddress
import math
import uuid
from dataclasses import dataclass
from typing import Any, Final, Self

from django.conf import settings
from django.db import connection
from django.http import HttpRequest

from accounts.models import Rate
from database.prepared import prepared_cursor

PERIOD: Final = 60.0  # seconds over which a limit counts
UNUSED: Final = "1 hour"  # a bucket that has been full for longer says nothing any more

_TABLE: Final = Rate._meta.db_table


@dataclass(frozen=True, slots=True)
class Limit:
    """A bucket that holds `requests` and fills again in `PERIOD`; `of` says in a message whose it is."""

    bucket: str
    requests: int
    of: str

    @property
    def step(self) -> float:
        """The seconds after which there is one request more."""
        return PERIOD / self.requests


@dataclass(frozen=True, slots=True)
class Taken:
    """What a bucket answered: `full_in` and `wait` are in seconds, `wait` is 0 for an allowed request."""

    limit: Limit
    allowed: bool
    full_in: float

    @classmethod
    def read(cls, limit: Limit, row: tuple[Any, ...]) -> Self:
        return cls(limit, row[0], max(0.0, float(row[1])))

    @property
    def remaining(self) -> int:
        if not self.allowed:
            return 0
        # What is a thousandth short of a whole request is one: the clock went on between counting and telling.
        return max(0, math.floor((PERIOD - self.full_in) / self.limit.step + 0.001))

    @property
    def wait(self) -> int:
        return 0 if self.allowed else max(1, math.ceil(self.full_in + self.limit.step - PERIOD))

    def headers(self) -> dict[str, str]:
        """Return OpenAI's headers; its durations look like `1m30s`."""
        return {
            "x-ratelimit-limit-requests": str(self.limit.requests),
            "x-ratelimit-remaining-requests": str(self.remaining),
            "x-ratelimit-reset-requests": duration(self.full_in),
        }


def duration(seconds: float) -> str:
    """Return a duration as OpenAI writes it: `350ms`, `7.250s`, `1m0s`."""
    thousandths = math.ceil(seconds * 1000)
    if thousandths < 1000:
        return f"{thousandths}ms"
    minutes, rest = divmod(thousandths, 60_000)
    text = f"{rest / 1000:.3f}".rstrip("0").rstrip(".")
    return f"{minutes}m{text}s" if minutes else f"{text}s"


def take_request(*, key_id: uuid.UUID, organization_id: uuid.UUID) -> Taken | None:
    """Count one request for a key and its organization, in one statement; None when neither has a limit.

    A refused request costs nothing: not the organization when the key has no more, nor the key when the organization
    has none (that is a second statement). Returns the answer of whoever has less left.
    """
    limits = [
        Limit(f"key:{key_id.hex}", settings.RATE_KEY, "this API key"),
        Limit(f"organization:{organization_id.hex}", settings.RATE_ORGANIZATION, "this organization"),
    ]
    limits = [limit for limit in limits if limit.requests]
    if len(limits) < 2:
        return _take(limits[0]) if limits else None
    key, organization = limits
    both = f"""
        WITH key AS ({_sql(key)}), organization AS ({_sql(organization, "FROM key WHERE allowed")})
        SELECT key.allowed, key.seconds, organization.allowed, organization.seconds
        FROM key LEFT JOIN organization ON TRUE
    """  # noqa: S608
    with prepared_cursor() as cursor:
        cursor.execute(both, [key.bucket, organization.bucket])
        row = cursor.fetchone()
        by_key = Taken.read(key, row[:2])
        if row[2] is None:
            return by_key
        by_organization = Taken.read(organization, row[2:])
        if not by_organization.allowed:
            back = f"UPDATE {_TABLE} SET full_at = full_at - make_interval(secs => %s) WHERE bucket = %s"  # noqa: S608
            cursor.execute(back, [key.step, key.bucket])
    return min(by_key, by_organization, key=lambda taken: (taken.allowed, taken.remaining))


def take_failure(network: str) -> Taken | None:
    """Count one wrong API key of a network; None when there is no limit."""
    limit = Limit(f"network:{network}", settings.RATE_FAILED_KEYS, "this network")
    return _take(limit) if limit.requests else None


def address_of(request: HttpRequest) -> str | None:
    """Return the address that a request comes from, and the first of the 64 bits that one IPv6 line gets; else None.

    Behind a proxy that is the last address of `X-Forwarded-For`, the one that the proxy itself has put there.
    """
    text = request.META.get("REMOTE_ADDR", "")
    if settings.BEHIND_PROXY:
        text = request.headers.get("X-Forwarded-For", "").rpartition(",")[2].strip() or text
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address):
        return str(address.ipv4_mapped or ipaddress.IPv6Address(int(address) >> 64 << 64))
    return str(address)


def network_of(request: HttpRequest) -> str:
    """Return the network that a request comes from: an IPv4 address, or an IPv6 prefix."""
    address = address_of(request) or "unknown"
    return f"{address}/64" if ":" in address else address


def forget_unused() -> int:
    """Delete buckets that are full, and return how many; the next request makes them anew."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"DELETE FROM {_TABLE} WHERE bucket IN (SELECT bucket FROM {_TABLE} "  # noqa: S608 (our own name)
            "WHERE full_at < clock_timestamp() - %s::interval FOR UPDATE SKIP LOCKED)",
            [UNUSED],
        )
        return int(cursor.rowcount)


def _take(limit: Limit) -> Taken:
    with prepared_cursor() as cursor:
        cursor.execute(_sql(limit), [limit.bucket])
        return Taken.read(limit, cursor.fetchone())


def _sql(limit: Limit, source: str = "") -> str:
    """Return the statement that takes one from a bucket, its one parameter; the numbers in it are the settings'.

    The clock is the database's: hosts whose clocks differ count alike. It is read when the row is locked, so that who
    waited for the lock is judged by the time at which it has it. `allowed` is what this request is told.
    """
    now, step = "clock_timestamp()", f"interval '{limit.step:.9f} seconds'"
    then = f"GREATEST(held.full_at, {now}) + {step}"
    fits = f"{then} <= {now} + interval '{PERIOD} seconds'"
    return f"""
        INSERT INTO {_TABLE} AS held (bucket, full_at, allowed) SELECT %s, {now} + {step}, TRUE {source}
        ON CONFLICT (bucket) DO UPDATE
        SET full_at = CASE WHEN {fits} THEN {then} ELSE held.full_at END, allowed = {fits}
        RETURNING allowed, EXTRACT(EPOCH FROM full_at - {now}) AS seconds
    """  # noqa: S608 (no value of a request is in the text)
