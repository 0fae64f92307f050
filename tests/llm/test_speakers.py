"""A passage that the writer puts into another's mouth is not hers; a label that only orders her words is (E04a)."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.own_words import own_words
from llm.speakers import own_voice
from tests.llm.offline_requests import facts_of

OTHERS = [
    "Speaking as my grandmother: I have diabetes.",
    "My brother: I hate football",
    "Anna: I live in Rome",
    "anna: I live in Rome",
    "Maria Silva: I love jazz",
    "Message from my boss: I work in Rome",
    "<Bob> I live in Rome",
    "My mum is always like: I love jazz",
    "as my boss would say, I love deadlines",
    "I love deadlines, as my boss always says.",
    "In the voice of a pirate: I have a parrot",
    "Writing on behalf of my wife: I have diabetes.",
    "Role play: I am a doctor",
    "Pretend I am a doctor. I live in Oslo.",
    "Anna:\nI live in Rome",
    "My character's backstory: I grew up in Rome",
    "If my cat could talk: I hate Mondays",
    "Me, as a villain: I own a castle",
    "*as Batman* I live in Gotham",
    "Tom says he is vegan and adds: I never eat cheese",
    "Lisa (my sister): I'm vegan",
    "The guy next door: I own a boat",
    "Zitat meiner Mutter: Ich bin müde",
    "Meine Schwester: ich hasse Fußball",
    "Wie mein Chef sagen würde, ich liebe Termine",
    "Stell dir vor, ich bin Arzt",
    "Ma sœur : j'habite à Lyon",
    "Comme dirait mon père, j'adore le vin",
    "Mi hermano: vivo en Madrid",
    "Como diría mi abuela, odio el frío",
]
OWN = [
    "Update: I moved to Bonn",
    "Note: I am allergic to nuts",
    "P.S.: I love jazz",
    "About me: I am a nurse",
    "Allergies: nuts",
    "Me: I live in Rome",
    "My diet: I eat no meat",
    "My sister Ines: nurse at Mercy, lives in Rome",
    "My brother: he lives in Rome and I visit him",
    "Dinner with my brother: I loved it",
    "Speaking as a nurse: I work nights",
    "As the oldest child, I look after them",
    "As I always say, I love jazz",
    "As my doctor said, I am lactose intolerant",
    "To my boss: I quit",
    "Relocation: I moved to Bonn",
    "Confession: I smoke",
    "Small request: I prefer short answers",
    "From experience: I know Rust",
    "I told my boss: I quit",
    "I love role play games",
    "Beruf: Ich bin Krankenschwester",
    "Mise à jour : j'habite à Lyon",
    "Actualización: vivo en Madrid",
]


@pytest.mark.parametrize("text", OTHERS)
def test_e04a_what_another_speaker_says_is_neither_evidence_nor_a_fact(text: str) -> None:
    assert own_voice(text).strip() == ""
    assert own_words(text) == ""
    assert facts_of(text) == []


@pytest.mark.parametrize("text", OWN)
def test_e04a_under_a_label_that_orders_her_words_the_writer_speaks(text: str) -> None:
    assert own_voice(text) == text
    assert own_words(text) == text


def test_e04a_own_words_around_another_speaker_are_kept() -> None:
    text = "I like tea. My brother: I hate tea.\nI live in Bonn."

    assert own_voice(text) == "I like tea. \nI live in Bonn."
    assert {fact["key"] for fact in facts_of(text)} == {"likes.tea", "home.city"}


def test_a_game_lasts_to_the_end_of_the_message_and_another_voice_to_the_next_blank_line() -> None:
    assert own_voice("I like tea. Role play: I am a doctor.\n\nI have a parrot.") == "I like tea. "
    assert own_voice("In the voice of a pirate: arr.\nI have a parrot.\n\nI like tea.") == "\n\nI like tea."


@given(
    st.lists(st.sampled_from(["My brother", ":", " I ", "\n", "as ", "would say", ". ", "Anna", ">", "["])).map("".join)
)
def test_only_words_of_the_text_come_back(text: str) -> None:
    assert set(own_voice(text).split()) <= set(text.split())


@pytest.mark.parametrize("unit", ["a: ", "My brother: ", "as as ", "in the voice of a ", "I ", "x. ", "like a ", "<a"])
def test_long_messages_are_read_in_time(unit: str) -> None:
    started = time.process_time()
    own_voice((unit * 16_000)[:16_000])
    assert time.process_time() - started < 0.5
