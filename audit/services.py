"""Writes audit events, inside the transaction of the act that they tell of."""

import uuid
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Protocol

import structlog
from django.db import connection
from django.utils import timezone
from psycopg.types.json import Jsonb

from audit.models import AuditEvent
from database.prepared import prepared_cursor

type Detail = str | int | float | bool | None


class Actor(Protocol):
    """Whoever acts; a user row of the app above."""

    pk: uuid.UUID


def record(
    action: str,
    *,
    actor: Actor | None,
    organization_id: uuid.UUID | None = None,
    subject_user_id: uuid.UUID | None = None,
    agent_id: uuid.UUID | None = None,
    object_id: uuid.UUID | None = None,
    surface: str = "",
    reason: str = "",
    details: Mapping[str, Detail] | None = None,
) -> None:
    """Append one event (T03). `details` takes ids, counts and codes; never text that a member or a model wrote."""
    request_id = str(structlog.contextvars.get_contextvars().get("request_id", ""))
    values: dict[str, Any] = {
        "at": timezone.now(),
        "action": action,
        "actor_id": actor.pk if actor is not None else None,
        "organization_id": organization_id,
        "subject_user_id": subject_user_id,
        "agent_id": agent_id,
        "object_id": object_id,
        "surface": surface,
        "reason": reason,
        "request_id": request_id[:64],
        "details": Jsonb(dict(details or {})),
    }
    # Text, because compiling an instance's INSERT takes Django four times as long as PostgreSQL needs to do it.
    with prepared_cursor() as cursor:
        cursor.execute(_insert_sql(tuple(values)), list(values.values()))


def record_scopes(action: str, scopes: Iterable[tuple[uuid.UUID, uuid.UUID, uuid.UUID, int]]) -> None:
    """Append one event without an actor for each (organization, subject user, agent, count), in one statement."""
    columns = [list(column) for column in zip(*scopes, strict=True)]
    if not columns:
        return
    table = connection.ops.quote_name(AuditEvent._meta.db_table)
    with prepared_cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} (at, action, organization_id, subject_user_id, agent_id, surface, reason, "  # noqa: S608
            "request_id, details) SELECT %s, %s, organization, member, agent, '', '', '', "
            "jsonb_build_object('count', n) FROM unnest(%s::uuid[], %s::uuid[], %s::uuid[], %s::int[]) "
            "AS scopes (organization, member, agent, n)",
            [timezone.now(), action, *columns],
        )


@cache
def _insert_sql(columns: tuple[str, ...]) -> str:
    table = connection.ops.quote_name(AuditEvent._meta.db_table)
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join(['%s'] * len(columns))})"  # noqa: S608
