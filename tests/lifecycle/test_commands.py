"""The management commands: setup, create_api_key, replay and doctor."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from accounts.authentication import principal_for
from accounts.models import ApiKey, Membership, Organization, User
from accounts.services import revoke_api_key
from agents.models import Agent
from consent.models import Consent
from consent.scope import Scope
from conversations.models import Message
from encryption.services import forget_keys
from facts.models import Fact
from lifecycle import quickstart
from lifecycle.setup_file import Applied
from tests import factories

pytestmark = pytest.mark.django_db

SETUP = """
[[organization]]
slug = "acme"
name = "Acme"
[[user]]
email = "ana@acme.example"
name = "Ana"
password = "only-for-trying-out"
staff = false
time_zone = "Europe/Berlin"
[[membership]]
organization = "acme"
user = "ana@acme.example"
role = "owner"
[[agent]]
organization = "acme"
slug = "guide"
name = "Guide"
system_prompt = "You are a helpful guide."
provider = "openai"
base_url = "http://127.0.0.1:9999/v1"
model = "stub-1"
api_key_env = "STUB_KEY"
[[grant]]
agent = "acme/guide"
user = "ana@acme.example"
permissions = ["agent:read", "agent:update"]
"""


def run(command: str, *arguments: object, **options: Any) -> str:
    out = StringIO()
    call_command(command, *map(str, arguments), stdout=out, stderr=StringIO(), **options)
    return out.getvalue()


@pytest.fixture
def setup_file(tmp_path: Path) -> Path:
    file = tmp_path / "setup.toml"
    file.write_text(SETUP)
    return file


def test_setup_applies_the_file_and_a_second_time_changes_nothing(setup_file: Path) -> None:
    run("setup", setup_file)
    run("setup", setup_file)
    assert (Organization.objects.count(), User.objects.count(), Agent.objects.count()) == (1, 1, 1)
    agent = Agent.objects.get()
    assert (agent.public_name, agent.model, agent.provider.base_url) == (
        "acme/guide",
        "stub-1",
        "http://127.0.0.1:9999/v1",
    )
    assert User.objects.get().check_password("only-for-trying-out")
    assert Membership.objects.get().role == "owner"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('slug = "acme"', 'slug = "Ac me"', "'slug' must be"),
        ('slug = "acme"', 'slugg = "acme"', "'slug' is missing"),
        ('name = "Acme"', "transcript_days = 0", "'transcript_days' must be 1 to 3650"),
        ('name = "Acme"', 'transcript_days = "90"', "'transcript_days' must be a whole number"),
        ('name = "Ana"', 'language = "tlh"', "'tlh' is no language here"),
        ("staff = false", 'staff = "no"', "'staff' must be true or false"),
        ("Europe/Berlin", "Berlin", "'Berlin' is no time zone; use a name like Europe/Berlin"),
        ("only-for-trying-out", "short", "at least 12 characters"),
        ("only-for-trying-out", "ana@acme.example", "too similar to the e-mail address"),
        ('role = "owner"', 'role = "boss"', "'role' must be one of"),
        ('"agent:read"', '"agent:rule"', "'agent:rule' is no permission"),
        ('agent = "acme/guide"', 'agent = "acme/none"', "there is no agent 'acme/none'"),
        ('name = "Guide"', 'nmae = "Guide"', "'nmae' is not known here"),
        ("[[grant]]", "[[grants]]", "Unknown table"),
        ("http://", "ftp://", "http"),
        ("[[organization]]", "[[organization", "not valid TOML"),
        ('password = "only-for-trying-out"', 'password_env = "UNSET_NAME"', "UNSET_NAME is not set"),
    ],
)
def test_a_bad_setup_file_is_refused_whole_with_the_entry_named(
    setup_file: Path, old: str, new: str, message: str
) -> None:
    setup_file.write_text(SETUP.replace(old, new, 1))
    with pytest.raises(CommandError, match=message):
        run("setup", setup_file)
    assert not Organization.objects.exists()


def test_a_setup_file_sets_a_new_user_s_language_and_how_long_an_organization_keeps_conversations(
    setup_file: Path,
) -> None:
    run("setup", setup_file)
    assert (User.objects.get().language, Organization.objects.get().transcript_days) == ("en", None)
    more = SETUP.replace('name = "Acme"', "transcript_days = 365").replace('"ana@', '"bea@')
    setup_file.write_text(more.replace('name = "Ana"', 'language = "pt-br"'))
    run("setup", setup_file)
    assert Organization.objects.get().transcript_days == 365
    assert User.objects.get(email="bea@acme.example").language == "pt-br"
    setup_file.write_text(SETUP)
    run("setup", setup_file)
    assert Organization.objects.get().transcript_days == 365, "a file that does not name it changes nothing"


def test_a_setup_file_never_takes_the_last_owner_away(setup_file: Path) -> None:
    run("setup", setup_file)
    setup_file.write_text(SETUP.replace('role = "owner"', 'role = "member"'))
    with pytest.raises(CommandError, match=r"\[\[membership\]\] number 1: this would leave .* without an owner"):
        run("setup", setup_file)
    assert Membership.objects.get().role == "owner"


def test_a_setup_file_grants_nothing_to_somebody_who_is_no_member(setup_file: Path) -> None:
    start = SETUP.index("[[membership]]")
    setup_file.write_text(SETUP[:start] + SETUP[SETUP.index("[[agent]]") :])
    with pytest.raises(CommandError, match="is no member of 'acme'"):
        run("setup", setup_file)
    assert not User.objects.exists()


def test_x04_a_literal_password_is_refused_in_production(setup_file: Path, settings: Any) -> None:
    settings.PRODUCTION = True
    with pytest.raises(CommandError, match="password_env"):
        run("setup", setup_file)


def test_private_provider_addresses_need_the_deployment_s_leave(setup_file: Path, settings: Any) -> None:
    settings.ALLOW_PRIVATE_PROVIDERS = False
    with pytest.raises(CommandError, match="MEMORYPROJECT_ALLOW_PRIVATE_PROVIDERS"):
        run("setup", setup_file)


def test_create_api_key_prints_the_key_alone(owner: User) -> None:
    printed = run("create_api_key", "ana@acme.example", "acme", name="laptop")
    principal = principal_for(printed.strip(), now=timezone.now())
    assert printed.count("\n") == 1
    assert principal is not None
    assert principal.user == owner


@pytest.mark.parametrize(("email", "slug"), [("none@acme.example", "acme"), ("ana@acme.example", "none")])
def test_create_api_key_says_who_or_what_is_missing(owner: User, email: str, slug: str) -> None:
    with pytest.raises(CommandError, match="none"):
        run("create_api_key", email, slug, name="laptop")


def test_create_api_key_refuses_an_empty_name_in_a_sentence(owner: User) -> None:
    with pytest.raises(CommandError, match="--name: "):
        run("create_api_key", owner.email, "acme", name="")


def test_quickstart_shows_its_own_key_and_no_other(owner: User) -> None:
    run("create_api_key", owner.email, "acme", name="laptop")
    applied = Applied(users={owner.email: owner})
    made = quickstart.first_key(applied)
    assert made is not None
    assert made[1] is not None
    run("create_api_key", owner.email, "acme", name="later")
    assert quickstart.first_key(applied) == (made[0], None)
    revoke_api_key(key=ApiKey.objects.get(prefix=made[0]), now=timezone.now())
    again = quickstart.first_key(applied)
    assert again is not None
    assert again[1] is not None


def test_quickstart_sees_a_lost_connection_and_uses_the_next_one(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert quickstart.database_answers()
    with monkeypatch.context() as lost:
        lost.setattr(connection, "is_usable", lambda: False)
        lost.setattr(connection, "close", lambda: None)
        assert not quickstart.database_answers()
    assert quickstart.database_answers()


def transcript(tmp_path: Path) -> Path:
    file = tmp_path / "transcript.jsonl"
    file.write_text(
        '{"role": "user", "content": "I moved to Porto last spring.", "at": "2023-05-01T10:00:00+00:00"}\n'
        '{"role": "assistant", "content": "A fine place.", "at": "2023-05-01T10:00:09+00:00"}\n\n'
        '{"role": "user", "content": "I can\'t eat peanuts.", "at": "2023-05-02T10:00:00+00:00"}\n'
    )
    return file


def test_x02_replay_runs_the_pipeline_and_prints_counts(tmp_path: Path, owner: User, scope: Scope) -> None:
    printed = run("replay", transcript(tmp_path), agent="acme/guide", user="ana@acme.example", consent=True, wait=True)
    assert "Sessions: 2. Turns: 2." in printed
    assert "Runs by state: done 2" in printed
    assert "Facts by status: active 2" in printed
    first = Message.objects.order_by("at")[0]
    assert first.at.year == 2023
    fact = Fact.objects.for_scope(scope)[0]
    assert (fact.expires_at - fact.created_at).days == 180  # counted from the write, not from the file's time
    assert fact.created_at.year >= 2026
    assert list(Message.objects.order_by("at").values_list("role", flat=True)) == ["user", "assistant"] * 2


def test_replay_without_consent_extracts_nothing(tmp_path: Path, owner: User) -> None:
    printed = run("replay", transcript(tmp_path), agent="acme/guide", user="ana@acme.example", wait=True)
    assert "Facts by status: none" in printed
    assert not Fact.objects.exists()


def test_replay_consent_is_refused_in_production(tmp_path: Path, owner: User, settings: Any) -> None:
    settings.PRODUCTION = True
    with pytest.raises(CommandError, match="refused in production"):
        run("replay", transcript(tmp_path), agent="acme/guide", user="ana@acme.example", consent=True)
    assert not Consent.objects.exists()


def test_replay_needs_a_user_an_agent_and_a_readable_file(tmp_path: Path, owner: User) -> None:
    for file, agent, user in (
        (transcript(tmp_path), "acme/none", "ana@acme.example"),
        (transcript(tmp_path), "acme/guide", "none@acme.example"),
        (tmp_path / "none", "acme/guide", "ana@acme.example"),
    ):
        with pytest.raises(CommandError):
            run("replay", file, agent=agent, user=user)


def test_doctor_finds_nothing_wrong_in_a_sound_store(consented: Scope) -> None:
    factories.make_fact(consented)
    printed = run("doctor")
    assert "decryptability: ok" in printed
    assert "wrong" not in printed


def test_doctor_names_a_record_that_does_not_open_and_repairs_nothing(consented: Scope) -> None:
    good, bad = factories.make_fact(consented), factories.make_fact(consented, key="pet.cat", body="Has a cat.")
    Fact.objects.filter(pk=bad.pk).update(sealed=bytes(good.sealed))
    with pytest.raises(SystemExit):
        call_command("doctor", stdout=(out := StringIO()))
    assert f"fact {bad.pk}: does not open (tampered)" in out.getvalue()
    assert Fact.objects.count() == 2


def test_doctor_finds_facts_above_the_cap_orphans_and_a_missing_key(consented: Scope, settings: Any) -> None:
    for number in range(201):
        factories.make_fact(consented, key=f"note.{number}", body=f"Note {number}.")
    User.objects.filter(pk=consented.user_id).update(deleted_at=timezone.now())
    settings.KEYRING_JSON, settings.KEYRING_FILE = "", None
    forget_keys()
    with pytest.raises(SystemExit):
        call_command("doctor", stdout=(out := StringIO()))
    printed = out.getvalue()
    assert "201 live facts" in printed
    assert "of deleted users" in printed
    assert "key unavailable (keyring_missing)" in printed


def test_a_failing_health_check_says_what_is_missing(client: Any, db: None) -> None:
    assert client.get("/healthz").json() == {"status": "alive"}
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["worker"].startswith("no sign of life")
    assert answer.json()["database"] == answer.json()["keyring"] == "ok"
    assert connection.vendor == "postgresql"
