"""`manage.py memory_keys`: what operators do with keys, from the door; no key is ever printed."""

import base64
import json
import os
import re
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from consent.scope import Scope
from encryption import envelope, keyfile, rotation, services
from encryption.keys import Keyring, keyring_json, load_keyring, new_keyring_json, parse_keyring
from encryption.models import OrganizationKey
from encryption.services import forget_keys
from facts.models import Fact
from facts.services import list_facts
from tests.factories import fill, make_fact

pytestmark = pytest.mark.django_db
PASSPHRASE = "correct horse battery staple"
Keys = Callable[..., str]


@pytest.fixture
def ring_file(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(envelope, "SCRYPT_COST", 2**10)
    monkeypatch.setenv("BACKUP_PASSPHRASE", PASSPHRASE)
    file = tmp_path / "keyring.json"
    keyfile.write_private(file, new_keyring_json())
    settings.KEYRING_JSON, settings.KEYRING_FILE = "", file
    return file


def ring(file: Path) -> Keyring:
    return load_keyring(json_text="", file=file)


@pytest.fixture
def keys(ring_file: Path) -> Keys:
    """Run the command; whatever it prints is searched for key material."""

    def run(*arguments: str) -> str:
        out, secrets = StringIO(), list(ring(ring_file).keys.values()) if ring_file.exists() else []
        try:
            call_command("memory_keys", *map(str, arguments), stdout=out, stderr=StringIO())
        finally:
            forget_keys()
            for secret in secrets:
                for form in (secret.hex(), base64.b64encode(secret).decode()):
                    assert form not in out.getvalue()
        return out.getvalue()

    return run


def read(scope: Scope) -> list[str]:
    return [row.opened.body if row.opened else "" for row in list_facts(scope, now=timezone.now())]


def test_status_shows_keks_data_keys_and_records_under_old_ones(keys: Keys, ring_file: Path, consented: Scope) -> None:
    fill(consented, 3)
    kek = ring(ring_file).primary_id
    printed = keys("status")
    assert f"KEK {kek}: check {kek.removeprefix('kek-')}, primary, wraps 2 keys" in printed
    assert f"acme ({consented.organization_id}) data key 1: active, 3 records" in printed
    assert "Records under old data keys: 0." in printed
    OrganizationKey.objects.filter(purpose="dek").update(state="decrypt_only")
    OrganizationKey.objects.create(
        organization_id=consented.organization_id, purpose="dek", version=2, kek_id="lost", wrapped=b"x"
    )
    printed = keys("status")
    assert "KEK lost: MISSING, wraps 1 keys" in printed
    assert "data key 1: decrypt_only, 3 records" in printed
    assert "data key 2: active, 0 records" in printed
    assert "Records under old data keys: 3." in printed


def test_a_kek_is_rotated_step_by_step_and_facts_open_after_each(keys: Keys, ring_file: Path, consented: Scope) -> None:
    make_fact(consented)
    old = ring(ring_file).primary_id
    new = keys("add-kek").strip()
    assert read(consented) == ["Lives in Porto."]
    assert "Next: rewrap" in keys("make-primary", new)
    assert read(consented) == ["Lives in Porto."]
    with pytest.raises(CommandError, match=f"{old} still wraps 2 keys"):
        keys("remove-kek", old)
    assert "Rewrapped: 2. Left: 0." in keys("rewrap")
    assert "Failed: 0." in keys("verify")
    keys("remove-kek", old)
    assert read(consented) == ["Lives in Porto."]
    assert set(ring(ring_file).keys) == {new}


def test_a_running_process_takes_up_a_changed_keyring_within_a_minute(
    ring_file: Path, consented: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is restarted: the file is read at each miss."""
    clock = SimpleNamespace(now=1_000.0)
    monkeypatch.setattr(services, "time", SimpleNamespace(monotonic=lambda: clock.now))
    make_fact(consented)
    old, new = ring(ring_file).primary_id, keyfile.add_kek(ring_file)
    keyfile.make_primary(ring_file, new)
    rotation.rewrap()
    keyfile.remove_kek(ring_file, old)
    for _second in range(61):
        assert read(consented) == ["Lives in Porto."]
        clock.now += 1
    assert rotation.wrapped_under(new) == 2


def test_rotate_seals_every_fact_anew_and_verify_opens_them(keys: Keys, consented: Scope) -> None:
    fill(consented, 7)
    assert "Organizations: 1. Records sealed anew: 7. Left: 0." in keys(
        "rotate", "--organization", "acme", "--grace", "0"
    )
    assert "Keys opened: 3. Records opened: 7. Failed: 0." in keys("verify")
    assert "Records sealed anew: 7. Left: 0." in keys("rotate", "--all", "--grace", "0")
    assert set(Fact.objects.values_list("dek_version", flat=True)) == {3}


def test_old_data_keys_are_retired_on_request_alone_and_not_at_once(keys: Keys, consented: Scope) -> None:
    make_fact(consented)
    keys("rotate", "--all", "--grace", "0")
    assert OrganizationKey.objects.filter(state="destroyed").count() == 0
    with pytest.raises(CommandError, match="can be retired from"):
        keys("rotate", "--all", "--grace", "0", "--retire-old")
    OrganizationKey.objects.update(created_at=timezone.now() - timedelta(hours=1))
    printed = keys("rotate", "--all", "--grace", "0", "--retire-old")
    assert "Records sealed anew: 0. Left: 0." in printed
    assert "data keys retired: 1." in printed
    assert list(OrganizationKey.objects.filter(state="destroyed").values_list("version", flat=True)) == [1]
    assert read(consented) == ["Lives in Porto."]


def test_what_does_not_open_is_an_error_of_rotate_and_of_verify(keys: Keys, consented: Scope) -> None:
    fact = make_fact(consented)
    Fact.objects.update(sealed=b"F1" + b"\x00" * 60)
    with pytest.raises(CommandError, match="Failed: unknown_format 1"):
        keys("rotate", "--all", "--grace", "0")
    out = StringIO()
    with pytest.raises(CommandError, match="Failed: unknown_format 1"):
        call_command("memory_keys", "verify", stdout=out, stderr=StringIO())
    assert f"Fact {fact.pk}: unknown_format" in out.getvalue()
    assert "Records opened: 0. Failed: 1." in out.getvalue()


def test_verify_finds_a_row_that_names_another_data_key_than_its_record(keys: Keys, consented: Scope) -> None:
    make_fact(consented)
    Fact.objects.update(dek_version=2)
    with pytest.raises(CommandError, match="Failed: version 1"):
        keys("verify")


def test_verify_and_rewrap_fail_for_keys_that_no_kek_opens(keys: Keys, ring_file: Path, consented: Scope) -> None:
    make_fact(consented)
    keyfile.write_private(ring_file, new_keyring_json())
    with pytest.raises(CommandError, match="Failed: key_unknown_kek 1, unknown_kek 2"):
        keys("verify")
    with pytest.raises(CommandError, match="Failed: unknown_kek 2"):
        keys("rewrap")
    with pytest.raises(CommandError, match="unknown_kek"):
        keys("rotate", "--all", "--grace", "0")


def test_rotate_needs_to_be_told_what(keys: Keys, consented: Scope) -> None:
    for arguments in ((), ("--all", "--organization", "acme")):
        with pytest.raises(CommandError):
            keys("rotate", *arguments)
    with pytest.raises(CommandError, match="no organization none"):
        keys("rotate", "--organization", "none")


def test_the_keyring_goes_to_a_backup_and_comes_back(
    keys: Keys, ring_file: Path, consented: Scope, tmp_path: Path
) -> None:
    make_fact(consented)
    backup, before = tmp_path / "backup.json", ring(ring_file)
    keys("export", backup, "--passphrase-env", "BACKUP_PASSPHRASE")
    assert backup.stat().st_mode & 0o777 == 0o600
    assert before.primary_id not in backup.read_text()
    ring_file.unlink()
    assert read(consented) == [""]
    printed = keys("import", backup, "--passphrase-env", "BACKUP_PASSPHRASE")
    assert f"{before.primary_id} is primary" in printed
    assert ring(ring_file) == before
    assert read(consented) == ["Lives in Porto."]
    keys("import", backup, "--passphrase-env", "BACKUP_PASSPHRASE")  # the same one: nothing to do


def test_a_different_keyring_is_replaced_only_when_told_and_then_kept(
    keys: Keys, ring_file: Path, tmp_path: Path
) -> None:
    backup = tmp_path / "backup.json"
    keys("export", backup, "--passphrase-env", "BACKUP_PASSPHRASE")
    keyfile.write_private(ring_file, new_keyring_json())
    other = ring(ring_file)
    with pytest.raises(CommandError, match="different keyring"):
        keys("import", backup, "--passphrase-env", "BACKUP_PASSPHRASE")
    assert ring(ring_file) == other
    printed = keys("import", backup, "--replace", "--passphrase-env", "BACKUP_PASSPHRASE")
    kept = re.search(r"kept as (\S+?)\.?\n", printed)
    assert kept is not None
    assert ring(Path(kept[1])) == other


def test_a_keyring_that_opens_none_of_the_stored_keys_is_put_in_only_by_force(
    keys: Keys, ring_file: Path, consented: Scope, tmp_path: Path
) -> None:
    make_fact(consented)
    good = ring(ring_file)
    foreign = tmp_path / "foreign.json"
    foreign.write_text(keyfile.sealed_backup(parse_keyring(new_keyring_json()), PASSPHRASE))
    call = ("import", foreign, "--replace", "--passphrase-env", "BACKUP_PASSPHRASE")
    with pytest.raises(CommandError, match=f"does not open 2 wrapped keys, which need {good.primary_id}, and"):
        keys(*call)
    assert ring(ring_file) == good
    assert "kept as" in keys(*call, "--force")
    assert read(consented) == [""]


def test_a_keyring_that_opens_a_part_is_put_in_with_a_warning(
    keys: Keys, ring_file: Path, consented: Scope, tmp_path: Path
) -> None:
    make_fact(consented)
    backup = tmp_path / "backup.json"
    keys("export", backup, "--passphrase-env", "BACKUP_PASSPHRASE")
    OrganizationKey.objects.filter(purpose="hash").update(kek_id="lost")
    ring_file.unlink()
    call_command(
        "memory_keys", "import", str(backup), "--passphrase-env", "BACKUP_PASSPHRASE", stderr=(said := StringIO())
    )
    assert "WARNING: This keyring does not open 1 wrapped keys, which need lost." in said.getvalue()


def test_status_shows_another_key_of_the_same_name_and_what_a_missing_keyring_must_hold(
    keys: Keys, ring_file: Path, consented: Scope
) -> None:
    make_fact(consented)
    kek_id = ring(ring_file).primary_id
    other = parse_keyring(new_keyring_json())
    keyfile.write_private(ring_file, keyring_json(Keyring(kek_id, {kek_id: other.keys[other.primary_id]})))
    assert "primary, ANOTHER KEY UNDER THIS ID: opens none of them, wraps 2 keys" in keys("status")
    ring_file.unlink()
    out = StringIO()
    with pytest.raises(CommandError, match="is missing"):
        call_command("memory_keys", "status", stdout=out)
    assert f"KEK {kek_id}: MISSING, wraps 2 keys" in out.getvalue()
    assert "data key 1: active, 1 records" in out.getvalue()


def test_a_backup_is_never_written_over_a_file(keys: Keys, tmp_path: Path) -> None:
    backup = tmp_path / "backup.json"
    backup.write_text("mine")
    with pytest.raises(CommandError, match="exists"):
        keys("export", backup, "--passphrase-env", "BACKUP_PASSPHRASE")
    assert backup.read_text() == "mine"
    for file in (tmp_path / "none", tmp_path):
        with pytest.raises(CommandError, match="cannot be read"):
            keys("import", file, "--passphrase-env", "BACKUP_PASSPHRASE")


def test_files_and_passphrases_that_cannot_be_used_are_a_sentence(
    keys: Keys, ring_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = ring(ring_file)
    with pytest.raises(CommandError, match=f"There is no folder {tmp_path / 'none'}"):
        keys("export", tmp_path / "none" / "backup", "--passphrase-env", "BACKUP_PASSPHRASE")
    with pytest.raises(CommandError, match="cannot be written"):
        keys("export", tmp_path / ("x" * 300), "--passphrase-env", "BACKUP_PASSPHRASE")
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 200_000)
    with pytest.raises(CommandError, match="no backup of a keyring"):
        keys("import", deep, "--passphrase-env", "BACKUP_PASSPHRASE")
    backup = tmp_path / "backup"
    keys("export", backup, "--passphrase-env", "BACKUP_PASSPHRASE")
    monkeypatch.setitem(os.environ, "BACKUP_PASSPHRASE", "caf\udce9 " * 3)  # Latin-1 bytes in the environment
    for arguments in (("export", tmp_path / "other"), ("import", backup)):
        with pytest.raises(CommandError, match="not UTF-8"):
            keys(*arguments, "--passphrase-env", "BACKUP_PASSPHRASE")

    def latin(_: str) -> str:
        return b"caf\xe9".decode()

    monkeypatch.setattr("getpass.getpass", latin)
    with pytest.raises(CommandError, match="not UTF-8"):
        keys("import", backup)
    assert ring(ring_file) == before


def test_a_keyring_whose_folder_is_gone_is_a_sentence(keys: Keys, settings: Any, tmp_path: Path) -> None:
    settings.KEYRING_FILE = tmp_path / "gone" / "keyring.json"
    with pytest.raises(CommandError, match="folder"):
        keys("add-kek")


def test_the_passphrase_comes_from_a_prompt_or_a_variable_and_never_from_the_arguments(
    keys: Keys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([PASSPHRASE, PASSPHRASE + "!", PASSPHRASE, PASSPHRASE, "short", "short", PASSPHRASE])
    monkeypatch.setattr("getpass.getpass", lambda _: next(answers))
    backup = tmp_path / "backup.json"
    with pytest.raises(CommandError, match="different"):
        keys("export", backup)
    keys("export", backup)
    with pytest.raises(CommandError, match="at least 12"):
        keys("export", tmp_path / "other.json")
    keys("import", backup)
    monkeypatch.setenv("BACKUP_PASSPHRASE", "another passphrase")
    with pytest.raises(CommandError, match="another one"):
        keys("import", backup, "--passphrase-env", "BACKUP_PASSPHRASE")
    with pytest.raises(CommandError, match="UNSET is not set"):
        keys("import", backup, "--passphrase-env", "UNSET")
    with pytest.raises(CommandError):
        keys("export", backup, "--passphrase", PASSPHRASE)


def test_a_keyring_of_the_environment_is_backed_up_and_never_edited(keys: Keys, settings: Any, tmp_path: Path) -> None:
    settings.KEYRING_JSON = os.environ["MEMORYPROJECT_KEYRING"]
    for arguments in (("add-kek",), ("make-primary", "kek-test"), ("remove-kek", "kek-test")):
        with pytest.raises(CommandError, match="MEMORYPROJECT_KEYRING"):
            keys(*arguments)
    keys("export", tmp_path / "backup", "--passphrase-env", "BACKUP_PASSPHRASE")
    assert json.loads((tmp_path / "backup").read_text())["format"] == keyfile.BACKUP_FORMAT


def test_without_a_keyring_every_step_says_so(keys: Keys, ring_file: Path) -> None:
    ring_file.unlink()
    for arguments in (
        ("status",),
        ("rewrap",),
        ("verify",),
        ("add-kek",),
        ("export", "x", "--passphrase-env", "BACKUP_PASSPHRASE"),
    ):
        with pytest.raises(CommandError, match="missing"):
            keys(*arguments)
