"""What a figure is and how one is measured: floor and subject alternating in one process; knows no figure by name."""

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

PAIRS: Final = 200
MIN_PAIRS: Final = 100
SLOW_PAIRS: Final = 5  # where one run takes over a second
SLOW_SECONDS: Final = 1.0
WARM_UP: Final = 10  # prepares statements, fills caches; a statement is prepared at its sixth use


class Skipped(Exception):
    """A figure cannot be measured here; the message says what it lacks."""


@dataclass(frozen=True, slots=True)
class Check:
    """One number against its limit. A target is reported like a gate and fails nothing."""

    what: str
    value: float
    limit: float
    at_least: bool = False
    target: bool = False

    @property
    def met(self) -> bool:
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    @property
    def breaks(self) -> bool:
        return not (self.met or self.target)

    def __str__(self) -> str:
        kind = "target" if self.target else "gate"
        verdict = "met" if self.met else "missed" if self.target else "BROKEN"
        return f"{self.what} {self.value:.4g} ({kind} {'≥' if self.at_least else '≤'} {self.limit:g}): {verdict}"


@dataclass(frozen=True, slots=True)
class Timing:
    """Medians in milliseconds of so many alternating runs."""

    floor_ms: float
    subject_ms: float
    pairs: int

    @property
    def ratio(self) -> float:
        return self.subject_ms / self.floor_ms


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a figure: the timing if it has one, its checks, and more numbers worth seeing."""

    checks: tuple[Check, ...]
    timing: Timing | None = None
    notes: dict[str, float | int | str] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        return not any(check.breaks for check in self.checks)


@dataclass(frozen=True, slots=True)
class Context:
    """What a figure may use: the data folder of `--data`, if there is one."""

    data: Path | None = None

    def data_with(self, *names: str) -> Path:
        """Return the first of the folders `names` in the data folder, or raise Skipped."""
        if self.data is None:
            raise Skipped(f"needs --data DIR with the folder {' or '.join(names)}")
        for name in names:
            if (self.data / name).is_dir():
                return self.data / name
        raise Skipped(f"{self.data} has no folder {' or '.join(names)}")


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the design by name. `module` is imported late and has `measure_NAME(context) -> Outcome`."""

    name: str
    title: str
    module: str
    database: bool = True

    def measure(self, context: Context) -> Outcome:
        """Return the outcome. Raises Skipped."""
        from importlib import import_module

        measure: Callable[[Context], Outcome] = getattr(import_module(self.module), f"measure_{self.name}")
        return measure(context)


def alternate(
    floor: Callable[[], object],
    subject: Callable[[], object],
    *,
    without: Callable[[], object] | None = None,
    between: Callable[[], object] = lambda: None,
    pairs: int = PAIRS,
) -> Timing:
    """Time floor and subject in turn; with `without`, the subject is what it takes longer than that.

    The floor of a figure is the least that the work could cost, so that the ratio holds on any machine. At least
    100 pairs, or 5 when one run takes over a second. `between` puts things back after each round, untimed.
    """
    runs = [floor, subject] if without is None else [floor, subject, without]

    def round_of() -> list[float]:
        times = [_seconds(run) for run in runs]
        between()
        return times

    slow = max(round_of()) > SLOW_SECONDS
    for _ in range(0 if slow else WARM_UP):
        round_of()
    count = SLOW_PAIRS if slow else max(pairs, MIN_PAIRS)
    rounds = [round_of() for _ in range(count)]
    floors = [times[0] for times in rounds]
    subjects = [times[1] - times[2] if without else times[1] for times in rounds]
    return Timing(statistics.median(floors) * 1000, statistics.median(subjects) * 1000, count)


def _seconds(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def against_floor(
    timing: Timing, gate: float, *checks: Check, target: bool = False, **notes: float | int | str
) -> Outcome:
    """Return the outcome of a figure whose first check is the ratio."""
    return Outcome((Check("ratio", timing.ratio, gate, target=target), *checks), timing, notes)


def load() -> str:
    """Return the machine's load: running processes over the last minute, and its cores."""
    return f"{os.getloadavg()[0]:.2f} on {os.cpu_count()} cores"


def report(figure: Figure, outcome: Outcome, machine: str) -> str:
    """Return the lines that a person reads."""
    lines = [f"{figure.name}: {figure.title}"]
    if outcome.timing is not None:
        timing = outcome.timing
        lines.append(
            f"  floor {timing.floor_ms:.3f} ms, subject {timing.subject_ms:.3f} ms, ratio {timing.ratio:.2f}, "
            f"{timing.pairs} pairs, load {machine}"
        )
    lines += [f"  {check}" for check in outcome.checks]
    lines += [f"  {name}: {value}" for name, value in outcome.notes.items()]
    return "\n".join(lines)


def as_json(figure: Figure, outcome: Outcome, machine: str) -> dict[str, Any]:
    """Return the same for a program."""
    timing = outcome.timing
    return {
        "figure": figure.name,
        "title": figure.title,
        "passed": outcome.passed,
        "load": machine,
        "floor_ms": timing.floor_ms if timing else None,
        "subject_ms": timing.subject_ms if timing else None,
        "ratio": timing.ratio if timing else None,
        "pairs": timing.pairs if timing else None,
        "checks": [
            {
                "what": check.what,
                "value": check.value,
                "limit": check.limit,
                "bound": "at least" if check.at_least else "at most",
                "kind": "target" if check.target else "gate",
                "met": check.met,
            }
            for check in outcome.checks
        ],
        "notes": outcome.notes,
    }
