"""The keyring file is edited whole or not at all, is always readable, and is backed up under a passphrase."""

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from encryption import envelope, keyfile
from encryption.keys import KeyringError, load_keyring, new_keyring_json, parse_keyring

PASSPHRASE = "correct horse battery staple"


@pytest.fixture(autouse=True)
def _cheap_scrypt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(envelope, "SCRYPT_COST", 2**10)


@pytest.fixture
def ring_file(tmp_path: Path) -> Path:
    file = tmp_path / "keyring.json"
    keyfile.write_private(file, new_keyring_json())
    return file


def test_a_kek_is_added_made_primary_and_the_old_one_removed(ring_file: Path) -> None:
    old = load_keyring(json_text="", file=ring_file)
    new_id = keyfile.add_kek(ring_file)
    added = load_keyring(json_text="", file=ring_file)
    assert added.primary_id == old.primary_id
    assert set(added.keys) == {old.primary_id, new_id}
    keyfile.make_primary(ring_file, new_id)
    keyfile.remove_kek(ring_file, old.primary_id)
    left = load_keyring(json_text="", file=ring_file)
    assert (left.primary_id, list(left.keys)) == (new_id, [new_id])
    assert stat.S_IMODE(ring_file.stat().st_mode) == 0o600
    assert [path.name for path in ring_file.parent.iterdir()] == ["keyring.json"]


def test_an_edit_that_makes_no_sense_is_refused_and_changes_nothing(ring_file: Path) -> None:
    before = ring_file.read_text()
    primary = load_keyring(json_text="", file=ring_file).primary_id
    with pytest.raises(keyfile.KeyfileError, match="has no key"):
        keyfile.make_primary(ring_file, "kek-none")
    with pytest.raises(keyfile.KeyfileError, match="has no key"):
        keyfile.remove_kek(ring_file, "kek-none")
    with pytest.raises(keyfile.KeyfileError, match="primary"):
        keyfile.remove_kek(ring_file, primary)
    assert ring_file.read_text() == before


def test_an_edit_of_a_keyring_that_others_can_read_is_refused(ring_file: Path) -> None:
    ring_file.chmod(0o644)
    with pytest.raises(KeyringError, match="chmod 600"):
        keyfile.add_kek(ring_file)


def test_a_failed_write_leaves_the_old_file_and_no_draft(ring_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = ring_file.read_text()

    def disk_full(_: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", disk_full)
    with pytest.raises(keyfile.KeyfileError, match="cannot be written"):
        keyfile.write_private(ring_file, "{}")
    assert ring_file.read_text() == before
    assert [path.name for path in ring_file.parent.iterdir()] == ["keyring.json"]


EDITOR = """
import sys
from pathlib import Path
from encryption.keyfile import add_kek
for _ in range(15):
    add_kek(Path(sys.argv[1]))
"""
READER = """
import sys
from pathlib import Path
from encryption.keys import load_keyring
while len(load_keyring(json_text="", file=Path(sys.argv[1])).keys) < 31:
    pass
"""


@pytest.mark.processes
def test_two_editors_lose_no_key_while_two_readers_always_find_a_whole_keyring(ring_file: Path) -> None:
    root = Path(__file__).parents[2]
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(ring_file)], cwd=root)
        for code in (READER, READER, EDITOR, EDITOR)
    ]
    assert [process.wait(timeout=60) for process in running] == [0, 0, 0, 0]
    assert len(load_keyring(json_text="", file=ring_file).keys) == 31


def test_a_backup_opens_with_its_passphrase_alone_and_shows_no_key() -> None:
    ring = parse_keyring(new_keyring_json())
    text = keyfile.sealed_backup(ring, PASSPHRASE)
    assert keyfile.open_backup(text, PASSPHRASE) == ring
    assert ring.primary_id not in text
    with pytest.raises(keyfile.KeyfileError, match="another one"):
        keyfile.open_backup(text, PASSPHRASE + " ")
    assert keyfile.sealed_backup(ring, PASSPHRASE) != text


def test_a_changed_backup_is_refused() -> None:
    raw = json.loads(keyfile.sealed_backup(parse_keyring(new_keyring_json()), PASSPHRASE))
    for name in ("salt", "sealed"):
        changed = ("A" if raw[name][0] != "A" else "B") + raw[name][1:]
        with pytest.raises(keyfile.KeyfileError, match="was changed"):
            keyfile.open_backup(json.dumps(raw | {name: changed}), PASSPHRASE)
    for broken in ({"sealed": "AAAA"}, {"salt": "AAAA"}):
        with pytest.raises(keyfile.KeyfileError):
            keyfile.open_backup(json.dumps(raw | broken), PASSPHRASE)


@pytest.mark.parametrize(
    "text", ["", "[]", "null", '"text"', "{}", '{"format": 1}', '{"format": "x", "salt": "", "sealed": ""}']
)
def test_what_is_no_backup_is_refused(text: str) -> None:
    with pytest.raises(keyfile.KeyfileError):
        keyfile.open_backup(text, PASSPHRASE)


def test_a_short_passphrase_is_refused() -> None:
    with pytest.raises(keyfile.KeyfileError, match="at least 12"):
        keyfile.sealed_backup(parse_keyring(new_keyring_json()), "too short")


def test_a_keyring_is_put_back_and_never_over_a_different_one_unless_told(ring_file: Path, tmp_path: Path) -> None:
    ring, other = load_keyring(json_text="", file=ring_file), parse_keyring(new_keyring_json())
    assert keyfile.install(ring_file, ring, replace_other=False) is None
    with pytest.raises(keyfile.KeyfileError, match="different"):
        keyfile.install(ring_file, other, replace_other=False)
    assert load_keyring(json_text="", file=ring_file) == ring
    kept = keyfile.install(ring_file, other, replace_other=True)
    assert kept is not None
    assert load_keyring(json_text="", file=kept) == ring
    assert load_keyring(json_text="", file=ring_file) == other
    new = tmp_path / "new folder" / "keyring.json"
    assert keyfile.install(new, ring, replace_other=False) is None
    assert load_keyring(json_text="", file=new) == ring
