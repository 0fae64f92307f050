"""How long a connection waits for rows that somebody else holds; must not know any table."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

PATIENCE = "2s"  # a write holds its rows for milliseconds; who holds them longer hangs


def wait_at_most(limit: str | None = None) -> None:
    """To the end of the transaction, raise OperationalError (LockNotAvailable) rather than wait longer."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [limit or PATIENCE])


@contextmanager
def impatient() -> Iterator[None]:
    """Do the same inside the block, whatever transactions there are in it; call it outside of one."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, false)", [PATIENCE])
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout")
