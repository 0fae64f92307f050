"""Date expressions of the offline model, resolved against the day on which they were said (E04a)."""

from datetime import date

import pytest

from llm.offline_rules.dates import find

MONDAY = date(2027, 2, 1)


@pytest.mark.parametrize(
    ("text", "future", "label", "first", "after"),
    [
        ("on 3 May", True, "on 3 May", date(2027, 5, 3), date(2027, 5, 4)),
        ("May 3rd, 2028", True, "on 3 May 2028", date(2028, 5, 3), date(2028, 5, 4)),
        ("on the 3rd of January", True, "on 3 January", date(2028, 1, 3), date(2028, 1, 4)),
        ("on the 3rd of January", False, "on 3 January", date(2027, 1, 3), date(2027, 1, 4)),
        ("2027-03-09", True, "on 9 March 2027", date(2027, 3, 9), date(2027, 3, 10)),
        ("in October", False, "in October 2026", date(2026, 10, 1), date(2026, 11, 1)),
        ("in late December", True, "in late December 2027", date(2027, 12, 1), date(2028, 1, 1)),
        ("last spring", False, "in spring 2026", date(2026, 3, 1), date(2026, 6, 1)),
        ("last winter", False, "in winter 2025", date(2025, 12, 1), date(2026, 3, 1)),
        ("next summer", True, "in summer 2027", date(2027, 6, 1), date(2027, 9, 1)),
        ("in 2019", False, "in 2019", date(2019, 1, 1), date(2020, 1, 1)),
        ("last year", False, "in 2026", date(2026, 1, 1), date(2027, 1, 1)),
        ("last month", False, "in January 2027", date(2027, 1, 1), date(2027, 2, 1)),
        ("next week", True, "in the week of 8 February 2027", date(2027, 2, 8), date(2027, 2, 15)),
        ("last weekend", False, "on the weekend of 30 January 2027", date(2027, 1, 30), date(2027, 2, 1)),
        ("tomorrow morning", True, "on 2 February 2027", date(2027, 2, 2), date(2027, 2, 3)),
        ("yesterday", False, "on 31 January 2027", date(2027, 1, 31), date(2027, 2, 1)),
        ("on Thursday", True, "on 4 February 2027", date(2027, 2, 4), date(2027, 2, 5)),
        ("on Thursday", False, "on 28 January 2027", date(2027, 1, 28), date(2027, 1, 29)),
        ("next Thursday", True, "on 11 February 2027", date(2027, 2, 11), date(2027, 2, 12)),
        ("three days ago", False, "on 29 January 2027", date(2027, 1, 29), date(2027, 1, 30)),
        ("a couple of years ago", False, "in 2025", date(2025, 1, 1), date(2026, 1, 1)),
        ("in two weeks", True, "on 15 February 2027", date(2027, 2, 15), date(2027, 2, 16)),
        ("in six months", True, "in August 2027", date(2027, 8, 1), date(2027, 9, 1)),
        ("on the 14th", True, "on 14 February 2027", date(2027, 2, 14), date(2027, 2, 15)),
    ],
)
def test_an_expression_means_the_nearest_date_on_its_side_of_the_day(
    text: str, future: bool, label: str, first: date, after: date
) -> None:
    found = find(f"we go there {text}", MONDAY, future=future)

    assert found is not None
    assert (found.when.label, found.when.first, found.when.after) == (label, first, after)


@pytest.mark.parametrize("text", ["every Thursday", "on Thursdays", "I may go", "31 February", "room 3", "marching on"])
def test_what_is_no_date_is_left_alone(text: str) -> None:
    assert find(text, MONDAY, future=True) is None
