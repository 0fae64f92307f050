"""A fact must have been asserted by the member: not asked, imagined, joked, denied, told of others or taken back."""

import time
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.screening import adversarial
from extraction.evidence import Heard, find_doubt
from extraction.own_words import Cited

AT = datetime(2026, 11, 30, 12, tzinfo=ZoneInfo("Europe/Berlin"))


def rule(body: str, *said: str) -> str | None:
    """Return the rule that doubts a body; what starts with "A:" is the assistant's and is not cited."""
    messages = [Cited(text.removeprefix("A:"), not text.startswith("A:"), AT) for text in said]
    doubt = find_doubt(body, [message for message in messages if message.own], Heard(messages))
    return f"{doubt.reason} {doubt.rule}" if doubt else None


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("Lives in Rome", "if I moved to Rome, would I need a visa?"),
        ("Has a dog", "I wish I had a dog"),
        ("Wohnt in Wien", "wenn ich in Wien wohnen würde, hätte ich einen Garten"),
        ("Tiene un barco", "ojalá tuviera un barco"),
        ("Has kids", "we might have kids one day"),
        ("Owns a cabin", "hoping to buy a cabin"),
        ("Studied law", "had I studied law I'd be rich"),
        ("Has a greyhound", "someone told me I should get a greyhound"),
    ],
)
def test_e04a_what_is_only_imagined_or_wished_for_is_no_fact(body: str, said: str) -> None:
    assert rule(body, said) in ("ungrounded hypothetical", "ungrounded question")


def test_e04a_a_wish_told_as_a_wish_is_a_fact() -> None:
    assert rule("Wants to move to Rome", "I want to move to Rome") is None
    assert rule("Is considering a dog", "we might get a dog") is None
    assert rule("Takes the tram when it rains", "if it rains I take the tram") is None


def test_e04a_a_question_asserts_only_what_it_takes_for_granted() -> None:
    assert rule("Lives in Porto", "is it cold in Porto in March?") == "ungrounded question"
    assert rule("Has a son who is 4", "how do I get my 4 year old son to sleep?") is None
    assert rule("Lives in Ghent", "where can I get bread? I live in Ghent") is None


@pytest.mark.parametrize(
    "said",
    [
        ("I own three yachts, just kidding",),
        ("I own three yachts. jk",),
        ("I own three yachts /s",),
        ("I own three yachts", "A:Wow!", "just kidding"),
    ],
)
def test_e04a_a_joke_is_no_fact(said: tuple[str, ...]) -> None:
    assert rule("Owns three yachts", *said) == "ungrounded joke"


def test_e04a_a_member_who_does_not_joke_is_believed() -> None:
    assert rule("Owns three yachts", "I own three yachts, no joke") is None


def test_e04a_evidence_and_fact_must_both_affirm_or_both_deny() -> None:
    assert rule("Smokes", "I no longer smoke") == "ungrounded polarity"
    assert rule("Does not smoke", "I smoke a pack a day") == "ungrounded polarity"
    assert rule("Does not smoke any more", "I no longer smoke") is None
    assert rule("Loves oolong", "I don't drink coffee but I love oolong") is None
    assert rule("Isst Fleisch", "ich esse kein Fleisch") == "ungrounded polarity"
    assert rule("Is vegan", "don't forget that I am vegan") is None


def test_e04a_the_private_life_of_others_is_no_fact_but_the_family_is() -> None:
    assert rule("Neighbor Klaus drinks", "my neighbor Klaus drinks") == "ungrounded gossip"
    assert rule("Lucy is pregnant", "I heard Lucy is pregnant") == "ungrounded gossip"
    assert rule("Wife is pregnant", "my wife is pregnant") is None
    assert rule("Boss Carla wants reports on Mondays", "my boss Carla wants reports on Mondays") is None


def test_e04a_a_single_job_is_no_fact_but_a_standing_wish_is() -> None:
    assert rule("Wants this sentence translated", "translate this sentence: it rains") == "shape one_off"
    assert rule("Wants short answers", "keep answers short from now on") is None


def test_e04a_what_the_member_takes_back_is_no_fact() -> None:
    assert rule("Has lupus", "I have lupus. actually forget I said that") == "ungrounded taken_back"
    assert rule("Sees a therapist", "I see a therapist", "A:I see.", "please delete that") == "ungrounded taken_back"
    assert rule("Ist in Therapie", "ich bin in Therapie", "vergiss das bitte") == "ungrounded taken_back"
    assert rule("Lives in Lisbon", "I live in Porto. Forget that, I moved to Lisbon") is None
    assert rule("Has a dog", "I have a dog", "A:Nice.", "I bought a bike") is None


def test_e04a_the_words_of_others_and_of_the_memory_block_never_come_back_as_new() -> None:
    assert rule("Is vegan", "A:As you are vegan: lentils.", "sounds good") == "ungrounded echo"
    assert rule("Will never go back to an office", "saw this:\n> I will never go back to an office\nthoughts?")


def test_a_doubt_never_holds_text() -> None:
    doubt = find_doubt("Owns three yachts", [Cited("I own three yachts lol jk", True, AT)])
    assert doubt is not None
    assert "yacht" not in repr(doubt)


@given(st.text(max_size=200), st.text(max_size=300), st.booleans())
@settings(deadline=None, max_examples=150)
def test_any_text_is_judged(body: str, message: str, own: bool) -> None:
    doubt = find_doubt(body, [Cited(message, True, AT)], Heard([Cited(message, True, AT), Cited(body, own, AT)]))
    assert doubt is None or doubt.reason in ("ungrounded", "shape")


@pytest.mark.parametrize("name", sorted(adversarial()))
def test_twelve_long_messages_are_judged_in_time(name: str) -> None:
    messages = [Cited(adversarial(16_000)[name], n % 2 == 0, AT) for n in range(12)]
    started = time.process_time()
    find_doubt("Lives in Rome since 5 March 2026 with 3 cats", messages[:5], Heard(messages))
    assert time.process_time() - started < 6


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("Is allergic to milk", "I'm not allergic to milk after all"),
        ("Their daughter is allergic to milk", "my daughter isn't allergic to milk"),
        ("Is vegetarian", "I'm not vegetarian"),
        ("Ist allergisch gegen Nüsse", "ich bin nicht allergisch gegen Nüsse"),
    ],
)
def test_e04a_an_aversion_that_was_denied_is_no_fact(body: str, said: str) -> None:
    assert rule(body, said) == "ungrounded polarity"


def test_e04a_an_aversion_or_a_diet_that_stands_beside_a_denied_one_is_a_fact() -> None:
    assert rule("Is vegan", "I'm vegan, not vegetarian") is None
    assert rule("Is not allergic to milk", "I'm not allergic to milk") is None


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("Is baking a cake tonight", "convert 340 grams of flour to cups for the cake I'm baking tonight"),
        ("Is waiting for the bus", "I'm waiting for the bus right now"),
        ("Wants the header blue", "make the header blue and the table wide"),
        ("Needs a rhyme for orange", "I need a rhyme for orange"),
    ],
)
def test_e04a_what_is_over_within_the_day_is_no_fact(body: str, said: str) -> None:
    assert rule(body, said) == "shape one_off"
