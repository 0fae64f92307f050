"""The data folder of a local deployment (X04)."""

import stat
from pathlib import Path

import pytest

from lifecycle import local


@pytest.fixture(autouse=True)
def _no_keyring_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in local.KEYRING_VARIABLES:
        monkeypatch.delenv(name, raising=False)


def test_a_first_start_writes_keyring_and_secret_key_closed_to_others_and_says_so(tmp_path: Path) -> None:
    said = local.prepare(tmp_path / "data")
    assert len(said) == 2
    for file in (local.keyring_file(tmp_path / "data"), local.secret_key_file(tmp_path / "data")):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_second_start_writes_nothing(tmp_path: Path) -> None:
    local.prepare(tmp_path)
    before = local.keyring_file(tmp_path).read_text(), local.read_secret_key(tmp_path)
    assert local.prepare(tmp_path) == []
    assert (local.keyring_file(tmp_path).read_text(), local.read_secret_key(tmp_path)) == before


def test_a_lost_keyring_is_not_replaced_by_a_new_one(tmp_path: Path) -> None:
    local.prepare(tmp_path)
    local.keyring_file(tmp_path).unlink()
    assert local.prepare(tmp_path) == []
    assert not local.keyring_file(tmp_path).exists()


def test_no_keyring_is_written_where_another_one_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORYPROJECT_KEYRING_FILE", str(tmp_path / "elsewhere.json"))
    local.prepare(tmp_path)
    assert not local.keyring_file(tmp_path).exists()
