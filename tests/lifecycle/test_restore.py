"""The backup recipe of docs/keys.md with the real programs: what was erased stays erased after a restore."""

import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone
from psycopg import sql

from accounts.models import Organization, User
from agents.models import Agent, Provider
from agents.operating import KEY_VARIABLE, Key, Wanted, add_provider, change_provider
from consent.gate import open_for_member
from consent.scope import Scope
from consent.services import withdraw_consent
from conversations.models import Message, Session
from conversations.sharing import delete_session
from encryption.deployment import open_secret
from encryption.erasure import destroy_organization_keys
from encryption.models import OrganizationKey, Secret
from encryption.services import forget_keys
from facts.erasure import Subject
from facts.models import Fact
from facts.rotation import retire_old, rotate
from facts.services import delete_fact, list_facts
from lifecycle import local
from lifecycle.doctor import findings
from lifecycle.postgres_binaries import programs
from lifecycle.services import delete_agent, delete_memory, delete_organization, delete_user
from tests.factories import grant, make_agent, make_fact, make_member, make_organization, make_session, make_turn
from tests.facts.test_races import address, outside, scratch

__all__ = ["scratch"]  # a fixture
KEY_TABLE = OrganizationKey._meta.db_table
KEY_TABLES = (KEY_TABLE, Secret._meta.db_table)
ROOT = Path(__file__).parents[2]
RECIPE = (ROOT / "docs" / "keys.md").read_text()


def member_of(slug: str) -> Scope:
    organization = make_organization(slug)
    agent = make_agent(organization, "guide")
    user = make_member(organization, agent, f"ana@{slug}.example")
    return grant(Scope(organization.pk, user.pk, agent.pk), user)


def read(scope: Scope) -> list[str | None]:
    forget_keys()
    return [row.opened.body if row.opened else None for row in list_facts(scope, now=timezone.now())]


def recipe(program: str, folder: Path, database: str) -> None:
    """Run the one block of the recipe that begins with a program, word for word, as a shell in a folder of dumps."""
    (block,) = [block for block in RECIPE.split("```")[1::2] if re.match(rf"\n(#.*\n)?{program} ", block)]
    environment = os.environ | {
        "PATH": f"{programs(lambda _: None) / 'bin'}:{os.environ['PATH']}",
        "DATABASE_URL": address(database),
    }
    command = block.replace("--file=lifecycle/", f"--file={ROOT}/lifecycle/")
    subprocess.run(["bash", "-ec", command], check=True, capture_output=True, timeout=60, cwd=folder, env=environment)


def constraints(database: str) -> set[tuple[str, str]]:
    """Return every constraint, index and trigger of a database by table and name."""
    with psycopg.connect(address(database)) as server:
        found = server.execute(
            "SELECT conrelid::regclass::text, conname FROM pg_constraint WHERE connamespace = 'public'::regnamespace "
            "UNION SELECT tablename, indexname FROM pg_indexes WHERE schemaname = 'public' "
            "UNION SELECT tgrelid::regclass::text, tgname FROM pg_trigger WHERE NOT tgisinternal"
        )
        return set(found.fetchall())


def turn_to(database: str) -> None:
    connection.close()
    connection.settings_dict["NAME"] = database


def plain(dump: Path) -> str:
    """Return a dump as the SQL that it stands for."""
    pg_restore = programs(lambda _: None) / "bin" / "pg_restore"
    return subprocess.run([pg_restore, "--file=-", dump], check=True, capture_output=True, text=True, timeout=60).stdout


def opened_key(provider: Provider) -> str:
    row = Provider.objects.get(pk=provider.pk)
    assert row.secret is not None
    return open_secret(row.secret, sealed_for=row.secret_place)


def wanted_provider(name: str, key: str = "sk-a-key-of-a-provider") -> Wanted:
    return Wanted(name=name, base_url="https://models.example/v1", timeout_seconds=30, key=Key(secret=key))


def store_provider_key(name: str) -> Provider:
    return add_provider(wanted=wanted_provider(name), actor=None)


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
    for table in KEY_TABLES:
        assert f"--exclude-table-data={table}" in RECIPE
        assert f" --table={table}" in RECIPE
    with connection.cursor() as cursor:
        cursor.execute("SELECT table_name FROM information_schema.columns WHERE column_name = 'wrapped'")
        assert {name for (name,) in cursor.fetchall()} == set(KEY_TABLES)


@pytest.mark.django_db
def test_between_data_and_constraints_every_foreign_key_between_the_two_dumps_is_seen_to() -> None:
    statements = (ROOT / "lifecycle" / "restore.sql").read_text()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conrelid::regclass::text, attname, confrelid::regclass::text FROM pg_constraint "
            "JOIN pg_attribute ON attrelid = conrelid AND attnum = ANY(conkey) WHERE contype = 'f' "
            "AND (conrelid::regclass::text = ANY(%s)) <> (confrelid::regclass::text = ANY(%s))",
            [list(KEY_TABLES), list(KEY_TABLES)],
        )
        keys = cursor.fetchall()
    assert len(keys) == 2
    for table, column, other in keys:
        assert re.search(rf"(DELETE FROM|UPDATE) {table}\n", statements)
        assert f"FROM {other} WHERE {other}.id = {column}" in statements


def test_the_recipe_finds_the_programs_and_the_address_of_the_embedded_database(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for code in re.findall(r"uv run python -c '(.+)'", RECIPE):
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
    provider = store_provider_key("stored")
    wrapped = [
        bytes(key)
        for rows in (OrganizationKey.objects, Secret.objects)
        for key in rows.values_list("wrapped", flat=True)
    ]
    recipe("pg_dump", tmp_path, scratch)
    destroy_organization_keys(organization_id=erased.organization_id, now=timezone.now())

    long_lived, keys = (plain(tmp_path / name) for name in ("memory.dump", "keys.dump"))
    assert len(wrapped) == 5
    assert not any(key.hex() in long_lived for key in wrapped)
    assert all(key.hex() in keys for key in wrapped)
    recipe("pg_restore", tmp_path, restored)
    assert constraints(restored) == constraints(scratch)
    turn_to(restored)
    assert read(erased) == read(kept) == ["Lives in Porto."]  # so the replay comes before anybody is let in
    call_command("memory_replay_erasures")
    assert read(erased) == [None]
    assert read(kept) == ["Lives in Porto."]
    assert Organization.objects.count() == 2
    assert opened_key(provider) == "sk-a-key-of-a-provider"


@pytest.mark.processes
def test_keys_that_are_newer_than_the_other_dump_are_restored_but_for_what_it_does_not_know(
    scratch: str, restored: str, tmp_path: Path
) -> None:
    kept = member_of("kept")
    make_fact(kept)
    older = [store_provider_key(name) for name in ("replaced", "replaced too", "as it was")]
    recipe("pg_dump", tmp_path, scratch)
    memory = (tmp_path / "memory.dump").read_bytes()
    make_fact(member_of("founded-later"))
    store_provider_key("set up later")
    for provider in older[:2]:
        wanted = Wanted(
            name=provider.name, base_url=provider.base_url, timeout_seconds=30, key=Key(secret="sk-another")
        )
        change_provider(provider=provider, wanted=wanted, actor=None)
    recipe("pg_dump", tmp_path, scratch)
    (tmp_path / "memory.dump").write_bytes(memory)

    recipe("pg_restore", tmp_path, restored)
    assert constraints(restored) == constraints(scratch)
    turn_to(restored)
    assert read(kept) == ["Lives in Porto."]
    assert set(OrganizationKey.objects.values_list("organization", flat=True)) == {kept.organization_id}
    assert Secret.objects.count() == 1
    assert opened_key(older[2]) == "sk-a-key-of-a-provider"
    lost = Provider.objects.filter(pk__in=[provider.pk for provider in older[:2]])
    assert all(KEY_VARIABLE.fullmatch(provider.api_key_env) for provider in lost)
    assert {provider.key_source for provider in lost} == {"environment"}


@pytest.mark.processes
def test_a_dump_of_before_a_retired_data_key_needs_the_keys_of_then(
    scratch: str, restored: str, tmp_path: Path
) -> None:
    kept = member_of("kept")
    make_fact(kept)
    recipe("pg_dump", tmp_path, scratch)
    (tmp_path / "memory.dump").rename(tmp_path / "older.dump")
    rotate([kept.organization_id], grace=0)
    recipe("pg_dump", tmp_path, scratch)
    (tmp_path / "keys.dump").rename(tmp_path / "before.dump")
    OrganizationKey.objects.update(created_at=timezone.now() - timedelta(hours=1))
    assert retire_old(kept.organization_id, now=timezone.now()) == [1]
    recipe("pg_dump", tmp_path, scratch)

    (tmp_path / "older.dump").rename(tmp_path / "memory.dump")
    recipe("pg_restore", tmp_path, restored)
    turn_to(restored)
    assert read(kept) == [None]
    OrganizationKey.objects.all().delete()
    restore = programs(lambda _: None) / "bin" / "pg_restore"
    subprocess.run([restore, "--data-only", f"--dbname={address(restored)}", tmp_path / "before.dump"], check=True)
    assert read(kept) == ["Lives in Porto."]


def told_by_database(scopes: dict[str, Scope]) -> dict[str, object]:
    """Return what members would read and who is remembered, and what is left of everything else that was deleted."""
    told: dict[str, object] = {name: (read(scope), str(open_for_member(scope))) for name, scope in scopes.items()}
    told["kept"] = read(scopes["kept"])
    told["keys"] = Counter(OrganizationKey.objects.values_list("state", flat=True))
    told["facts"] = Counter(Fact.objects.values_list("status", flat=True))
    told["messages"] = Message.objects.count()
    for model in (User, Agent, Organization, Session):
        told[model.__name__] = set(model._default_manager.filter(deleted_at=None).values_list("pk", flat=True))
    return told


@pytest.mark.processes
def test_nothing_that_was_erased_between_dump_and_restore_comes_back(
    scratch: str, restored: str, tmp_path: Path, settings: Any
) -> None:
    settings.ERASURE_LEDGER = tmp_path / "erasures.jsonl"
    names = ("person", "agent", "organization", "memory", "consent", "fact", "kept")
    scopes = {name: member_of(name) for name in names}
    facts = {name: make_fact(scope) for name, scope in scopes.items()}
    users = {name: User.objects.get(pk=scope.user_id) for name, scope in scopes.items()}
    agents = {name: Agent.objects.get(pk=scope.agent_id) for name, scope in scopes.items()}
    session = make_session(agents["kept"], users["kept"])
    make_turn(session, "I live in Porto.")
    recipe("pg_dump", tmp_path, scratch)

    now = timezone.now()
    delete_user(user=users["person"], actor=None, now=now)
    delete_agent(agent=agents["agent"], actor=None, now=now)
    gone = Organization.objects.get(pk=scopes["organization"].organization_id)
    delete_organization(organization=gone, actor=None, now=now)
    delete_memory(subject=Subject("user", users["memory"].pk), actor=None, now=now)
    withdraw_consent(scope=scopes["consent"], actor=users["consent"], now=now, surface="web")
    delete_fact(scope=scopes["fact"], fact_id=facts["fact"].pk, actor=users["fact"], now=now)
    delete_session(session=session, actor=users["kept"], now=now)
    told = told_by_database(scopes)

    recipe("pg_restore", tmp_path, restored)
    turn_to(restored)
    assert {name: read(scope) for name, scope in scopes.items()} == {name: ["Lives in Porto."] for name in names}
    call_command("memory_replay_erasures")
    assert told_by_database(scopes) == told
    assert [problem for _name, problems in findings() for problem in problems] == []
