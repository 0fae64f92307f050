"""Junk is not stored and good facts are, measured on the committed corpora (E04, E04a)."""

from collections import Counter

import pytest

from tests.extraction.corpora import JudgedRow, judged_rows

MAX_JUNK_STORED = 0.02
MIN_GOOD_KEPT = 0.92


def report(rows: list[JudgedRow]) -> str:
    """Return what went wrong, one row a line, and the counts by kind."""
    wrong = [row for row in rows if row.should_store != (row.reason is None)]
    lines = [f"{row.id} {row.kind} {row.language} {row.reason or 'stored'}: {row.content}" for row in wrong]
    return "\n".join([f"{len(wrong)} of {len(rows)}: {dict(Counter(row.kind for row in wrong))}", *lines])


def test_e04a_at_most_two_percent_of_the_junk_is_stored() -> None:
    rows = list(judged_rows("junk"))
    print("junk stored:", report(rows))  # noqa: T201 (shown when the test fails, or with -s)
    assert sum(row.reason is None for row in rows) <= MAX_JUNK_STORED * len(rows)


def test_e04a_at_least_ninety_two_percent_of_the_good_facts_are_kept() -> None:
    rows = list(judged_rows("good"))
    print("good refused:", report(rows))  # noqa: T201 (shown when the test fails, or with -s)
    assert sum(row.reason is None for row in rows) >= MIN_GOOD_KEPT * len(rows)


@pytest.mark.parametrize("should_store", [True, False])
@pytest.mark.parametrize("name", ["fresh", "second", "third"])
def test_e04a_later_rows_are_judged_like_the_corpora(name: str, should_store: bool) -> None:
    rows = [row for row in judged_rows(name) if row.should_store is should_store]
    print(name, report(rows))  # noqa: T201 (shown when the test fails, or with -s)
    right = sum((row.reason is None) is should_store for row in rows)
    assert right >= (MIN_GOOD_KEPT if should_store else 1 - MAX_JUNK_STORED) * len(rows)


def test_e04_only_the_listed_reasons_are_given() -> None:
    listed = {"malformed", "citation", "pii", "secret", "injection", "transcript", "ungrounded", "shape"}
    reasons = {
        row.reason.split()[0]
        for name in ("junk", "good", "fresh", "second", "third")
        for row in judged_rows(name)
        if row.reason
    }
    assert reasons <= listed
