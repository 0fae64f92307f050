"""What models really send, and what must be kept of it (E03)."""

import contextlib
import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from extraction.candidates import read_candidates
from llm.structured import MAX_BYTES, Unreadable, read_json

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ROWS = [json.loads(line) for line in Path(__file__).with_name("ugly_outputs.jsonl").read_text("utf-8").splitlines()]


def read(output: str) -> tuple[list[str], dict[str, int]]:
    reading = read_candidates(output, shown_ids=["m1", "m2"], now=NOW, zone=ZoneInfo("UTC"))
    return [candidate.body for candidate in reading.candidates], reading.refusals


@pytest.mark.parametrize("row", ROWS, ids=[row["name"].replace(" ", "_") for row in ROWS])
def test_e03_what_is_usable_of_an_ugly_answer_is_kept(row: dict[str, Any]) -> None:
    if error := row.get("error"):
        with pytest.raises(Unreadable) as raised:
            read(row["output"])
        assert raised.value.code == error
    else:
        assert read(row["output"]) == (row["kept"], row["refused"])


def test_e03_an_answer_of_ten_megabytes_is_refused_at_once() -> None:
    huge = '{"facts": [' + '{"key": "a", "content": "b"},' * 360_000 + "]}"
    assert len(huge) > 10_000_000
    started = time.process_time()
    with pytest.raises(Unreadable) as raised:
        read(huge)
    assert raised.value.code == "too_big"
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize("unit", ["[", "{", '{"a":', "[1,", '"', "<think>", "/*", "#", "'", "\\", "[[],"])
def test_e03_the_largest_answer_is_read_in_time(unit: str) -> None:
    text = (unit * MAX_BYTES)[: MAX_BYTES - 1]
    started = time.process_time()
    with contextlib.suppress(Unreadable):
        read_json(text)
    assert time.process_time() - started < 8
