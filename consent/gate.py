"""The gate in front of memory (F01, F13): the only maker of `ConsentedScope`.

It stands open when the kill switch is off, the surface is eligible, user, membership and agent are live, and the
member has granted consent. `open_with` asks all of that and fetches rows in one statement.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any, Final

from django.conf import settings
from django.db import connection

from accounts.models import Membership, Organization, User
from agents.models import Agent
from consent.models import Consent
from consent.scope import ConsentedScope, Scope
from conversations.surfaces import uses_facts
from database.prepared import in_one_trip, prepared_cursor

ON: Final = frozenset({"1", "true", "on", "enabled"})
OFF: Final = frozenset({"", "0", "false", "off", "disabled", "no"})


class Closed(StrEnum):
    """Why the gate is shut."""

    KILL_SWITCH = "kill_switch"
    SURFACE = "surface"
    USER = "user"
    MEMBERSHIP = "membership"
    AGENT = "agent"
    NO_CONSENT = "no_consent"
    WITHDRAWN = "withdrawn"
    CHANGED = "consent_changed"  # withdrawn, or withdrawn and granted again, since the gate stood open


def kill_switch_on() -> bool:
    """Whether AGENT_MEMORY_KILL_SWITCH turns memory off. An unreadable value leaves memory on (F13)."""
    return str(settings.AGENT_MEMORY_KILL_SWITCH).strip().lower() in ON


def kill_switch_readable() -> bool:
    return str(settings.AGENT_MEMORY_KILL_SWITCH).strip().lower() in ON | OFF


def _tables() -> dict[str, str]:
    models = {"agent": Agent, "organization": Organization, "user": User, "membership": Membership, "consent": Consent}
    return {name: connection.ops.quote_name(model._meta.db_table) for name, model in models.items()}


_GATE: Final = """
SELECT u.deleted_at IS NULL AND u.is_active AS user_live,
       m.id IS NOT NULL AS member,
       a.deleted_at IS NULL AND o.deleted_at IS NULL AS agent_live,
       c.granted, c.epoch, c.granted_at
FROM {agent} a
JOIN {organization} o ON o.id = a.organization_id
JOIN {user} u ON u.id = %s
LEFT JOIN {membership} m ON m.organization_id = o.id AND m.user_id = u.id
LEFT JOIN {consent} c ON c.organization_id = o.id AND c.user_id = u.id AND c.agent_id = a.id
WHERE a.id = %s AND o.id = %s
"""
GATE_COLUMNS: Final = 6


@dataclass(frozen=True, slots=True)
class Rows:
    """A SELECT of this code base to run behind the gate: its columns, its text, every value in it a parameter.

    Text, because Django compiles a query set anew each time: that alone takes longer than PostgreSQL needs.
    """

    columns: tuple[str, ...]
    sql: str
    parameters: tuple[Any, ...]


_NO_ROWS: Final = Rows(("none",), "SELECT NULL AS none WHERE false", ())


@cache
def _gate_sql() -> str:
    return _GATE.format(**_tables())


def _judge(scope: Scope, row: Sequence[Any] | None) -> ConsentedScope | Closed:
    if row is None:
        return Closed.AGENT
    user_live, member, agent_live, granted, epoch, granted_at = row[:GATE_COLUMNS]
    if not user_live:
        return Closed.USER
    if not member:
        return Closed.MEMBERSHIP
    if not agent_live:
        return Closed.AGENT
    if granted is None:
        return Closed.NO_CONSENT
    return ConsentedScope(scope, epoch, granted_at) if granted else Closed.WITHDRAWN


def _parameters(scope: Scope) -> tuple[Any, ...]:
    return (scope.user_id, scope.agent_id, scope.organization_id)


def open_gate(scope: Scope, *, surface: str) -> ConsentedScope | Closed:
    """Return the consented scope, or why not. At most one query."""
    if not uses_facts(surface):
        return Closed.SURFACE
    return open_for_member(scope)


def open_for_member(scope: Scope) -> ConsentedScope | Closed:
    """The same without a surface, for the member's own edit and prompt view on the Memory tab."""
    if kill_switch_on():
        return Closed.KILL_SWITCH
    with connection.cursor() as cursor:
        cursor.execute(_gate_sql(), _parameters(scope))
        return _judge(scope, cursor.fetchone())


def open_with(
    scope: Scope, rows: Rows, *, surface: str | None
) -> tuple[ConsentedScope | Closed, list[tuple[Any, ...]]]:
    """Ask the gate and fetch `rows` in one statement, in their order; no rows come when it is shut.

    `surface` is None for the member's own prompt view.
    """
    if kill_switch_on():
        return Closed.KILL_SWITCH, []
    if surface is not None and not uses_facts(surface):
        return Closed.SURFACE, []
    with prepared_cursor() as cursor:
        cursor.execute(_gated(rows.columns, rows.sql), (*_parameters(scope), *rows.parameters))
        row = cursor.fetchone()
    state = _judge(scope, row)
    if row is None or isinstance(state, Closed) or row[GATE_COLUMNS] is None:
        return state, []
    return state, list(zip(*row[GATE_COLUMNS:], strict=True))


@cache
def _gated(columns: tuple[str, ...], rows: str) -> str:
    """Return the statement that answers in one row: what the gate looks at, and each column of `rows` as an array."""
    arrays = ", ".join(f"array_agg({column})" for column in columns)
    return (
        f"SELECT gate.*, found.* FROM ({_gate_sql()}) gate "  # noqa: S608
        f"LEFT JOIN LATERAL (SELECT {arrays} FROM ({rows}) ordered) found "
        "ON gate.user_live AND gate.member AND gate.agent_live AND gate.granted"
    )


def hold(scope: Scope, *, epoch: int | None = None) -> ConsentedScope | Closed:
    """Lock the consent row of the scope until the transaction ends and judge the gate anew; call it in a transaction.

    The row is the mutex of the scope: cap, uniqueness and withdrawal are decided under it. `epoch` is the one seen
    when the gate stood open before; another one means that consent changed meanwhile.
    """
    return hold_with(scope, _NO_ROWS, epoch=epoch)[0]


def hold_with(
    scope: Scope, rows: Rows, *, epoch: int | None = None
) -> tuple[ConsentedScope | Closed, list[tuple[Any, ...]]]:
    """Do as `hold` does, and fetch `rows` under the lock in the statement that judges."""
    if kill_switch_on():
        return Closed.KILL_SWITCH, []
    with in_one_trip(), prepared_cursor() as cursor:
        cursor.execute(_lock_sql(), (scope.organization_id, scope.user_id, scope.agent_id))
        # A second statement: it sees what was committed while the lock was waited for.
        state, found = open_with(scope, rows, surface=None)
    if isinstance(state, ConsentedScope) and epoch is not None and state.epoch != epoch:
        return Closed.CHANGED, []
    return state, found


@cache
def _lock_sql() -> str:
    table = _tables()["consent"]
    return (
        f"SELECT id FROM {table} WHERE organization_id = %s AND user_id = %s AND agent_id = %s "  # noqa: S608
        "FOR NO KEY UPDATE"
    )
