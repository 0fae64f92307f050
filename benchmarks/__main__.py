"""The command of the figures: `python -m benchmarks [NAME…] [--data DIR] [--json FILE]`; exit 1 when a gate breaks."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Final

from benchmarks.figures import Context, Figure, Skipped, as_json, load, report
from benchmarks.scratch import scratch_database
from lifecycle.postgres import PostgresError

FIGURES: Final = (
    Figure("b1", "the prompt block: gate and 200 facts read, opened, rendered", "benchmarks.prompt_block"),
    Figure("b2", "opening a full scope", "benchmarks.prompt_block"),
    Figure("b3", "what memory adds to a chat turn", "benchmarks.turn"),
    Figure("b4", "extraction of ten candidates without the model", "benchmarks.writing"),
    Figure("b9", "a night of retention", "benchmarks.retention"),
    Figure("b10", "the Memory tab with 200 facts", "benchmarks.memory_tab"),
    Figure("b11", "the first streamed token with 50 streams open at once", "benchmarks.streaming"),
    Figure("screening", "the write-time filter on labelled texts", "benchmarks.labelled", database=False),
)


def main(
    arguments: Sequence[str] | None = None,
    *,
    figures: Sequence[Figure] = FIGURES,
    database: Callable[[], AbstractContextManager[None]] = scratch_database,
) -> int:
    """Measure the named figures, or all; return 0, or 1 when a gate breaks or the database cannot be had."""
    chosen, options = _parse(arguments, figures)
    context = Context(options.data)
    try:
        with database() if any(figure.database for figure in chosen) else nullcontext():
            results = [_measure(figure, context) for figure in chosen]
    except PostgresError as error:
        print(error, file=sys.stderr)
        return 1
    if options.json:
        options.json.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n")
    broken = [result["figure"] for result in results if result["passed"] is False]
    if broken:
        print(f"Gates broken: {', '.join(broken)}.")
    return 1 if broken else 0


def _parse(arguments: Sequence[str] | None, figures: Sequence[Figure]) -> tuple[list[Figure], argparse.Namespace]:
    by_name = {figure.name: figure for figure in figures}
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of: {', '.join(by_name)}; none means all")
    parser.add_argument("--data", type=Path, help="the folder with evaluation data; figures that need it are skipped")
    parser.add_argument("--json", type=Path, help="also write the results to this file")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in by_name]
    if unknown:
        parser.error(f"no figure is named {', '.join(unknown)}; there are: {', '.join(by_name)}")
    if options.data is not None and not options.data.is_dir():
        parser.error(f"{options.data} is not a folder")
    return [by_name[name] for name in dict.fromkeys(options.names or by_name)], options


def _measure(figure: Figure, context: Context) -> dict[str, Any]:
    try:
        outcome = figure.measure(context)
    except Skipped as lack:
        print(f"{figure.name}: {figure.title}\n  skipped: {lack}", flush=True)
        return {"figure": figure.name, "title": figure.title, "passed": None, "skipped": str(lack)}
    machine = load()
    print(report(figure, outcome, machine), flush=True)
    return as_json(figure, outcome, machine)


if __name__ == "__main__":
    sys.exit(main())
