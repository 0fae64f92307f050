"""`check`, `doctor` and the replay say when deletions cannot be recorded, and when what was recorded is gone."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError
from django.utils import timezone

from accounts.models import User
from facts.erasure import Subject
from lifecycle.apps import check_ledger
from lifecycle.doctor import findings
from lifecycle.models import Deletion
from lifecycle.services import delete_memory

pytestmark = pytest.mark.django_db


@pytest.fixture
def ledger_file(tmp_path: Path, settings: Any) -> Path:
    settings.ERASURE_LEDGER = tmp_path / "apart" / "erasures.jsonl"
    return Path(settings.ERASURE_LEDGER)


def ids() -> list[str]:
    return [str(warning.id) for warning in check_ledger()]


def doctor() -> list[str]:
    return dict(findings())["ledger"]


def on_record(user: User) -> None:
    Deletion.objects.create(kind="user", subject_id=user.pk, memory_only=True, requested_at=timezone.now())


def test_a_ledger_that_can_be_written_or_made_passes(ledger_file: Path, owner: User) -> None:
    assert ids() == doctor() == []  # it is made with its folder by the first erasure
    ledger_file.parent.mkdir()
    assert ids() == []
    ledger_file.write_text("")
    assert ids() == []


def test_a_ledger_that_cannot_be_written_is_named(
    ledger_file: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger_file.mkdir(parents=True)
    assert ids() == ["lifecycle.W_LEDGER_UNWRITABLE"]
    assert str(ledger_file) in doctor()[0]
    settings.ERASURE_LEDGER = ledger_file / "ledger"
    monkeypatch.setattr("os.access", lambda *_: False)  # a folder of another account, or a file system for reading
    assert ids() == ["lifecycle.W_LEDGER_UNWRITABLE"]
    call_command("check", stderr=(said := StringIO()))
    assert "cannot be written" in said.getvalue()


def test_a_ledger_that_is_gone_or_empty_is_named_when_there_were_deletions(ledger_file: Path, owner: User) -> None:
    on_record(owner)
    assert ids() == ["lifecycle.W_LEDGER_LOST"]
    assert "There is no erasure ledger" in doctor()[0]
    ledger_file.parent.mkdir()
    ledger_file.write_text("")
    assert ids() == ["lifecycle.W_LEDGER_LOST"]
    assert "is empty, and the database has 1 deletions on record" in doctor()[0]


def test_the_check_needs_no_database(ledger_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable() -> int:
        raise DatabaseError

    monkeypatch.setattr(Deletion.objects, "count", unreachable)
    assert ids() == []


def test_a_replay_of_an_empty_ledger_is_an_error_where_deletions_are_on_record(ledger_file: Path, owner: User) -> None:
    ledger_file.parent.mkdir()
    ledger_file.write_text("")
    call_command("memory_replay_erasures", stdout=StringIO())  # nothing was ever deleted
    on_record(owner)
    out = StringIO()
    with pytest.raises(CommandError, match="ledger is empty"):
        call_command("memory_replay_erasures", stdout=out)
    assert "on record in the database that this ledger does not have: 1." in out.getvalue()


@pytest.mark.django_db(transaction=True)
def test_a_replay_says_how_many_deletions_its_ledger_lacks(ledger_file: Path, owner: User, colleague: User) -> None:
    delete_memory(subject=Subject("user", owner.pk), actor=None, now=timezone.now())
    call_command("memory_replay_erasures", stdout=(out := StringIO()))
    assert "does not have" not in out.getvalue()
    on_record(colleague)
    call_command("memory_replay_erasures", stdout=(out := StringIO()))
    assert "that this ledger does not have: 1." in out.getvalue()
