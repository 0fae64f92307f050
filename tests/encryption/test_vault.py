"""Organization keys wrapped by Vault: what is asked, what every refusal means, and that a turn asks only on a miss."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from accounts.models import Organization
from encryption import rotation
from encryption.apps import check_keyring
from encryption.envelope import BadRecord
from encryption.keys import KeyringError, KmsError
from encryption.models import OrganizationKey
from encryption.services import KeyUnavailable, ensure_organization_keys, forget_keys, organization_keys
from encryption.vault import VaultTransit
from tests.encryption.vault_server import TOKEN, FakeVault, serving

KEY = bytes(range(32))


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[FakeVault]:
    with serving(tmp_path) as fake:
        yield fake


@pytest.fixture
def source(vault: FakeVault) -> VaultTransit:
    made = VaultTransit(vault.address, "memory", token=TOKEN, ca_file=vault.ca_file, timeout=5)
    made.check()
    return made


@pytest.fixture
def with_vault(vault: FakeVault, settings: Any) -> FakeVault:
    """The deployment with Vault in front of its keyring."""
    settings.KMS, settings.VAULT_ADDRESS, settings.VAULT_KEY = "vault", vault.address, "memory"
    settings.VAULT_TOKEN, settings.VAULT_CA_FILE = TOKEN, vault.ca_file
    return vault


def test_vault_wraps_and_unwraps_with_the_associated_data(vault: FakeVault, source: VaultTransit) -> None:
    wrapped = source.wrap(KEY, b"place")
    assert wrapped.startswith(b"vault:v1:")
    assert source.unwrap("vault:memory", wrapped, b"place") == KEY
    assert [path for path, _body in vault.asked] == ["encrypt/memory", "decrypt/memory"]
    assert all(body["associated_data"] == "cGxhY2U=" for _path, body in vault.asked)
    with pytest.raises(BadRecord, match="wrong_key"):
        source.unwrap("vault:memory", wrapped, b"elsewhere")
    with pytest.raises(BadRecord, match="wrong_key"):
        source.unwrap("vault:memory", b"\xff", b"place")
    with pytest.raises(BadRecord, match="wrong_key"):
        source.unwrap("vault:none", wrapped, b"place")


@pytest.mark.parametrize("kek_id", ["kek-test", "vault:", "vault:../sys/seal", "vault:a b", ""])
def test_an_id_of_another_source_is_unknown_and_never_asked(
    vault: FakeVault, source: VaultTransit, kek_id: str
) -> None:
    with pytest.raises(KeyError):
        source.unwrap(kek_id, b"vault:v1:AAAA", b"place")
    assert not vault.asked


def test_a_key_rotated_inside_vault_still_opens_what_it_wrapped(vault: FakeVault, source: VaultTransit) -> None:
    wrapped = source.wrap(KEY, b"place")
    vault.rotate()
    assert source.wrap(KEY, b"place").startswith(b"vault:v2:")
    assert source.unwrap("vault:memory", wrapped, b"place") == KEY


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (401, b"", "kms_denied"),
        (403, b'{"errors": ["permission denied"]}', "kms_denied"),
        (404, b'{"errors": []}', "kms_denied"),
        (429, b"", "kms_unavailable"),
        (500, b"", "kms_unavailable"),
        (503, b'{"errors": ["Vault is sealed"]}', "kms_unavailable"),
        (307, b"", "kms_unavailable"),
        (200, b"not json", "kms_answer"),
        (200, b"[]", "kms_answer"),
        (200, b'{"data": null}', "kms_answer"),
        (200, b'{"data": {}}', "kms_answer"),
        (200, b'{"data": {"plaintext": 5}}', "kms_answer"),
        (200, b'{"data": {"plaintext": "!"}}', "kms_answer"),
        (200, b'{"data": {"plaintext": "' + b"A" * 70_000 + b'"}}', "kms_answer"),
    ],
)
def test_every_other_answer_is_a_code(
    vault: FakeVault, source: VaultTransit, status: int, body: bytes, code: str
) -> None:
    vault.status, vault.body = status, body
    with pytest.raises(KmsError) as refused:
        source.unwrap("vault:memory", b"vault:v1:AAAA", b"place")
    assert refused.value.code == code
    assert len(vault.asked) == 1  # redirects are not followed


def test_a_key_of_another_length_is_refused(vault: FakeVault, source: VaultTransit) -> None:
    vault.status, vault.body = 200, b'{"data": {"plaintext": "AAAA"}}'
    with pytest.raises(BadRecord):
        source.unwrap("vault:memory", b"vault:v1:AAAA", b"place")


def test_a_bad_answer_to_wrapping_is_a_code_too(vault: FakeVault, source: VaultTransit) -> None:
    for status, body, code in (
        (400, b"", "kms_answer"),
        (200, b'{"data": {}}', "kms_answer"),
        (403, b"", "kms_denied"),
    ):
        vault.status, vault.body = status, body
        with pytest.raises(KmsError, match=code):
            source.wrap(KEY, b"place")


def test_nobody_there_a_silent_server_and_an_unknown_certificate_have_codes(
    vault: FakeVault, source: VaultTransit, tmp_path: Path
) -> None:
    with pytest.raises(KmsError, match="kms_unreachable"):
        replace(source, address="https://127.0.0.1:9").wrap(KEY, b"place")
    with pytest.raises(KmsError, match="kms_untrusted"):
        replace(source, ca_file=None).wrap(KEY, b"place")
    with pytest.raises(KmsError, match="kms_untrusted"):
        replace(source, ca_file=tmp_path / "none.pem").wrap(KEY, b"place")
    assert not vault.asked  # no token went to a server that was not trusted
    vault.delay = threading.Event()
    with pytest.raises(KmsError, match="kms_unreachable"):
        replace(source, timeout=0.3).wrap(KEY, b"place")
    vault.delay.set()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"address": "https://127.0.0.1:99999"}, "kms_unreachable"),
        ({"address": "https://[::1"}, "kms_unreachable"),
        ({"address": "https://a..b"}, "kms_unreachable"),
        ({"namespace": "a\nb"}, "kms_unreachable"),
        ({"token": "a\nb"}, "kms_token"),
        ({"token": "tok\u00e9n"}, "kms_token"),
    ],
)
def test_settings_that_nobody_checked_are_a_code(source: VaultTransit, change: dict[str, str], code: str) -> None:
    with pytest.raises(KmsError, match=code):
        replace(source, **change).wrap(KEY, b"place")  # type: ignore[arg-type]


@pytest.mark.parametrize("sent_at_once", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n"])
def test_an_answer_that_trickles_in_ends_with_the_whole_call_s_time(sent_at_once: bytes) -> None:
    """Neither in the head nor in the body does each new byte buy another wait."""
    done = threading.Event()

    def trickle(server: socket.socket) -> None:
        client, _address = server.accept()
        with client, contextlib.suppress(OSError):
            client.recv(9000)
            client.sendall(sent_at_once)
            while not done.wait(0.02):
                client.sendall(b"H")

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=trickle, args=[server])
        thread.start()
        source = VaultTransit(f"http://127.0.0.1:{server.getsockname()[1]}", "memory", token=TOKEN, deadline=0.2)
        began = time.monotonic()
        with pytest.raises(KmsError, match="kms_unreachable"):
            source.wrap(KEY, b"place")
        assert time.monotonic() - began < 2
        done.set()
        thread.join()


def test_a_token_file_is_read_each_time_and_a_namespace_is_sent(
    vault: FakeVault, source: VaultTransit, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    from_file = replace(source, token="", token_file=token, namespace="team/memory")
    with pytest.raises(KmsError, match="kms_token"):
        from_file.wrap(KEY, b"place")
    for text, code in (("", "kms_token"), ("a\nb", "kms_token"), ("old", "kms_denied")):
        token.write_text(text)
        with pytest.raises(KmsError, match=code):
            from_file.wrap(KEY, b"place")
    token.write_text(f"{TOKEN}\n")
    from_file.wrap(KEY, b"place")
    assert vault.namespaces[-1] == "team/memory"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"address": "http://vault.example:8200"}, "https"),
        ({"address": "ftp://127.0.0.1"}, "https"),
        ({"address": "https://"}, "host"),
        ({"address": "https://vault.example/v1"}, "alone"),
        ({"address": "https://me@vault.example"}, "alone"),
        ({"key_name": ""}, "VAULT_KEY"),
        ({"key_name": "a/b"}, "VAULT_KEY"),
        ({"key_name": "x" * 59}, "VAULT_KEY"),
        ({"mount": "../sys"}, "VAULT_MOUNT"),
        ({"mount": ""}, "VAULT_MOUNT"),
        ({"token": ""}, "TOKEN"),
        ({"token": "a\nb"}, "TOKEN"),
        ({"token": "tok\u00e9n"}, "TOKEN"),
        ({"namespace": "a\r\nb"}, "NAMESPACE"),
        ({"address": "https://127.0.0.1:99999"}, "port"),
        ({"address": "https://127.0.0.1:eighty"}, "port"),
        ({"address": "https://127.0.0.1:0"}, "port"),
        ({"address": "https://[::1"}, "host"),
    ],
)
def test_settings_that_cannot_be_right_are_refused_before_anything_is_asked(change: dict[str, str], said: str) -> None:
    good = VaultTransit("https://vault.example:8200", "memory", token=TOKEN)
    good.check()
    replace(good, address="http://127.0.0.1:8200").check()
    with pytest.raises(KeyringError, match=said):
        replace(good, **change).check()  # type: ignore[arg-type]
    assert TOKEN not in repr(good)


@pytest.mark.django_db
def test_a_turn_asks_vault_only_when_nothing_is_kept(with_vault: FakeVault, organization: Organization) -> None:
    made = ensure_organization_keys(organization.pk)
    assert set(OrganizationKey.objects.values_list("kek_id", flat=True)) == {"vault:memory"}
    with_vault.asked.clear()
    for _turn in range(5):
        organization_keys(organization.pk)
    assert not with_vault.asked
    forget_keys()
    assert organization_keys(organization.pk) == made
    assert [path for path, _body in with_vault.asked] == ["decrypt/memory"] * 2


@pytest.mark.django_db
def test_an_outage_of_vault_is_a_missing_key_and_ends_with_it(
    with_vault: FakeVault, organization: Organization
) -> None:
    made = ensure_organization_keys(organization.pk)
    forget_keys()
    with_vault.status = 503
    with pytest.raises(KeyUnavailable) as refused:
        organization_keys(organization.pk)
    assert (refused.value.code, refused.value.kek_id) == ("kms_unavailable", "vault:memory")
    with_vault.status = 0
    assert organization_keys(organization.pk) == made


@pytest.mark.django_db
def test_keys_move_from_the_keyring_to_vault_and_back(
    vault: FakeVault, organization: Organization, settings: Any
) -> None:
    made = ensure_organization_keys(organization.pk)
    settings.VAULT_ADDRESS, settings.VAULT_KEY = vault.address, "memory"
    settings.VAULT_TOKEN, settings.VAULT_CA_FILE = TOKEN, vault.ca_file
    for kms, kek_id in (("vault", "vault:memory"), ("keyring", "kek-test")):
        settings.KMS = kms
        outcome = rotation.rewrap()
        assert (outcome.done, outcome.left, outcome.failed.total()) == (2, 0, 0)
        assert set(OrganizationKey.objects.values_list("kek_id", flat=True)) == {kek_id}
        forget_keys()
        assert organization_keys(organization.pk) == made


@pytest.mark.django_db
def test_after_a_rotation_inside_vault_every_key_can_be_wrapped_anew(
    with_vault: FakeVault, organization: Organization
) -> None:
    ensure_organization_keys(organization.pk)
    with_vault.rotate()
    assert rotation.rewrap().done == 0
    assert rotation.rewrap(every=True).done == 2
    assert all(bytes(row.wrapped).startswith(b"vault:v2:") for row in OrganizationKey.objects.all())


@pytest.mark.django_db
def test_a_deployment_with_vault_needs_no_keyring(
    with_vault: FakeVault, organization: Organization, settings: Any, tmp_path: Path
) -> None:
    settings.KEYRING_JSON, settings.KEYRING_FILE = "", tmp_path / "absent"
    ensure_organization_keys(organization.pk)
    assert check_keyring() == []
    settings.VAULT_ADDRESS = ""
    assert [error.id for error in check_keyring()] == ["encryption.E_MISSING"]
    settings.VAULT_ADDRESS = "http://vault.example"
    assert [error.id for error in check_keyring()] == ["encryption.E_MALFORMED"]
