"""The keyring is read whole and right, or refused with a code that says what is wrong with it."""

import base64
import json
from pathlib import Path

import pytest

from encryption.envelope import BadRecord, new_key
from encryption.keys import Keyring, KeyringError, check_value, load_keyring, new_keyring_json, parse_keyring

KEY = bytes(range(32))


def entry(key: bytes = KEY, check: object = None) -> dict[str, object]:
    return {"key": base64.b64encode(key).decode(), "check": check if check is not None else check_value(key)}


def keyring_json(**changes: object) -> str:
    return json.dumps({"primary": "a", "keys": {"a": entry()}} | changes)


def test_a_new_keyring_reads_back_and_wraps_under_its_primary_key() -> None:
    ring = parse_keyring(new_keyring_json())
    wrapped = ring.wrap(KEY, b"place")
    assert list(ring.keys) == [ring.primary_id]
    assert ring.unwrap(ring.primary_id, wrapped, b"place") == KEY
    assert new_keyring_json() != new_keyring_json()


def test_an_older_key_of_the_ring_still_unwraps() -> None:
    old = new_key()
    ring = parse_keyring(keyring_json(keys={"a": entry(), "old": entry(old)}))
    wrapped = Keyring("old", {"old": old}).wrap(KEY, b"place")
    assert ring.primary_id == "a"
    assert ring.unwrap("old", wrapped, b"place") == KEY
    with pytest.raises(BadRecord, match="wrong_key"):
        ring.unwrap("a", wrapped, b"place")
    with pytest.raises(KeyError):
        ring.unwrap("absent", wrapped, b"place")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "malformed"),
        ("not json", "malformed"),
        ("[]", "malformed"),
        ("null", "malformed"),
        ("{}", "malformed"),
        ('{"primary": "a"}', "malformed"),
        ('{"primary": "a", "keys": []}', "malformed"),
        ('{"primary": "a", "keys": {"a": "text"}}', "malformed"),
        ('{"primary": "a", "keys": {"a": {"key": null, "check": ""}}}', "malformed"),
        ('{"primary": "a", "keys": {"a": {"key": "!!!!", "check": ""}}}', "malformed"),
        ('{"primary": "a", "keys": {"a": {"key": "AAAA"}}}', "malformed"),
        (keyring_json(primary="b"), "malformed"),
        (keyring_json(primary=[]), "malformed"),
        (keyring_json(primary=None), "malformed"),
        (keyring_json(keys={}), "malformed"),
        (keyring_json(primary="", keys={"": entry()}), "malformed"),
        (keyring_json(primary="k" * 65, keys={"k" * 65: entry()}), "malformed"),
        (keyring_json(keys={"a": entry(KEY[:16])}), "malformed"),
        (keyring_json(keys={"a": entry(KEY + b"\x00")}), "malformed"),
        (keyring_json(keys={"a": entry(), "b": entry(KEY, "00000000")}), "check_failed"),
        (keyring_json(keys={"a": entry(KEY, 0)}), "check_failed"),
        (keyring_json(keys={"a": entry(KEY, check_value(new_key()))}), "check_failed"),
    ],
)
def test_a_keyring_that_cannot_be_used_is_refused_by_code(text: str, code: str) -> None:
    with pytest.raises(KeyringError) as refused:
        parse_keyring(text)
    assert refused.value.code == code


def test_a_check_value_catches_a_mistyped_key() -> None:
    mistyped = bytearray(KEY)
    mistyped[31] ^= 1
    with pytest.raises(KeyringError, match="check value"):
        parse_keyring(keyring_json(keys={"a": entry(bytes(mistyped), check_value(KEY))}))


def test_no_message_and_no_repr_holds_key_material() -> None:
    encoded = base64.b64encode(KEY).decode()
    for broken in (keyring_json(keys={"a": entry(KEY, "00000000")}), keyring_json(primary="b")):
        with pytest.raises(KeyringError) as refused:
            parse_keyring(broken)
        assert encoded not in str(refused.value)
        assert refused.value.__cause__ is None
    shown = repr(parse_keyring(keyring_json()))
    assert encoded not in shown
    assert repr(KEY) not in shown


def file_with(path: Path, mode: int) -> Path:
    path.write_text(keyring_json())
    path.chmod(mode)
    return path


def test_a_keyring_file_of_its_owner_alone_is_read(tmp_path: Path) -> None:
    for mode in (0o600, 0o400):
        assert load_keyring(json_text="", file=file_with(tmp_path / f"ring-{mode}", mode)).primary_id == "a"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620, 0o602, 0o610, 0o601, 0o777])
def test_a_keyring_file_that_others_can_reach_is_refused(tmp_path: Path, mode: int) -> None:
    with pytest.raises(KeyringError, match="chmod 600") as refused:
        load_keyring(json_text="", file=file_with(tmp_path / "ring", mode))
    assert refused.value.code == "exposed"


def test_a_missing_keyring_file_is_an_error_and_is_not_made(tmp_path: Path) -> None:
    for file in (tmp_path / "absent", tmp_path / "no folder" / "absent", None):
        with pytest.raises(KeyringError) as refused:
            load_keyring(json_text="", file=file)
        assert refused.value.code == "missing"
    assert not list(tmp_path.iterdir())


def test_an_unreadable_keyring_file_is_refused(tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    binary.chmod(0o600)
    for file in (tmp_path, binary):
        with pytest.raises(KeyringError) as refused:
            load_keyring(json_text="", file=file)
        assert refused.value.code == "unreadable"


def test_the_keyring_of_the_environment_comes_before_the_file(tmp_path: Path) -> None:
    ring = load_keyring(json_text=keyring_json(primary="b", keys={"b": entry()}), file=tmp_path / "absent")
    assert ring.primary_id == "b"
