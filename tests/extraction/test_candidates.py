"""Reading an answer into candidates (E03, E04, F05)."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extraction.candidates import Candidate, Reading, read_candidates
from llm.structured import Unreadable

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")
SHOWN = ("m1", "m2", "m3", "m4", "m5", "m6")


def fact(**changes: Any) -> dict[str, Any]:
    return {
        "memory_type": "profile",
        "key": "home.city",
        "content": "Lives in Porto",
        "confidence": 0.9,
        "expires_at": None,
        "sources": ["m1"],
    } | changes


def read(value: Any) -> Reading:
    text = value if isinstance(value, str) else json.dumps(value)
    return read_candidates(text, shown_ids=SHOWN, now=NOW, zone=BERLIN)


def test_e03_a_plain_answer_becomes_candidates() -> None:
    assert read({"facts": [fact()]}) == Reading(
        [Candidate("profile", "home.city", "Lives in Porto", 0.9, None, ("m1",))]
    )


@pytest.mark.parametrize(
    "value",
    [
        [fact()],
        fact(),
        {"candidates": [fact()]},
        {"memories": [fact()]},
        {"response": {"data": {"facts": [fact()]}}},
        {"result": fact()},
        {"my_list": [fact()]},
        f"```json\n{json.dumps([fact()])}\n```",
        json.dumps({"facts": json.dumps([fact()])}),
    ],
)
def test_e03_the_list_is_found_however_it_is_wrapped(value: Any) -> None:
    assert [candidate.key for candidate in read(value).candidates] == ["home.city"]


@pytest.mark.parametrize("name", ["body", "fact", "text", "value"])
def test_the_body_may_have_another_name(name: str) -> None:
    spelled = {field: value for field, value in fact().items() if field != "content"} | {name: "Lives in Porto"}
    assert read([spelled]).candidates[0].body == "Lives in Porto"


@pytest.mark.parametrize("name", ["type", "memoryType", "memory-type", "Memory Type"])
@pytest.mark.parametrize("value", ["profile", "Profile", " PROFILE "])
def test_the_type_may_be_spelled_otherwise(name: str, value: str) -> None:
    spelled = {field: content for field, content in fact().items() if field != "memory_type"} | {name: value}
    assert read([spelled]).candidates[0].memory_type == "profile"


@pytest.mark.parametrize(
    ("sources", "read_as"),
    [
        (["m1", "m2"], ("m1", "m2")),
        ("m1", ("m1",)),
        ("m1, m2", ("m1", "m2")),
        ("[m1][m2]", ("m1", "m2")),
        (["M1", "m1"], ("m1",)),
        ([1, 2], ("m1", "m2")),
        (3, ("m3",)),
        ([{"id": "m2"}], ("m2",)),
    ],
)
def test_sources_are_read_in_the_ways_models_write_them(sources: Any, read_as: tuple[str, ...]) -> None:
    assert read([fact(sources=sources)]).candidates[0].sources == read_as


@pytest.mark.parametrize("sources", [[], None, "", ["m9"], ["m1", "m9"], list(SHOWN), [["m1"]], [True], {"x": 1}])
def test_e04_sources_outside_of_what_was_shown_none_or_more_than_five_are_a_citation_refusal(sources: Any) -> None:
    assert read([fact(sources=sources)]) == Reading([], {"citation": 1})


@pytest.mark.parametrize(
    "changes",
    [
        {"memory_type": "rumor"},
        {"memory_type": None},
        {"key": ""},
        {"key": "x" * 121},
        {"key": "two\nlines"},
        {"key": 7},
        {"content": "  "},
        {"content": "x" * 4001},
        {"content": "a\0b"},
        {"content": "a\ud800b"},
        {"content": ["Lives in Porto"]},
        {"confidence": 1.01},
        {"confidence": -0.1},
        {"confidence": "high"},
        {"confidence": True},
        {"confidence": 90},
        {"expires_at": "soon"},
        {"expires_at": "2026-11-29"},
        {"expires_at": "2026-11-30T12:00:00+00:00"},
        {"expires_at": "2026-02-30"},
        {"expires_at": 1800000000},
    ],
)
def test_e04_what_is_out_of_shape_or_range_is_malformed(changes: dict[str, Any]) -> None:
    assert read([fact(**changes)]) == Reading([], {"malformed": 1})


@pytest.mark.parametrize("value", [0, 1, 0.5, "0.5", 1.0])
def test_confidence_is_a_number_from_zero_to_one(value: Any) -> None:
    assert read([fact(confidence=value)]).candidates[0].confidence == float(value)


def test_f05_an_expiry_has_the_members_zone_and_may_not_be_later_than_180_days() -> None:
    limit = NOW + timedelta(days=180)
    assert read([fact(expires_at="2026-12-24T10:00:00")]).candidates[0].expires_at == datetime(
        2026, 12, 24, 9, tzinfo=UTC
    )
    assert read([fact(expires_at="2026-12-24")]).candidates[0].expires_at == datetime(2026, 12, 24, 23, tzinfo=UTC)
    assert read([fact(expires_at="2026-11-30")]).candidates[0].expires_at == datetime(2026, 11, 30, 23, tzinfo=UTC)
    assert read([fact(expires_at=limit.isoformat())]).candidates[0].expires_at == limit
    assert read([fact(expires_at=(limit + timedelta(seconds=1)).isoformat())]).refusals == {"malformed": 1}
    assert read([fact(expires_at="null")]).candidates[0].expires_at is None


def test_e03_one_bad_candidate_never_loses_the_others() -> None:
    reading = read([fact(), 3, "x", None, [fact()], fact(sources=["m9"]), fact(key="work.city")])
    assert [candidate.key for candidate in reading.candidates] == ["home.city", "work.city"]
    assert reading.refusals == {"malformed": 4, "citation": 1}


def test_e03_at_most_ten_are_considered_bad_ones_included() -> None:
    reading = read([3] * 4 + [fact(key=f"key.{number}") for number in range(20)])
    assert [candidate.key for candidate in reading.candidates] == [f"key.{number}" for number in range(6)]


@pytest.mark.parametrize(
    "text", ["", "  ", "[]", "{}", "null", '{"facts": []}', '{"facts": null}', "<think>none</think>"]
)
def test_e03_an_empty_answer_holds_no_candidates(text: str) -> None:
    assert read(text) == Reading()


def test_e03_an_answer_without_json_is_unreadable() -> None:
    with pytest.raises(Unreadable):
        read("I cannot help with that.")


def test_a_cut_off_answer_keeps_its_complete_candidates() -> None:
    text = json.dumps({"facts": [fact(), fact(key="work.city")]})
    assert [candidate.key for candidate in read(text[:-30]).candidates] == ["home.city"]


def test_a_candidate_does_not_show_its_body() -> None:
    assert "Porto" not in repr(read([fact()]).candidates[0])


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=9),
        lambda x: (
            st.lists(x)
            | st.dictionaries(st.sampled_from(["facts", "key", "content", "sources", "confidence", "type"]), x)
        ),
        max_leaves=20,
    )
)
@settings(deadline=None)
def test_no_answer_breaks_the_reader(value: Any) -> None:
    try:
        reading = read(value)
    except Unreadable:
        return
    assert len(reading.candidates) + sum(reading.refusals.values()) <= 10
