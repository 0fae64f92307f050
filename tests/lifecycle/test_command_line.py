"""What every command does alike: `--data-dir`, and a sentence where an operator can mend something (X01, X04)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import OperationalError, ProgrammingError
from psycopg import errors

from lifecycle import local
from lifecycle.command_line import BadArgument, sentences, take_data_dir
from lifecycle.postgres import PostgresError
from memoryproject.environment import BadEnvironment

ROOT = Path(__file__).resolve().parents[2]
VARIABLE = "MEMORYPROJECT_DATA_DIR"


@pytest.fixture(autouse=True)
def _default_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")  # so that what a test sets is taken back


@pytest.mark.parametrize("option", [["--data-dir", "{}"], ["--data-dir={}"]])
@pytest.mark.parametrize("place", [1, 2, 3])
def test_every_command_takes_the_data_folder_wherever_it_stands(tmp_path: Path, option: list[str], place: int) -> None:
    line = ["manage.py", "replay", "file"]
    given = [*line[:place], *(part.format(tmp_path) for part in option), *line[place:]]
    assert take_data_dir(given) == line
    assert local.data_dir() == tmp_path
    assert local.data_dir_option() == f" --data-dir {tmp_path}"


@pytest.mark.parametrize("words", [["--data-dir"], ["--data-dir="], ["--data-dir", ""], ["--data-dir", "--once"]])
def test_a_data_folder_without_its_name_is_refused(words: list[str]) -> None:
    with pytest.raises(BadArgument, match="needs a folder"):
        take_data_dir(["manage.py", "quickstart", *words])


def test_the_usual_folder_needs_no_option_and_what_follows_two_hyphens_is_no_option() -> None:
    line = ["manage.py", "replay", "--", "--data-dir"]
    assert take_data_dir(line) == line
    assert local.data_dir_option() == ""


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (BadEnvironment("A is bad."), "A is bad."),
        (BadArgument("B is bad."), "B is bad."),
        (PostgresError("It does not start."), "It does not start."),
        (OperationalError("password geheim is wrong"), "The database cannot be used"),
        (caused(ProgrammingError("geheim"), errors.UndefinedTable()), "run manage.py migrate"),
    ],
)
def test_what_an_operator_can_mend_is_one_sentence(error: Exception, said: str) -> None:
    with pytest.raises(SystemExit) as ended, sentences(BadEnvironment):
        raise error
    assert said in str(ended.value.code)
    assert "geheim" not in str(ended.value.code)


def test_an_interruption_is_quiet_and_a_fault_of_ours_keeps_its_traceback() -> None:
    with pytest.raises(SystemExit) as ended, sentences():
        raise KeyboardInterrupt
    assert ended.value.code == 130
    for fault in (ValueError("ours"), ProgrammingError("ours")):
        with pytest.raises(type(fault)), sentences():
            raise fault


def manage(*arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MEMORYPROJECT_")}
    kept.pop("DJANGO_SETTINGS_MODULE", None)
    kept.pop("DATABASE_URL", None)
    return subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), *arguments],
        env={**kept, **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


SECRET = "x" * 50


@pytest.mark.processes
@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"MEMORYPROJECT_MODE": "prodction"}, "MEMORYPROJECT_MODE is 'prodction'"),
        ({"MEMORYPROJECT_SECRET_KEY": "short"}, "MEMORYPROJECT_SECRET_KEY has 5 characters"),
        ({}, "MEMORYPROJECT_HOSTS is not set"),
        ({"MEMORYPROJECT_HOSTS": "a.example,*"}, "MEMORYPROJECT_HOSTS is not set, or is *"),
        ({"MEMORYPROJECT_HOSTS": "a.example"}, "DATABASE_URL is not set"),
    ],
)
def test_x04_production_refuses_what_is_missing_or_weak_and_writes_nothing(
    tmp_path: Path, variables: dict[str, str], named: str
) -> None:
    folder = tmp_path / "data"
    usual = {"MEMORYPROJECT_MODE": "production", "MEMORYPROJECT_SECRET_KEY": SECRET, VARIABLE: str(folder)}
    done = manage("check", **{**usual, **variables})
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert named in done.stderr
    assert not folder.exists()


@pytest.mark.processes
@pytest.mark.parametrize(
    "url", ["mysql://u:geheim@h/d", "postgresql://u:geheim@127.0.0.1:9/d", "postgresql://geheim@h"]
)
def test_a_database_that_cannot_be_used_is_one_sentence_without_its_url(tmp_path: Path, url: str) -> None:
    done = manage("migrate", "--data-dir", str(tmp_path), DATABASE_URL=url)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("memoryproject: ")
    assert "DATABASE_URL" in done.stderr
    assert "geheim" not in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.processes
def test_doctor_says_that_the_database_cannot_be_reached(tmp_path: Path) -> None:
    done = manage("doctor", "--data-dir", str(tmp_path), DATABASE_URL="postgresql://u@127.0.0.1:9/d")
    assert (done.returncode, done.stdout) == (1, "deployment: 1 wrong\n  database: cannot be reached\n")


@pytest.mark.processes
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["quickstart", "--port", "70000"], "use a number from 0 to 65535"),
        (["quickstart", "--port", "-1"], "use a number from 0 to 65535"),
        (["quickstart", "--data", "/nowhere"], "unrecognized arguments"),
        (["doctor", "--data", "/nowhere"], "unrecognized arguments"),
    ],
)
def test_arguments_that_cannot_be_used_are_refused(tmp_path: Path, arguments: list[str], said: str) -> None:
    done = manage(*arguments, "--data-dir", str(tmp_path), DATABASE_URL="postgresql://u@127.0.0.1:9/d")
    assert done.returncode == 2
    assert said in done.stderr
