"""A database of its own for the figures: made from the migrations, dropped afterwards; never touches a user's data."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg import sql

from lifecycle import postgres

PREFIX: Final = "benchmark_memoryproject_"  # the number of the process follows


@contextmanager
def scratch_database() -> Iterator[None]:
    """Set Django up against a new, migrated database on a crash-safe cluster kept in the cache folder.

    Call it once in a process, before anything imports the settings: it decides the environment that they read.
    Raises PostgresError.
    """
    folder = postgres.cache_dir() / "benchmarks"
    with postgres.lease(folder) as url:
        _set_environment(folder, url)
        import django

        django.setup()
        from django.db import connection

        _drop_leftovers(url)
        connection.settings_dict["TEST"]["NAME"] = f"{PREFIX}{os.getpid()}"
        name = connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
        try:
            yield
        finally:
            connection.close()
            _drop(url, name)


@contextmanager
def pooled(size: int = 1) -> Iterator[None]:
    """Give Django a pool, as a web process has one: a turn lets go of its connection while the model writes.

    Without a pool it would open another one each time, whose statements have no plans and whose server knows no tables.
    """
    from django.db import connection

    wrapper: Any = connection
    settings = connection.settings_dict
    before = settings["OPTIONS"], settings["CONN_MAX_AGE"]
    connection.close()
    settings["OPTIONS"] = settings["OPTIONS"] | {"pool": {"min_size": 1, "max_size": size, "timeout": 3}}
    settings["CONN_MAX_AGE"] = 0
    try:
        yield
    finally:
        connection.close()
        wrapper.close_pool()
        settings["OPTIONS"], settings["CONN_MAX_AGE"] = before


def _set_environment(folder: Path, url: str) -> None:
    from encryption.keys import new_keyring_json

    for name in [name for name in os.environ if name.startswith(("MEMORYPROJECT_", "AGENT_MEMORY_"))]:
        del os.environ[name]
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "memoryproject.settings",
        "DATABASE_URL": url,
        "MEMORYPROJECT_DATA_DIR": str(folder),
        "MEMORYPROJECT_SECRET_KEY": secrets.token_urlsafe(50),
        "MEMORYPROJECT_KEYRING": new_keyring_json(),
        "MEMORYPROJECT_LOG_LEVEL": "WARNING",
    }


def _drop_leftovers(url: str) -> None:
    """Drop the databases of runs that were killed."""
    with psycopg.connect(url, dbname="postgres", autocommit=True) as connection:
        found = connection.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [PREFIX])
        names = [str(name) for (name,) in found]
    for name in names:
        number = name.removeprefix(PREFIX)
        if number.isdigit() and not Path(f"/proc/{number}").exists():
            _drop(url, name)


def _drop(url: str, name: str) -> None:
    """Drop a database, also while a figure's own connection is open."""
    with psycopg.connect(url, dbname="postgres", autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
