"""C05: a secret of the deployment opens in the one place that it was sealed for, and outlives a rotation of KEKs."""

import uuid
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.models import Organization
from encryption import deployment, keyfile, rotation
from encryption.deployment import SecretUnavailable, open_secret, seal_secret
from encryption.keys import load_keyring, new_keyring_json
from encryption.models import Secret
from encryption.services import ensure_organization_keys, forget_keys
from encryption.sources import load_source

pytestmark = pytest.mark.django_db
WORD = "sk-planted-9f31"
HERE = ["provider", "1", "https://models.example/v1"]


@pytest.fixture
def ring_file(tmp_path: Path, settings: Any) -> Path:
    file = tmp_path / "keyring.json"
    keyfile.write_private(file, new_keyring_json())
    settings.KEYRING_JSON, settings.KEYRING_FILE = "", file
    return file


def sealed() -> Secret:
    row = seal_secret(WORD, sealed_for=HERE)
    row.save()
    row.refresh_from_db()
    return row


def refusal(row: Secret, place: list[str] | None = None) -> str:
    with pytest.raises(SecretUnavailable) as refused:
        open_secret(row, sealed_for=place or HERE)
    assert WORD not in str(refused.value)
    return refused.value.code


def test_c05_a_secret_is_stored_as_ciphertext_and_opens_in_its_place() -> None:
    row = sealed()
    assert open_secret(row, sealed_for=HERE) == WORD
    assert WORD.encode() not in bytes(row.sealed) + bytes(row.wrapped)
    assert sealed().sealed != row.sealed


def test_c05_a_secret_opens_in_no_other_place_whoever_says_so() -> None:
    row, elsewhere = sealed(), ["provider", "1", "https://attacker.example/v1"]
    assert refusal(row, elsewhere) == "moved"
    row.sealed_for = elsewhere  # as somebody with write access to the database would
    assert refusal(row, elsewhere) == "wrong_kek"
    assert open_secret(sealed(), sealed_for=HERE) == WORD


def test_c05_a_secret_that_was_put_in_anothers_row_or_changed_does_not_open() -> None:
    one, other = sealed(), sealed()
    other.wrapped = one.wrapped
    assert refusal(other) == "wrong_kek"
    one.sealed = bytes(one.sealed)[:-1] + bytes([one.sealed[-1] ^ 1])
    assert refusal(one) == "tampered"
    one.sealed = b"short"
    assert refusal(one) == "tampered"


def test_an_unwrapped_key_is_kept_and_one_that_was_replaced_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    row, asked = sealed(), []
    unwrap = deployment.unwrap_secret_key

    def counted(source: Any, secret: Secret) -> bytes:
        asked.append(secret.pk)
        return unwrap(source, secret)

    monkeypatch.setattr(deployment, "unwrap_secret_key", counted)
    assert {open_secret(row, sealed_for=HERE) for _ in range(3)} == {WORD}
    assert len(asked) == 1
    key = unwrap(load_source(), row)
    asked.clear()
    row.kek_id, row.wrapped = deployment.wrap_secret_key(load_source(), key, row)
    assert open_secret(row, sealed_for=HERE) == WORD
    assert len(asked) == 1
    forget_keys()
    open_secret(row, sealed_for=HERE)
    assert len(asked) == 2


def test_a_secret_outlives_a_rotation_of_keks_and_holds_the_old_one_until_it_is_rewrapped(ring_file: Path) -> None:
    row = sealed()
    old, new = row.kek_id, keyfile.add_kek(ring_file)
    keyfile.make_primary(ring_file, new)
    assert [(kek.id, kek.wraps) for kek in rotation.keks() if kek.wraps] == [(old, 1)]
    with pytest.raises(CommandError, match=f"{old} still wraps 1 keys"):
        call_command("memory_keys", "remove-kek", old)
    outcome = rotation.rewrap()
    assert (outcome.done, outcome.left, dict(outcome.failed)) == (1, 0, {})
    call_command("memory_keys", "remove-kek", old)
    assert set(load_keyring(json_text="", file=ring_file).keys) == {new}
    row.refresh_from_db()
    forget_keys()
    assert (row.kek_id, open_secret(row, sealed_for=HERE)) == (new, WORD)


def test_a_secret_that_was_replaced_while_it_was_rewrapped_is_left_as_it_is(
    ring_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = sealed()
    keyfile.make_primary(ring_file, keyfile.add_kek(ring_file))
    unwrap = deployment.unwrap_secret_key

    def replaced_meanwhile(source: Any, secret: Secret) -> bytes:
        key = unwrap(source, secret)
        Secret.objects.filter(pk=row.pk).update(wrapped=b"another")
        return key

    monkeypatch.setattr(rotation, "unwrap_secret_key", replaced_meanwhile)
    assert rotation.rewrap().done == 0
    assert bytes(Secret.objects.get().wrapped) == b"another"


def test_verify_opens_secrets_and_counts_those_that_do_not(
    organization: Organization, capsys: pytest.CaptureFixture[str]
) -> None:
    ensure_organization_keys(organization.pk)
    sealed()
    broken = sealed()
    assert (rotation.verify_keys().opened, rotation.verify_keys().secrets) == (2, 2)
    Secret.objects.filter(pk=broken.pk).update(sealed=b"\0" * 60)
    with pytest.raises(CommandError, match="secret_tampered 1"):
        call_command("memory_keys", "verify")
    printed = capsys.readouterr().out
    assert "Provider secrets opened: 1." in printed
    assert WORD not in printed


def test_without_its_kek_a_secret_is_counted_by_the_checks_and_does_not_open(ring_file: Path) -> None:
    row = sealed()
    kek_id = row.kek_id
    keyfile.write_private(ring_file, new_keyring_json())
    assert [(kek.kek_id, kek.count) for kek in rotation.unopened()] == [(kek_id, 1)]
    assert refusal(row) == "unknown_kek"
    ring_file.unlink()
    assert refusal(row) == "keyring_missing"
    with pytest.raises(SecretUnavailable, match="keyring_missing"):
        seal_secret(WORD, sealed_for=[str(uuid.uuid4())])
