"""The cast and the cluster that every test shares."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.db.backends.postgresql.operations import DatabaseOperations
from django.test import Client
from django.test.utils import setup_databases, teardown_databases
from psycopg import sql

from accounts.models import Organization, User
from agents.models import Agent
from consent.scope import Scope
from encryption.services import forget_keys
from tests import factories
from tests import settings as test_settings
from tests.stub_server import Script, serving


@pytest.fixture(scope="session", autouse=True)
def _cluster() -> Iterator[None]:
    """The embedded PostgreSQL, unless DATABASE_URL named another one."""
    if os.environ["DATABASE_URL"] != test_settings.LEASE.url:
        yield
        return
    with test_settings.LEASE as url:
        drop_leftovers(url)
        yield


def drop_leftovers(url: str) -> None:
    """Drop the databases of test runs that were killed; their names end in the number of their process."""
    with psycopg.connect(url, dbname="postgres", autocommit=True) as server:
        names = server.execute("SELECT datname FROM pg_database WHERE datname LIKE 'test_memoryproject_%'")
        for (name,) in names.fetchall():
            number = name.split("_")[2]
            if number.isdigit() and not Path(f"/proc/{number}").exists():
                server.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(scope="session")
def django_db_modify_db_settings(_cluster: None) -> None:
    """The test database is made after the cluster is up."""


@pytest.fixture(scope="session")
def migrated(django_db_setup: None, django_db_blocker: Any) -> Iterator[str]:
    """The name of the migrated test database, for real processes to work on a copy; made if no other test needs it."""
    made = None
    with django_db_blocker.unblock():
        if not str(connection.settings_dict["NAME"]).startswith("test_"):
            made = setup_databases(verbosity=0, interactive=False)
    yield str(connection.settings_dict["NAME"])
    if made is not None:
        with django_db_blocker.unblock():
            teardown_databases(made, verbosity=0)


@pytest.fixture(scope="session", autouse=True)
def _flush_past_the_audit() -> Iterator[None]:
    """Let the flush after a transactional test empty the audit tables; everywhere else their triggers are on.

    The switch is set and reset in the flush's own transaction, so no test ever sees it off.
    """
    flush_as_ever = DatabaseOperations.sql_flush

    def sql_flush(self: DatabaseOperations, style: Any, tables: Sequence[str], **options: Any) -> list[str]:
        guarded = [table for table in tables if table.startswith("audit_")]
        off, on = ([f"ALTER TABLE {table} {word} TRIGGER USER" for table in guarded] for word in ("DISABLE", "ENABLE"))
        return [*off, *flush_as_ever(self, style, tables, **options), *on]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DatabaseOperations, "sql_flush", sql_flush)
        yield


@pytest.fixture(autouse=True)
def _no_kept_keys() -> Iterator[None]:
    """Each test has organizations of its own; unwrapped keys must not outlive them."""
    forget_keys()
    yield
    forget_keys()


@pytest.fixture
def organization(db: None) -> Organization:
    return factories.make_organization("acme")


@pytest.fixture
def agent(organization: Organization) -> Agent:
    return factories.make_agent(organization, "guide")


@pytest.fixture
def owner(organization: Organization, agent: Agent) -> User:
    """A member who may read and update the agent; has not granted consent."""
    return factories.make_member(organization, agent, "ana@acme.example", name="Ana")


@pytest.fixture
def colleague(organization: Organization, agent: Agent) -> User:
    """Another member with the same rights on the same agent."""
    return factories.make_member(organization, agent, "ben@acme.example", name="Ben")


@pytest.fixture
def stranger(db: None) -> User:
    """A member of another organization, with all rights on an agent there."""
    other = factories.make_organization("other")
    return factories.make_member(other, factories.make_agent(other, "guide"), "sam@other.example", name="Sam")


@pytest.fixture
def scope(owner: User, agent: Agent) -> Scope:
    return Scope(agent.organization_id, owner.pk, agent.pk)


@pytest.fixture
def consented(scope: Scope, owner: User) -> Scope:
    """The owner's scope, with consent granted."""
    return factories.grant(scope, owner)


@pytest.fixture
def client_for() -> Callable[..., Client]:
    def sign_in(user: User, **options: Any) -> Client:
        client = Client(**options)
        client.force_login(user, backend="accounts.authentication.EmailBackend")
        return client

    return sign_in


@pytest.fixture
def model_server() -> Iterator[Script]:
    """A scripted model server; point an agent at its `url`."""
    with serving(Script()) as script:
        yield script
