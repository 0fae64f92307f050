"""The two statements of recording candidates as text (B4), run under the scope's lock; must not decide anything.

Text, because Django compiles each query set anew: for these two that takes longer than PostgreSQL needs.
"""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from consent.gate import Rows
from consent.scope import Scope
from database.prepared import prepared_cursor
from facts.models import LIVE


class NewRow(NamedTuple):
    """What differs between the rows of one recording."""

    id: uuid.UUID
    memory_type: str
    status: str
    key_hash: bytes
    content_hash: bytes
    sealed: bytes
    confidence: float
    source_ids: tuple[uuid.UUID, ...]
    expires_at: datetime


# What stands under the new facts' keys, and in one row more, without a key, how much there is in all.
_HELD: Final = f"""
WITH live AS (
    SELECT key_hash, content_hash, expires_at <= %s AS expired
    FROM facts_fact
    WHERE organization_id = %s AND user_id = %s AND agent_id = %s AND status IN ({", ".join(f"'{s}'" for s in LIVE)})
)
SELECT key_hash, content_hash, 0 AS live, 0 AS expired FROM live WHERE NOT expired AND key_hash = ANY(%s::bytea[])
UNION ALL
SELECT NULL, NULL, count(*) FILTER (WHERE NOT expired), count(*) FILTER (WHERE expired) FROM live
"""  # noqa: S608 (our own constants)
# Every column comes as one text, which psycopg passes on; it would take as long over arrays as PostgreSQL over them.
# Sources are text in their array too: an array of arrays must be a rectangle, and facts cite one to five messages.
_INSERT: Final = """
INSERT INTO facts_fact (organization_id, user_id, agent_id, dek_version, row_version, created_at, updated_at,
    id, memory_type, status, key_hash, content_hash, sealed, confidence, source_ids, expires_at)
SELECT %s, %s, %s, %s, 1, %s, %s,
    id, memory_type, status, key_hash, content_hash, sealed, confidence, source_ids::uuid[], expires_at
FROM unnest(%s::uuid[], %s::text[], %s::text[], %s::bytea[], %s::bytea[], %s::bytea[], %s::float8[], %s::text[],
    %s::timestamptz[])
    AS new (id, memory_type, status, key_hash, content_hash, sealed, confidence, source_ids, expires_at)
ON CONFLICT DO NOTHING
"""


@dataclass(frozen=True, slots=True)
class Held:
    """What a scope holds before a recording: live facts, expired ones, and (key hash, content hash) beside the new."""

    live: int = 0
    expired: int = 0
    beside: tuple[tuple[bytes, bytes], ...] = ()

    @classmethod
    def of(cls, rows: Sequence[tuple[Any, ...]]) -> "Held":
        beside = tuple((key, content) for key, content, _live, _expired in rows if key is not None)
        return cls(sum(row[2] for row in rows), sum(row[3] for row in rows), beside)


def held_beside(scope: Scope, key_hashes: Sequence[bytes], *, now: datetime) -> Rows:
    """Return the query whose rows make a `Held`."""
    return Rows(
        ("key_hash", "content_hash", "live", "expired"),
        _HELD,
        (now, scope.organization_id, scope.user_id, scope.agent_id, _array(map(_bytes, key_hashes))),
    )


def insert_facts(scope: Scope, rows: Sequence[NewRow], *, dek_version: int, now: datetime) -> None:
    """Insert new facts in one statement.

    Nothing can be in the way under the lock; the constraint is the second line of defense.
    """
    columns = (
        _array(row.id.hex for row in rows),
        _array(row.memory_type for row in rows),
        _array(row.status for row in rows),
        *(_array(map(_bytes, column)) for column in zip(*(row[3:6] for row in rows), strict=True)),
        _array(repr(row.confidence) for row in rows),
        _array(f'"{_array(source.hex for source in row.source_ids)}"' for row in rows),
        _array(row.expires_at.isoformat() for row in rows),
    )
    with prepared_cursor() as cursor:
        cursor.execute(_INSERT, [scope.organization_id, scope.user_id, scope.agent_id, dek_version, now, now, *columns])


def _array(elements: Iterable[str]) -> str:
    """Return PostgreSQL's text of an array; no element holds a comma, a brace or a space unless it is quoted."""
    return "{" + ",".join(elements) + "}"


def _bytes(value: bytes) -> str:
    return f'"\\\\x{value.hex()}"'
