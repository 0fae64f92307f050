"""A cursor for the few statements that run in every turn; must not know any table."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db import connection
from django.db.backends.utils import CursorWrapper


@contextmanager
def prepared_cursor() -> Iterator[CursorWrapper]:
    """Give a cursor on Django's connection that binds on the server, fetches binary and lets PostgreSQL keep the plan.

    Django's own cursor puts the values into the text and has every statement planned anew, which for short ones takes
    longer than their execution. Statements must be constant texts, every value in them a parameter.
    """
    # What Django's own cursor does first: look whether the connection still lives, and connect when needed.
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    with psycopg.Cursor(connection.connection) as cursor:
        cursor.format = psycopg.pq.Format.BINARY
        make: Callable[[Any], CursorWrapper] = (
            connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
        )
        yield make(cursor)


@contextmanager
def in_one_trip() -> Iterator[None]:
    """Send the statements inside without waiting for each one's answer; only in a transaction.

    The server runs them one after another, each seeing what was committed before it began. An error of any of them is
    raised when the block ends, or when a row is fetched. How many rows one has changed is not known inside, so nothing
    may stand there that depends on it.
    """
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    with connection.wrap_database_errors, connection.connection.pipeline():
        yield
