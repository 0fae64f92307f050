"""B9: a night of retention against one DELETE of the same rows, each on a fresh copy of the same table.

`RETENTION_ROWS=1000000 python -m benchmarks b9` measures a million rows instead of a hundred thousand.
"""

import itertools
import os
import resource
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection
from django.utils import timezone

from benchmarks import world
from benchmarks.figures import Check, Outcome, Timing
from facts.due import BATCH, Limits
from facts.models import Fact
from facts.retention import sweep

ROWS: Final = 100_000
KEPT: Final = 4  # one row in so many more is too young to go
PER_SCOPE: Final = 250  # rows of one member
PAIRS: Final = 5
BATCH_MS: Final = 150.0
_TABLE: Final = Fact._meta.db_table


def measure_b9(_context: object) -> Outcome:
    """Delete the old tombstones of a table in batches, and the same rows in one statement."""
    rows = int(os.environ.get("RETENTION_ROWS", str(ROWS)))
    now = timezone.now()
    floors, subjects, batches = [], [], list[list[float]]()
    with _facts_put_aside():
        _populate(rows, now)
        before = _megabytes()
        for _ in range(PAIRS):
            _restore()
            floors.append(_one_delete(now))
            _restore()
            seconds, times = _night(rows, now)
            subjects.append(seconds)
            batches.append(times)
    timing = Timing(statistics.median(floors) * 1000, statistics.median(subjects) * 1000, len(floors))
    # Of each batch the median over the nights: the worst of a night on a shared machine is the machine's.
    medians = [statistics.median(column) * 1000 for column in zip(*batches, strict=True)]
    return Outcome(
        (
            Check("ratio", timing.ratio, 3.0),
            Check("ratio", timing.ratio, 2.5, target=True),
            Check("longest batch, ms", max(medians), BATCH_MS),
            Check("last batches over first", _ends(medians), 2.0),
        ),
        timing,
        {
            "rows": rows,
            "batches": len(medians),
            "longest batch of any night, ms": round(max(map(max, batches)) * 1000, 1),
            "process at most, MB": _megabytes(),
            "of which grown since the start, MB": _megabytes() - before,
        },
    )


@contextmanager
def _facts_put_aside() -> Iterator[None]:
    """Let this figure have the table for itself, and the others find it as it was."""
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE retention_aside AS TABLE {_TABLE}")
        try:
            yield
        finally:
            cursor.execute(f"TRUNCATE {_TABLE}")
            cursor.execute(f"INSERT INTO {_TABLE} SELECT * FROM retention_aside")
            cursor.execute("DROP TABLE IF EXISTS retention_aside, retention_source")
            cursor.execute("DELETE FROM accounts_user WHERE email LIKE 'old%@bench.example'")
            cursor.execute(f"VACUUM ANALYZE {_TABLE}")


def _megabytes() -> int:
    """Return the most memory that the process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _ends(times: list[float]) -> float:
    """Return the last full batches' time over the first ones'; three each, so that one checkpoint decides nothing."""
    return statistics.median(times[-4:-1]) / statistics.median(times[:3])


def _populate(rows: int, now: datetime) -> None:
    """Fill a side table with tombstones of many members: in the order of their writes, deleted up to 180 days later."""
    member = world.new_member()
    base: dict[str, Any] = {"organization": member.agent.organization_id, "agent": member.agent.pk, "now": now}
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO accounts_user (id, password, is_superuser, email, name, is_staff, is_active, time_zone, "
            "language, created_at) SELECT gen_random_uuid(), '!', false, 'old' || n || '@bench.example', '', false, "
            "true, 'UTC', 'en', now() FROM generate_series(1, %s) n",
            [rows // PER_SCOPE + 1],
        )
        cursor.execute("CREATE TABLE retention_source (LIKE facts_fact)")
        cursor.execute(
            "WITH members AS (SELECT id, row_number() OVER () - 1 AS n FROM accounts_user WHERE email LIKE 'old%%') "
            "INSERT INTO retention_source (id, organization_id, user_id, agent_id, memory_type, status, key_hash, "
            "content_hash, sealed, dek_version, row_version, confidence, source_ids, expires_at, created_at, "
            "updated_at, deleted_at) SELECT gen_random_uuid(), %(organization)s, members.id, %(agent)s, 'semantic', "
            "'deleted', sha256(int8send(g)), sha256(int8send(g + 1)), decode(repeat(md5(g::text), 5), 'hex'), 1, 1, "
            "0.9, ARRAY[gen_random_uuid()], at + interval '29 days', at - interval '1 hour', at, at "
            "FROM (SELECT g, LEAST(%(now)s, created + interval '180 days' * random()) AS at FROM (SELECT g, %(now)s - "
            "CASE WHEN g > %(due)s THEN interval '1 day' * 179 ELSE interval '361 days' + interval '1 day' * 700 * "
            "(%(due)s - g) / %(due)s END AS created FROM generate_series(1, %(all)s) g) facts) rows "
            "JOIN members ON members.n = g %% %(members)s ORDER BY g",
            base | {"due": rows, "all": rows * (KEPT + 1) // KEPT, "members": rows // PER_SCOPE},
        )


def _restore() -> None:
    """Put the rows back and let the planner, the vacuum and the checkpoint settle."""
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {_TABLE}")
        cursor.execute(f"INSERT INTO {_TABLE} SELECT * FROM retention_source")
        cursor.execute(f"VACUUM ANALYZE {_TABLE}")
        cursor.execute("CHECKPOINT")


def _one_delete(now: datetime) -> float:
    until = now - timedelta(days=180)
    started = time.perf_counter()
    world.raw_connection().execute(f"DELETE FROM {_TABLE} WHERE status = 'deleted' AND deleted_at <= %s", [until])
    return time.perf_counter() - started


def _night(rows: int, now: datetime) -> tuple[float, list[float]]:
    """Sweep; return seconds in all and of each batch but the first."""
    marks: list[float] = []
    limits = Limits(total=rows * 2, per_scope=PER_SCOPE * 2, batch=BATCH)
    started = time.perf_counter()
    swept = sweep(now=now, limits=limits, step=lambda _count: marks.append(time.perf_counter()))
    seconds = time.perf_counter() - started
    assert not swept.waiting
    assert sum(swept.done.values()) == rows, swept.done
    # The time before the first commit has the survey in it, which is no batch: it holds no lock.
    return seconds, [end - begin for begin, end in itertools.pairwise(marks)]
