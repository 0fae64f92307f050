"""The runner of the figures: arithmetic, exit codes, messages. Measures nothing that depends on the machine."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import figures
from benchmarks.__main__ import FIGURES, main
from benchmarks.figures import Check, Context, Figure, Outcome, Skipped, Timing, against_floor, alternate

MODULE = "tests.benchmarks.test_runner"  # of the figures below
opened: list[str] = []


def measure_fast(_context: Context) -> Outcome:
    return against_floor(Timing(2.0, 3.0, 100), 2.0, rows=200)


def measure_slow(_context: Context) -> Outcome:
    return against_floor(Timing(2.0, 5.0, 100), 2.0)


def measure_hoped(_context: Context) -> Outcome:
    return against_floor(Timing(2.0, 5.0, 100), 2.0, target=True)


def measure_labelled(context: Context) -> Outcome:
    return Outcome((Check("rows", len(list(context.data_with("texts").iterdir())), 1, at_least=True),))


CAST = tuple(
    Figure(name, f"the {name} one", MODULE, database=name != "labelled")
    for name in ("fast", "slow", "hoped", "labelled")
)


@contextmanager
def database() -> Iterator[None]:
    opened.append("database")
    yield


def run(*arguments: str) -> int:
    opened.clear()
    return main(arguments, figures=CAST, database=database)


class Clock:
    """Time that passes only when something takes time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(figures, "time", SimpleNamespace(perf_counter=lambda: self.now))

    def takes(self, *seconds: float) -> "Task":
        return Task(self, seconds)


class Task:
    """Takes the given seconds in turn, the last of them from then on; counts its runs."""

    def __init__(self, clock: Clock, seconds: tuple[float, ...]) -> None:
        self.clock, self.seconds, self.runs = clock, seconds, 0

    def __call__(self) -> None:
        self.clock.now += self.seconds[min(self.runs, len(self.seconds) - 1)]
        self.runs += 1


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_the_ratio_is_the_subject_s_median_over_the_floor_s(clock: Clock) -> None:
    timing = alternate(clock.takes(0.002), clock.takes(0.005))
    assert (round(timing.floor_ms, 6), round(timing.subject_ms, 6), round(timing.ratio, 6)) == (2.0, 5.0, 2.5)


def test_one_slow_run_does_not_move_the_median(clock: Clock) -> None:
    seconds = [0.002] * 50 + [0.9] + [0.002]
    assert round(alternate(clock.takes(0.001), clock.takes(*seconds)).ratio, 6) == 2.0


def test_with_without_the_subject_is_the_difference(clock: Clock) -> None:
    timing = alternate(clock.takes(0.001), clock.takes(0.005), without=clock.takes(0.003))
    assert round(timing.ratio, 6) == 2.0


def test_floor_and_subject_alternate_and_what_is_between_is_not_timed(clock: Clock) -> None:
    order: list[str] = []
    between = clock.takes(0.5)
    timing = alternate(lambda: order.append("floor"), lambda: order.append("subject"), between=between, pairs=100)
    assert order == ["floor", "subject"] * (len(order) // 2)
    assert between.runs == len(order) // 2
    assert timing.subject_ms == 0


@pytest.mark.parametrize(("asked", "given"), [(1, 100), (100, 100), (250, 250)])
def test_there_are_at_least_a_hundred_pairs(clock: Clock, asked: int, given: int) -> None:
    assert alternate(clock.takes(0.001), clock.takes(0.001), pairs=asked).pairs == given


def test_five_pairs_are_enough_where_one_run_takes_over_a_second(clock: Clock) -> None:
    subject = clock.takes(1.5)
    assert alternate(clock.takes(0.001), subject).pairs == 5
    assert subject.runs == 6  # and no warm-up but the first


@pytest.mark.parametrize(
    ("check", "met", "breaks"),
    [
        (Check("ratio", 2.0, 2.0), True, False),
        (Check("ratio", 2.1, 2.0), False, True),
        (Check("ratio", 2.1, 2.0, target=True), False, False),
        (Check("recall", 0.9, 0.9, at_least=True), True, False),
        (Check("recall", 0.8, 0.9, at_least=True), False, True),
    ],
)
def test_a_gate_breaks_beyond_its_limit_and_a_target_never_does(check: Check, met: bool, breaks: bool) -> None:
    assert (check.met, check.breaks) == (met, breaks)
    assert Outcome((check,)).passed is not breaks


def test_a_met_gate_exits_with_0_and_prints_floor_subject_ratio_gate_and_load(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run("fast") == 0
    printed = capsys.readouterr().out
    for part in (
        "fast: the fast one",
        "floor 2.000 ms",
        "subject 3.000 ms",
        "ratio 1.50",
        "gate ≤ 2",
        "load",
        "rows: 200",
    ):
        assert part in printed


def test_a_broken_gate_exits_with_1_and_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("fast", "slow", "hoped") == 1
    printed = capsys.readouterr().out
    assert "Gates broken: slow." in printed
    assert "BROKEN" in printed


def test_a_missed_target_exits_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("hoped") == 0
    assert "target ≤ 2): missed" in capsys.readouterr().out


def test_an_unknown_name_is_an_error_that_lists_the_names(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        run("fast", "fats")
    assert exit_.value.code == 2
    printed = capsys.readouterr().err
    assert "no figure is named fats" in printed
    assert "fast, slow, hoped, labelled" in printed
    assert opened == []


def test_without_its_data_a_figure_says_so_and_is_skipped(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run("labelled") == 0
    assert "skipped: needs --data DIR with the folder texts" in capsys.readouterr().out
    assert run("labelled", "--data", str(tmp_path)) == 0
    assert f"skipped: {tmp_path} has no folder texts" in capsys.readouterr().out
    (tmp_path / "texts").mkdir()
    assert run("labelled", "--data", str(tmp_path)) == 1


def test_a_data_folder_that_is_none_is_an_error(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        run("labelled", "--data", str(tmp_path / "nowhere"))
    assert "is not a folder" in capsys.readouterr().err


def test_the_database_is_made_once_and_only_for_figures_that_need_it() -> None:
    run("labelled")
    assert opened == []
    run("fast", "slow")
    assert opened == ["database"]


def test_without_names_every_figure_runs_once(tmp_path: Path) -> None:
    run("--json", str(tmp_path / "out.json"))
    assert [result["figure"] for result in json.loads((tmp_path / "out.json").read_text())] == [
        figure.name for figure in CAST
    ]


def test_the_json_file_says_the_same_as_the_printed_lines(tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    run("fast", "labelled", "--json", str(file))
    measured, skipped = json.loads(file.read_text())
    assert (measured["floor_ms"], measured["subject_ms"], measured["ratio"], measured["passed"]) == (
        2.0,
        3.0,
        1.5,
        True,
    )
    assert measured["checks"] == [
        {"what": "ratio", "value": 1.5, "limit": 2.0, "bound": "at most", "kind": "gate", "met": True}
    ]
    assert measured["notes"] == {"rows": 200}
    assert skipped["passed"] is None
    assert "--data" in skipped["skipped"]


def test_a_skip_is_raised_by_the_context_itself() -> None:
    with pytest.raises(Skipped):
        Context().data_with("filter")


def test_the_names_of_the_figures_are_unique_and_their_modules_exist() -> None:
    root = Path(__file__).resolve().parents[2]
    assert len({figure.name for figure in FIGURES}) == len(FIGURES)
    for figure in FIGURES:
        module = (root / figure.module.replace(".", "/")).with_suffix(".py")
        assert f"def measure_{figure.name}(" in module.read_text()
