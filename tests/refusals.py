"""A trigger by which the database refuses a change, as a broken extension or a stricter rule of an operator would."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from django.db import connection

LOUDLY: Final = "RAISE EXCEPTION 'Lives in Porto'"  # in words that quote a secret
QUIETLY: Final = "RETURN NULL"  # the row is passed over without an error


@contextmanager
def refusing(event: str, table: str, condition: str, *, by: str = LOUDLY) -> Iterator[None]:
    """Refuse to change (`UPDATE`) or to remove (`DELETE`) rows for which a condition on OLD holds."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION refuse_row() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN IF {condition} THEN {by}; END IF; "
            "IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; RETURN NEW; END $$"
        )
        cursor.execute(f"CREATE TRIGGER refuse BEFORE {event} ON {table} FOR EACH ROW EXECUTE FUNCTION refuse_row()")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TRIGGER refuse ON {table}")
            cursor.execute("DROP FUNCTION refuse_row")


def among(*rows: object) -> str:
    """Return the condition that OLD is one of the rows."""
    names = ", ".join(f"'{getattr(row, 'pk', row)}'" for row in rows)
    return f"OLD.id IN ({names})"
