"""B1 and B2: the prompt block against a raw read, and opening a full scope against one reused AESGCM."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection
from django.utils import timezone

from benchmarks import world
from benchmarks.figures import Check, Context, Outcome, against_floor, alternate
from consent.scope import Scope
from facts.prompt import MAX_CHARACTERS, read_block
from facts.sealing import scope_keys


def raw_block(scope: Scope) -> Callable[[], str]:
    """Return B1's floor: a raw read, opened with one AESGCM and joined."""
    open_rows = world.raw_opener(scope)
    now = timezone.now()
    return lambda: "\n".join([f"- {label}: {body}" for label, body in open_rows(world.raw_rows(scope, now))])


@contextmanager
def statements() -> Iterator[list[str]]:
    """Collect the statements that go through Django's connection."""
    seen: list[str] = []

    def collect(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        seen.append(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(collect):
        yield seen


def measure_b1(_context: Context) -> Outcome:
    """The public read: gate, 200 facts, one line each. Gate and facts come in one round trip (P06)."""
    scope = world.full_member().scope
    now = timezone.now()
    with statements() as seen:
        block = read_block(scope, surface="api", now=now).block
    timing = alternate(raw_block(scope), lambda: read_block(scope, surface="api", now=now))
    return against_floor(
        timing,
        2.0,
        Check("round trips", len(seen), 1),
        Check("characters", len(block.text), MAX_CHARACTERS),
        facts_read=len(block.fact_ids) + len(block.left_out),
        facts_rendered=len(block.fact_ids),
    )


def measure_b2(_context: Context) -> Outcome:
    """Labels and bodies of 200 rows through `ScopeKeys`, which is made once, like the floor's AESGCM."""
    scope = world.full_member().scope
    rows = world.raw_rows(scope, timezone.now())
    open_rows = world.raw_opener(scope)
    keys = scope_keys(scope)
    opened = keys.open_all(rows)
    timing = alternate(lambda: open_rows(rows), lambda: keys.open_all(rows), pairs=400)
    return against_floor(timing, 1.3, Check("bad records", opened.bad, 0), records=len(opened.ids))
