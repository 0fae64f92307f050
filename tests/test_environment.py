"""A variable of the environment is read as its type, or the start stops with a sentence that names it."""

from pathlib import Path

import pytest

from memoryproject import environment as env

NAME = "MEMORYPROJECT_TEST_VARIABLE"


def test_an_absent_variable_gives_its_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NAME, raising=False)
    assert env.text(NAME, "x") == "x"
    assert env.choice(NAME, ("a", "b"), "b") == "b"
    assert env.boolean(NAME, default=True)
    assert not env.boolean(NAME, default=False)
    assert env.integer(NAME, default=7, minimum=1, maximum=9) == 7
    assert env.words(NAME) == []
    assert env.path(NAME) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [(word, True) for word in ("1", "true", "YES", " On ", "enabled")]
    + [(word, False) for word in ("0", "false", "NO", " off", "disabled", "")],
)
def test_a_boolean_is_read_in_any_case(monkeypatch: pytest.MonkeyPatch, value: str, expected: bool) -> None:
    monkeypatch.setenv(NAME, value)
    assert env.boolean(NAME, default=not expected) is expected


@pytest.mark.parametrize("value", ["2", "maybe", "tru", "1 0"])
def test_an_unreadable_boolean_stops_the_start(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(NAME, value)
    with pytest.raises(env.BadEnvironment, match=NAME):
        env.boolean(NAME, default=False)


@pytest.mark.parametrize(("value", "expected"), [("1", 1), (" 9 ", 9), ("03", 3), ("", 7), ("  ", 7)])
def test_an_integer_within_bounds_is_read(monkeypatch: pytest.MonkeyPatch, value: str, expected: int) -> None:
    monkeypatch.setenv(NAME, value)
    assert env.integer(NAME, default=7, minimum=1, maximum=9) == expected


@pytest.mark.parametrize("value", ["0", "10", "-1", "1.5", "1e1", "one", "²", "٣", "1_0", "9" * 5_000])
def test_any_other_integer_stops_the_start(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(NAME, value)
    with pytest.raises(env.BadEnvironment, match=f"{NAME} is .* from 1 to 9"):
        env.integer(NAME, default=7, minimum=1, maximum=9)


def test_a_choice_is_one_of_the_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, " local ")
    assert env.choice(NAME, ("local", "production"), "production") == "local"
    for value in ("Local", "prod", "local,production"):
        monkeypatch.setenv(NAME, value)
        with pytest.raises(env.BadEnvironment, match=f"{NAME} is '{value}'; use one of: local, production"):
            env.choice(NAME, ("local", "production"), "local")


def test_a_list_is_split_at_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, " a.example, ,b.example,")
    assert env.words(NAME) == ["a.example", "b.example"]


def test_a_path_may_start_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ana")
    for value, expected in (("~/ring.json", "/home/ana/ring.json"), (" /etc/ring.json ", "/etc/ring.json")):
        monkeypatch.setenv(NAME, value)
        assert env.path(NAME) == Path(expected)
