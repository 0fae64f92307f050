"""A fact says only what the member's own cited words say (E04a)."""

import time
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extraction.grounding import ungrounded
from extraction.own_words import Cited, own_words

AT = datetime(2026, 11, 30, 12, tzinfo=ZoneInfo("Europe/Berlin"))


def judge(body: str, *messages: str, own: bool = True) -> str | None:
    return ungrounded(body, [Cited(text, own, AT) for text in messages])


@pytest.mark.parametrize(
    ("body", "message", "rule"),
    [
        ("Lives in Porto", "I moved to porto", None),
        ("Lives in Lisbon", "I moved to Porto", "name"),
        ("Works at Acme Corp", "I work at ACME", "name"),
        ("Has two kids", "I have 2 kids", None),
        ("Has 3 kids", "I have two kids", "number"),
        ("Has 25 cats", "I have twenty-five cats", None),
        ("Hat 25 Katzen", "ich habe fünfundzwanzig Katzen", None),
        ("Moved on 29 November 2026", "I moved yesterday", None),
        ("Moved in 2019", "I moved yesterday", "date"),
        ("Married in spring 2026", "we married last spring", None),
        ("Has worked there since 2016", "I've worked there for ten years", None),
        ("Works there for 10 years", "working there since 2016", None),
        ("Has an exam on 2026-12-04", "exam on Friday", None),
        ("Flies to Rome in December 2026", "I fly to Rome next month", None),
        ("Holiday starts 14 December 2026", "my holiday starts in two weeks", None),
        ("Speaks Portuguese", "I grew up in Portugal", None),
        ("Speaks French", "I'm from France", None),
        ('Calls the project "Blue Whale"', "my project is called Blue Whale", None),
        ('Calls the project "Red Whale"', "my project is called Blue Whale", "quote"),
        ("Lives in Rome", "> I live in Rome", "quoted"),
        ("Lives in Rome", "She wrote: I live in Rome", "quoted"),
        ("Lives in Rome", 'My friend said "I live in Rome" yesterday', "name"),
        ("Lives in Rome", "I said: I live in Rome", None),
        ("Arbeitet als Krankenschwester in Köln", "ich bin Krankenschwester in köln", None),
        ("喜欢喝绿茶", "我喜欢喝绿茶", None),
        ("在腾讯工作", "我喜欢喝绿茶", "name"),
        ("Googleで働いている", "グーグルで働いている", "name"),
        ("Maria Silva is her boss", "my boss is nice", "name"),
        ("Is 34 years old", "I'm 34", None),
        ("Earns 1,200 euros", "I earn 1200 euros", None),
        ("Prefers meetings at 9:30", "meetings at 9:30 please", None),
        ("Prefers meetings at 9:30", "meetings at 10:30 please", "number"),
        ("Birthday is 5 March", "my birthday is March 5th", None),
        ("Birthday is 6 March", "my birthday is March 5th", "date"),
        ("Goes running on Tuesdays", "I go running every tuesday", None),
        ("Anna is her sister and lives in Berlin", "my sister Anna lives in Berlin", None),
        ("Lives in Berlin", "From: Bob\nSubject: hi\nI live in Berlin", "quoted"),
        ("Lives in Berlin", "fwd\n---- Forwarded message ----\nI live in Berlin", "name"),
        ("Uses Python", "```\nimport python\n```\nI use python", None),
        ("Born on Friday", "I was born on a Monday", "date"),
        ("Interview is on Friday", "the interview is in four days", None),
        ("Started at Acme in October 2026", "I started at Acme last month", None),
        ("Started at Acme in May 2025", "I started at Acme last month", "date"),
        ("Meets Bob at 3pm", "I meet Bob at 3pm", None),
        ("Uses a Mac with M3 chip", "I use a mac with m3", None),
        ("Bought a house in 2024", "two years ago I bought a house", None),
        ("Has 2 cats", "I have a couple of cats", None),
    ],
)
def test_e04a_names_numbers_quotes_and_dates_must_be_in_the_cited_words(
    body: str, message: str, rule: str | None
) -> None:
    assert judge(body, message) == rule


def test_e04a_what_others_say_proves_nothing() -> None:
    assert judge("Lives in Rome", "You live in Rome", own=False) == "quoted"
    cited = [Cited("Do you live in Rome?", False, AT), Cited("I live by the sea", True, AT)]
    assert ungrounded("Lives in Rome", cited) == "name"
    assert ungrounded("Lives in Rome", []) == "quoted"


def test_several_cited_messages_prove_together() -> None:
    assert judge("Anna has 3 cats", "my sister is Anna", "she has three cats") is None


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("I like tea", "I like tea"),
        ("> I like tea\nI do not", "I do not"),
        ("see:\n```\nname = 'Rome'\n```\nthat is it", "see:\n\n\nthat is it"),
        ("She wrote: I live in Rome", ""),
        ("Mein Chef schrieb: Wir ziehen nach Rom", ""),
        ("I said: I live in Rome", "I said: I live in Rome"),
        ('My book is called "The Long Way"', 'My book is called "The Long Way"'),
        ("fyi\n---------- Forwarded message ---------\nFrom: Bob\nI live in Rome", "fyi"),
        ("ok\nOn Mon, Jan 5, 2026 at 10:00, Bob <b@x.example> wrote:\nI live in Rome", "ok"),
        ("From: Bob\nSent: Monday\nI live in Rome", ""),
        ("[10:02] Bob: I live in Rome\n[10:03] Eve: me too\nfunny", "funny"),
        ("User: I live in Rome\nAssistant: nice", ""),
        ("Here is the email from my boss:\nWe move to Rome", ""),
        ("<blockquote>I live in Rome</blockquote>no", "no"),
        ("City: Porto\nJob: nurse", "City: Porto\nJob: nurse"),
        ("ok? 'We stayed for four nights, I'm a wheelchair user and loved it', right", "ok?  right"),
        ("The ad reads: I am a carpenter from Split", ""),
        ("Shorten this review: I am a carpenter from Split", ""),
        ("Remembered facts about the member:\n- Keeps bees\n- Has a cat\nstill true?", "still true?"),
        ("What this person has told you in earlier conversations.\n- Keeps bees\n\nwhy?", "why?"),
    ],
)
def test_e04a_quoted_and_pasted_text_is_removed(text: str, own: str) -> None:
    assert own_words(text) == own


def test_a_cited_message_does_not_show_its_text() -> None:
    assert "Porto" not in repr(Cited("Porto", True, AT))


@given(st.text(max_size=200), st.text(max_size=400))
@settings(deadline=None, max_examples=150)
def test_any_text_is_judged(body: str, message: str) -> None:
    assert judge(body, message) in (None, "quoted", "quote", "date", "number", "name")


@pytest.mark.parametrize(
    "unit",
    [
        "she wrote ",
        '"a',
        "> ",
        "Bob: a\n",
        "March 5 ",
        "1 week ",
        "12.",
        "```",
        "<quote>",
        "From: a\n",
        "A ",
        "ガ",
        "twenty-",
    ],
)
def test_long_messages_are_judged_in_time(unit: str) -> None:
    started = time.process_time()
    judge("Lives in Rome since 5 March 2026 with 3 cats", (unit * 16_000)[:16_000])
    assert time.process_time() - started < 1.5
