"""The two statements of recording candidates as text (B4), run under the scope's lock; must not decide anything.

Text, because Django compiles each query set anew: for these two that takes longer than PostgreSQL needs.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any, Final

from django.db import connection

from consent.gate import Rows, prepared_cursor
from consent.scope import Scope
from facts.models import LIVE, Fact

_LIVE: Final = """
SELECT key_hash, content_hash, expires_at <= %s AS expired
FROM facts_fact
WHERE organization_id = %s AND user_id = %s AND agent_id = %s AND status = ANY(%s)
"""


def live_hashes(scope: Scope, *, now: datetime) -> Rows:
    """Return the query for (key hash, content hash, expired) of the scope's live facts."""
    return Rows(
        ("key_hash", "content_hash", "expired"),
        _LIVE,
        (now, scope.organization_id, scope.user_id, scope.agent_id, list(LIVE)),
    )


def insert_facts(rows: Sequence[Fact]) -> None:
    """Insert new facts in one statement, each column an array.

    Nothing can be in the way under the lock; the constraint is the second line of defense.
    """
    fields = [field for field in Fact._meta.concrete_fields if field.attname != "source_ids"]
    columns: list[list[Any]] = [[getattr(row, field.attname) for row in rows] for field in fields]
    # An array of arrays must be a rectangle, and facts cite one to five messages.
    sources = ["{" + ",".join(map(str, row.source_ids)) + "}" for row in rows]
    with prepared_cursor() as cursor:
        cursor.execute(_insert_sql(), [*columns, sources])


@cache
def _insert_sql() -> str:
    fields = [field for field in Fact._meta.concrete_fields if field.attname != "source_ids"]
    names = ", ".join(str(field.column) for field in fields)
    types = (field.cast_db_type(connection) or "" for field in fields)
    arrays = ", ".join(f"%s::{kind.partition('(')[0]}[]" for kind in types)
    return (
        f"INSERT INTO facts_fact ({names}, source_ids) "  # noqa: S608
        f"SELECT {names}, source_ids::uuid[] FROM unnest({arrays}, %s::text[]) AS new ({names}, source_ids) "
        "ON CONFLICT DO NOTHING"
    )
