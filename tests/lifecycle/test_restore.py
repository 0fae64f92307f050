"""The backup recipe of docs/keys.md with the real programs: what was erased stays erased after a restore."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone
from psycopg import sql

from accounts.models import Organization
from consent.scope import Scope
from encryption.erasure import destroy_organization_keys
from encryption.models import OrganizationKey, Secret
from encryption.services import forget_keys
from facts.services import list_facts
from lifecycle import local
from lifecycle.postgres_binaries import programs
from tests.factories import grant, make_agent, make_fact, make_member, make_organization
from tests.facts.test_races import address, outside, scratch

__all__ = ["scratch"]  # a fixture
KEY_TABLE = OrganizationKey._meta.db_table
KEY_TABLES = (KEY_TABLE, Secret._meta.db_table)


def member_of(slug: str) -> Scope:
    organization = make_organization(slug)
    agent = make_agent(organization, "guide")
    user = make_member(organization, agent, f"ana@{slug}.example")
    return grant(Scope(organization.pk, user.pk, agent.pk), user)


def read(scope: Scope) -> list[str | None]:
    forget_keys()
    return [row.opened.body if row.opened else None for row in list_facts(scope, now=timezone.now())]


def postgres(program: str, *arguments: str) -> None:
    subprocess.run(
        [programs(lambda _: None) / "bin" / program, *arguments], check=True, capture_output=True, timeout=60
    )


@pytest.fixture
def restored(scratch: str) -> Iterator[str]:
    """An empty database to restore into; the test turns to it with `connection.settings_dict`."""
    name = f"{connection.settings_dict['NAME']}_restored"
    outside(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
    yield name
    connection.close()
    outside(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.mark.django_db
def test_the_recipe_names_the_tables_of_the_keys_and_no_other_table_holds_them() -> None:
    recipe = (Path(__file__).parents[2] / "docs" / "keys.md").read_text()
    for table in KEY_TABLES:
        assert f"--exclude-table-data={table}" in recipe
        assert f" --table={table}" in recipe
    with connection.cursor() as cursor:
        cursor.execute("SELECT table_name FROM information_schema.columns WHERE column_name = 'wrapped'")
        assert {name for (name,) in cursor.fetchall()} == set(KEY_TABLES)


def test_the_recipe_finds_the_programs_and_the_address_of_the_embedded_database(
    capsys: pytest.CaptureFixture[str],
) -> None:
    recipe = (Path(__file__).parents[2] / "docs" / "keys.md").read_text()
    for code in re.findall(r"uv run python -c '(.+)'", recipe):
        exec(compile(code, "docs/keys.md", "exec"))
    folder, url = capsys.readouterr().out.splitlines()
    assert (Path(folder) / "pg_dump").exists()
    assert (Path(folder) / "psql").exists()
    assert url == local.dsn(local.data_dir())


@pytest.mark.processes
def test_a_restore_from_two_dumps_and_a_replay_leave_the_erased_unreadable(
    scratch: str, restored: str, tmp_path: Path, settings: Any
) -> None:
    settings.ERASURE_LEDGER = tmp_path / "erasures.jsonl"
    erased, kept = member_of("erased"), member_of("kept")
    for scope in (erased, kept):
        make_fact(scope)
    wrapped = [bytes(row.wrapped).hex() for row in OrganizationKey.objects.all()]
    long_lived, keys = tmp_path / "memory.sql", tmp_path / "keys.sql"
    postgres(
        "pg_dump", *(f"--exclude-table-data={table}" for table in KEY_TABLES), f"--file={long_lived}", address(scratch)
    )
    postgres(
        "pg_dump", "--data-only", *(f"--table={table}" for table in KEY_TABLES), f"--file={keys}", address(scratch)
    )
    destroy_organization_keys(organization_id=erased.organization_id, now=timezone.now())

    assert not any(text in long_lived.read_text() for text in wrapped)
    assert all(text in keys.read_text() for text in wrapped)
    for file in (long_lived, keys):
        postgres("psql", "--set=ON_ERROR_STOP=1", f"--dbname={address(restored)}", f"--file={file}")
    connection.close()
    connection.settings_dict["NAME"] = restored
    assert read(erased) == read(kept) == ["Lives in Porto."]  # so the replay comes before anybody is let in
    call_command("memory_replay_erasures")
    assert read(erased) == [None]
    assert read(kept) == ["Lives in Porto."]
    assert Organization.objects.count() == 2
