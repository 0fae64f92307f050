"""What all management commands share: `--data-dir`, and a sentence for a traceback; must not print a URL or a row."""

import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from lifecycle.postgres import PostgresError

OPTION: Final = "--data-dir"
INTERRUPTED: Final = 130  # what shells say of a program that Ctrl-C ended


class BadArgument(Exception):
    """The command line cannot be used; the message says what to write."""


def take_data_dir(arguments: Sequence[str]) -> list[str]:
    """Return the command line without `--data-dir`, which is now MEMORYPROJECT_DATA_DIR. Raises BadArgument."""
    left: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            return [*left, argument, *rest]
        name, equals, value = argument.partition("=")
        if name != OPTION:
            left.append(argument)
            continue
        folder = value if equals else next(rest, "")
        if not folder.strip() or folder.startswith("--"):
            raise BadArgument(f"{OPTION} needs a folder: {OPTION} /path/to/folder.")
        os.environ["MEMORYPROJECT_DATA_DIR"] = str(Path(folder).expanduser().resolve())
    return left


@contextmanager
def quiet_logs() -> Iterator[None]:
    """Leave the terminal to who reads it: of the logs only warnings and worse are printed meanwhile."""
    root = logging.getLogger()
    before = root.level
    root.setLevel(max(before, logging.WARNING))
    try:
        yield
    finally:
        root.setLevel(before)


@contextmanager
def sentences(*known: type[Exception]) -> Iterator[None]:
    """End the program with exit code 1 and one sentence for errors that an operator can mend; `known` say theirs."""
    try:
        yield
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception as error:
        sentence = str(error) if isinstance(error, (BadArgument, PostgresError, *known)) else _of_database(error)
        if sentence is None or "--traceback" in sys.argv:
            raise
        sys.exit(f"memoryproject: {sentence}")


def _of_database(error: Exception) -> str | None:
    """Return what a database's error means for the operator, without its text: that may quote a row or a password."""
    from django.db import InterfaceError, OperationalError, ProgrammingError
    from psycopg import errors
    from psycopg_pool import PoolTimeout

    if isinstance(error, (OperationalError, InterfaceError, PoolTimeout)):
        return (
            "The database cannot be used: it does not answer, does not let us in, or ended the connection. "
            "Check that it runs, and the host, name, user and password in DATABASE_URL."
        )
    if isinstance(error, ProgrammingError) and isinstance(
        error.__cause__, (errors.UndefinedTable, errors.UndefinedColumn)
    ):
        return "The database's tables are missing or of another version: run manage.py migrate."
    return None
