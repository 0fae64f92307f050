"""How the offline model answers the extraction question: citations, dates, keys, limits, and text of any kind (C05)."""

import json
import time
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extraction.prompt import SCHEMA
from llm.client import ChatMessage, ChatRequest, ModelError, ResponseSchema
from llm.offline import MODEL_NAME, OfflineModel
from tests.llm.offline_requests import LISBON, MONDAY, facts, facts_of, request, shown

FIELDS = {"memory_type", "key", "content", "confidence", "expires_at", "sources"}


def test_only_messages_of_the_member_yield_facts() -> None:
    said = "I live in Porto and I'm allergic to peanuts."

    assert facts(shown(said, author="assistant"), shown(said, id="m2", author="other")) == []


def test_a_fact_cites_the_message_that_says_it() -> None:
    found = facts(
        shown("Hello there!", id="a"), shown("I live in Porto.", id="b"), shown("My sister Ines is a nurse.", id="c")
    )

    assert {fact["key"]: fact["sources"] for fact in found} == {
        "home.city": ["b"],
        "family.sister.ines.work": ["c"],
    }


def test_the_same_fact_said_again_cites_at_most_five_messages() -> None:
    [fact] = facts(*(shown("I love jazz.", id=f"m{number}") for number in range(8)))

    assert fact["sources"] == ["m0", "m1", "m2", "m3", "m4"]


def test_a_later_word_on_a_single_thing_replaces_the_earlier_one() -> None:
    [fact] = facts(shown("I live in Porto.", id="a"), shown("Actually I live in Braga now.", id="b"))

    assert (fact["content"], fact["sources"]) == ("Lives in Braga.", ["b"])


def test_at_most_ten_facts_come_back_and_the_surest_come_first() -> None:
    found = facts_of(
        "I like hiking, chess, jazz, tea, coffee, opera, tennis and skiing. I want to learn Italian. "
        "I have asthma. I'm allergic to nuts. My name is Ana. I work as a nurse."
    )

    assert len(found) == 10
    assert {"name", "allergy.nuts"} == {fact["key"] for fact in found[:2]}
    assert [fact["confidence"] for fact in found] == sorted((fact["confidence"] for fact in found), reverse=True)


def test_every_fact_has_the_fields_of_the_schema_and_a_short_plain_key() -> None:
    found = facts_of("I live in São Paulo, I speak Portuguese and my sister Zoë studies at the Universidade do Minho.")

    assert len(found) == 3
    for fact in found:
        assert set(fact) == FIELDS
        assert fact["memory_type"] in {"profile", "semantic", "episodic"}
        assert fact["key"].isascii()
        assert fact["key"] == fact["key"].lower()
        assert len(fact["key"]) <= 60
        assert 0.5 <= fact["confidence"] <= 0.95
        assert len(fact["content"]) <= 160
        assert "\n" not in fact["content"]


@pytest.mark.parametrize(
    ("text", "content", "expires"),
    [
        ("I'm flying to Osaka on 3 May.", "Is flying to Osaka on 3 May.", "2027-05-04T00:00:00+01:00"),
        ("I have a job interview on Friday.", "Has a job interview on 5 February 2027.", "2027-02-06T00:00:00+00:00"),
        ("I have an exam next Friday.", "Has an exam on 12 February 2027.", "2027-02-13T00:00:00+00:00"),
        ("I'm moving to Ghent next month.", "Is moving to Ghent in March 2027.", "2027-04-01T00:00:00+01:00"),
        ("I'm turning 40 in March.", "Is turning 40 in March 2027.", "2027-04-01T00:00:00+01:00"),
        ("I'm training for the Lisbon marathon in October.", "October 2027", None),  # beyond what a fact may last
        ("I moved to Porto in 2019.", "Lives in Porto (moved there in 2019).", None),
        ("I passed my driving test yesterday.", "Passed their driving test on 31 January 2027.", None),
        ("I broke my leg two weeks ago.", "Broke their leg in January 2027.", None),
    ],
)
def test_relative_dates_count_from_the_message(text: str, content: str, expires: str | None) -> None:
    [fact] = facts_of(text)

    assert content in fact["content"]
    assert fact["expires_at"] == expires


def test_tomorrow_is_the_members_tomorrow() -> None:
    late_evening_in_utc = datetime(2027, 2, 1, 23, 30, tzinfo=UTC)
    tokyo = ZoneInfo("Asia/Tokyo")  # there it is Tuesday morning already

    [fact] = facts(shown("I have a dentist appointment tomorrow.", at=late_evening_in_utc), zone=tokyo)

    assert "3 February 2027" in fact["content"]
    assert fact["expires_at"] == "2027-02-04T00:00:00+09:00"


def test_a_known_key_of_the_same_thing_is_used() -> None:
    known = [("semantic", "location.city"), ("profile", "allergies.peanuts"), ("profile", "job.title")]

    found = facts(shown("I live in Porto, I work as a nurse and I'm allergic to peanuts."), known=known)

    assert {(fact["memory_type"], fact["key"]) for fact in found} == set(known)


def test_a_dislike_of_what_was_liked_takes_the_known_key_so_that_they_disagree() -> None:
    [fact] = facts(shown("I don't like coffee."), known=[("profile", "likes.coffee")])

    assert (fact["key"], fact["content"]) == ("likes.coffee", "Dislikes coffee.")


def test_the_same_request_gets_the_same_answer() -> None:
    asked = request(shown("I live in Porto and I like hiking, chess and jazz. My sister Ines is a nurse."))

    assert len({OfflineModel().complete(asked).text for _ in range(5)}) == 1


def test_usage_counts_words_and_the_model_says_its_name() -> None:
    completion = OfflineModel().complete(request(shown("I live in Porto.")))

    assert completion.model == MODEL_NAME
    assert completion.usage.completion_tokens == len(completion.text.split())
    assert completion.usage.prompt_tokens > 100  # the instructions are counted too


def test_a_schema_that_no_rules_know_is_refused() -> None:
    asked = ChatRequest("offline", (ChatMessage("user", "hello"),), schema=ResponseSchema("horoscope", {}))

    with pytest.raises(ModelError) as failure:
        OfflineModel().complete(asked)

    assert (failure.value.code, failure.value.retryable) == ("refused_request", False)


@pytest.mark.parametrize(
    "question",
    [
        "",
        "hello",
        "[]",
        '{"messages": 3}',
        '{"messages": [{"author": "member"}, 7]}',
        "{",
        "[" * 5_000,
        '{"known_keys": 7}',
    ],
)
def test_a_question_that_is_not_the_expected_json_has_no_facts(question: str) -> None:
    asked = ChatRequest("offline", (ChatMessage("user", question),), schema=SCHEMA)

    assert json.loads(OfflineModel().complete(asked).text) == {"facts": []}


_PIECES = st.sampled_from(
    [
        "I",
        "my",
        "we",
        "am",
        "live in",
        "Porto",
        "and",
        ",",
        ".",
        "?",
        '"',
        "'",
        "(",
        ")",
        "\n",
        "> ",
        "```",
        "on 31",
        "February",
        "sister",
        "Ines",
        "is",
        "a",
        "nurse",
        "like",
        "not",
        "if",
        "that",
        "remember",
        ":",
        "to",
        "99",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(max_size=2_000), st.lists(_PIECES, max_size=120).map(" ".join)))
def test_any_text_gets_an_answer_in_the_schema(text: str) -> None:
    for fact in facts_of(text):
        assert set(fact) == FIELDS
        assert 0 < len(fact["content"]) <= 160
        assert fact["key"]
        assert fact["sources"] == ["m1"]


@pytest.mark.parametrize(
    "text",
    [
        "a" * 16_000,
        "I " * 8_000,
        '"a ' * 5_300,
        "my sister " * 1_600,
        "I like " + "tea, " * 3_100,
        "on 3 May in " * 1_300,
        "I am\n" * 3_200,
        "(" * 16_000,
        "My sister Ines is a nurse, and I work at Lindqvist because I like it. " * 228,
    ],
    ids=lambda text: text[:12],
)
def test_sixteen_thousand_characters_are_read_quickly(text: str) -> None:
    asked = request(shown(text))
    best = min(_seconds(asked) for _ in range(3))

    assert best < 0.3


def _seconds(asked: ChatRequest) -> float:
    started = time.process_time()
    OfflineModel().complete(asked)
    return time.process_time() - started


def test_the_zone_of_the_request_may_be_unknown() -> None:
    question = json.loads(request(shown("I have an exam on Friday.")).messages[-1].content)
    question["time_zone"] = "Mars/Olympus"
    asked = ChatRequest("offline", (ChatMessage("user", json.dumps(question)),), schema=SCHEMA)

    [fact] = json.loads(OfflineModel().complete(asked).text)["facts"]

    assert fact["expires_at"] == datetime(2027, 2, 6, tzinfo=MONDAY.tzinfo).isoformat()
    assert LISBON.key not in fact["content"]
