"""What guardrails find and let through, without a database (C06): any pieces of a reply give what the whole gives."""

import random
import re
import time
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.finders import Place
from chat.guardrails import Guard, Policy, Reply, Rule, find_all
from chat.patterns import BadPattern, compile_pattern, longest_match
from chat.reading import LONGEST_WORD
from screening.text import fold

PHRASES = "project falcon\nblau\nсекрет\n机密\nstraße"
PATTERNS = (r"(?i)\bab{1,3}c", r"x\d{2,4}", r"(?m)^#", r"q+z", r"[\]r]d")
PIECES = st.lists(
    st.sampled_from(
        [
            *("project", "falcon", "Fal\u200bcon", "BLAU", "секрет", "机密", "STRASSE", "straße", "pro", "ject"),
            *("abc", "ABBBC", "ab", "c", "x12", "x", "1", "#", "q", "qqz", "]", "d", "[r]", "&amp;", "é", "e\u0301"),
            *("ana@example.com", "+49 171 2345678", "ana@", "example.com", "my phone is 555 123 4567"),
            *(" ", " ", " ", "\n", "fine", "word ", "\u200b", "ok. ", "long" * 20, "好" * 70, "plain words " * 20),
        ]
    ),
    max_size=40,
)


def rules(*actions: str) -> tuple[Rule, ...]:
    """One rule of phrases, those of patterns and one of personal data, with the actions in turn."""
    plain = [("phrases", PHRASES), *(("pattern", pattern) for pattern in PATTERNS), ("pii", "email phone")]
    return tuple(
        Rule(str(number), kind, value, actions[number % len(actions)], "[r]" if number % 2 else "")  # type: ignore[arg-type]
        for number, (kind, value) in enumerate(plain)
    )


def policy(*output: Rule) -> Policy:
    return Policy(output_rules=output, refusal="Not here.", restriction="Withheld.")


def screened(output: Sequence[Rule], pieces: Sequence[str], *, whole: bool = True) -> tuple[str, Reply]:
    """Return what a stream hands out, piece by piece, and the reply."""
    reply = Reply(policy(*output))
    sent = []
    for piece in pieces:
        sent.append(reply.add(piece))
        if reply.over:
            break
    sent.append(reply.close(whole=whole))
    return "".join(sent), reply


def cut(text: str, seed: int) -> list[str]:
    """Cut a text into pieces of one to nine characters."""
    chance, pieces, start = random.Random(seed), [], 0
    while start < len(text):
        size = chance.randint(1, 9)
        pieces.append(text[start : start + size])
        start += size
    return pieces


@settings(max_examples=100, deadline=None)
@given(PIECES, st.integers(0, 1_000), st.sampled_from([("block",), ("replace",), ("replace", "block")]))
def test_c06_any_pieces_of_a_reply_give_what_the_whole_reply_gives(
    parts: list[str], seed: int, actions: tuple[str, ...]
) -> None:
    text = "".join(parts)
    chosen = (*rules(*actions), Rule("length", "length", "90", actions[0], "…"))  # type: ignore[arg-type]
    sent, whole = screened(chosen, [text])
    for pieces in (cut(text, seed), list(text)):
        assert screened(chosen, pieces)[0] == sent
        assert screened(chosen, pieces)[1].text == whole.text
        assert screened(chosen, pieces)[1].hits == whole.hits


@settings(max_examples=100, deadline=None)
@given(PIECES, st.integers(0, 1_000), st.sampled_from([("block",), ("replace",), ("replace", "block")]))
def test_c06_what_is_sent_holds_no_match(parts: list[str], seed: int, actions: tuple[str, ...]) -> None:
    text = "".join(parts)
    chosen = rules(*actions)
    sent, reply = screened(chosen, cut(text, seed))
    sent = sent.removesuffix("Withheld.").removesuffix("\n\n") if reply.restricted else sent
    for pattern in PATTERNS:  # judged by another engine
        assert not re.search(pattern, sent, re.ASCII), pattern
    # A longer word is read in pieces, and a piece of mixed scripts is folded by itself.
    judged = " ".join(fold(word) for word in sent.split() if len(word) <= LONGEST_WORD)
    for phrase in map(fold, PHRASES.split("\n")):
        assert not re.search(rf"\b{phrase}\b" if phrase.isascii() else phrase, judged, re.ASCII), phrase
    assert "ana@example.com" not in sent
    assert not find_all(chosen, sent)


@settings(max_examples=100, deadline=None)
@given(PIECES, st.integers(0, 1_000))
def test_c06_a_reply_that_breaks_off_keeps_its_clean_part_only(parts: list[str], seed: int) -> None:
    chosen = rules("block", "replace")
    sent, reply = screened(chosen, cut("".join(parts), seed), whole=False)
    assert reply.text == sent
    assert not reply.restricted
    assert not find_all(chosen, sent)


def test_text_that_no_rule_finds_passes_unchanged_and_almost_at_once() -> None:
    reply = Reply(policy(Rule("a", "phrases", "project falcon")))
    words = [f"word{number} " for number in range(100)]
    behind = [len("".join(words[: at + 1])) for at in range(100)]
    sent = 0
    for at, word in enumerate(words):
        sent += len(reply.add(word))
        behind[at] -= sent
    assert max(behind) < 80
    assert sent + len(reply.close(whole=True)) == len("".join(words))


def test_without_rules_every_piece_goes_on_as_it_came() -> None:
    reply = Reply(Policy())
    assert [reply.add(piece) for piece in ("a", "", "b")] == ["a", "", "b"]
    assert (reply.close(whole=True), reply.text, reply.restricted) == ("", "ab", False)


@pytest.mark.parametrize(
    "text",
    [
        "The PROJECT   Falcon starts.",
        "project fal\u200bcon",
        "Prоject Falcon",  # a Cyrillic letter
        "ｐｒｏｊｅｃｔ ｆａｌｃｏｎ",
        "projéct falcôn",
        "project\nfalcon",
    ],
)
def test_phrases_are_found_however_they_are_written(text: str) -> None:
    assert find_all([Rule("a", "phrases", "Project Falcon")], text)


@pytest.mark.parametrize("text", ["projects falcon", "subproject falcon", "project, falcon", "project falconry"])
def test_phrases_in_latin_letters_are_whole_words(text: str) -> None:
    assert not find_all([Rule("a", "phrases", "project falcon")], text)


def test_the_place_of_a_match_is_that_in_the_text_as_written() -> None:
    text = "Über ﬁne: tell pro\u200bject falcon, mail ana@example.com."
    places = find_all([Rule("a", "phrases", "project falcon"), Rule("b", "pii", "email")], text)
    assert [text[place.start : place.end] for place in places] == ["pro\u200bject falcon,"[:-1], "ana@example.com"]


def test_personal_data_is_found_to_the_word_and_only_of_the_chosen_kinds() -> None:
    text = "Write to ana@example.com, or call +49 171 234 56 78 90 tomorrow at 5."
    assert screened([Rule("a", "pii", "phone", "replace", "[phone]")], [text])[0] == (
        "Write to ana@example.com, or call [phone] tomorrow at 5."
    )
    assert screened([Rule("a", "pii", "email", "replace", "[mail]")], [text])[0].startswith(
        "Write to [mail], or call +"
    )
    long = "word " * 39 + "+49 171 2345678 is the number. " + "word " * 90
    assert "171" not in screened([Rule("a", "pii", "phone", "replace", "-")], list(long))[0]


def test_places_that_overlap_are_one_and_a_block_among_them_blocks() -> None:
    replace = Rule("a", "pattern", "falcon one", "replace", "[a]")
    also = Rule("b", "pattern", "one two", "replace", "[b]")
    assert screened([replace, also], ["see falcon one two."])[0] == "see [a]."
    sent, reply = screened([replace, Rule("b", "pattern", "one two")], ["see falcon one two."])
    assert (sent, reply.text, reply.restricted) == ("see \n\nWithheld.", "Withheld.", True)


def test_what_a_replacement_puts_together_is_withheld() -> None:
    sent, reply = screened([Rule("a", "pattern", "ab", "replace", "")], ["a", "ab", "b"])
    assert (sent, reply.restricted) == ("Withheld.", True)


def test_a_pattern_without_a_longest_match_holds_the_reply_back_to_its_end() -> None:
    reply = Reply(policy(Rule("a", "pattern", "BEGIN.*END")))
    assert "".join(reply.add(word) for word in ["fine "] * 500) == ""
    assert len(reply.close(whole=True)) == 2500


def test_the_rest_of_a_reply_that_is_too_long_is_replaced_once() -> None:
    sent, reply = screened([Rule("a", "length", "10", "replace", " […]")], list("0123456789abcdef"))
    assert (sent, reply.cut, reply.restricted) == ("0123456789 […]", True, False)
    assert screened([Rule("a", "length", "10")], ["0123456789"])[0] == "0123456789"


@pytest.mark.parametrize(
    ("source", "longest"),
    [
        ("a|bcd", 3),
        ("(?i)ab{2,3}c", 5),
        ("x*", None),
        ("(ab){3}", 6),
        (r"[]a]{4}[^\]]", 5),
        (r"\p{Greek}{3}\pL\x{10FFFF}\x41", 6),
        (r"(?P<n>abc)?d", 4),
        (r"\bfoo$", 3),
        ("a{", 2),
        ("[[:alpha:]x]{9}", 9),
        ("(?i)a(?s:b.)c", 4),
        ("a{2,}", None),
        ("(a|b(c|d{4}))?", 5),
        (r"\Qab\E", None),
        ("a{1000}", None),
    ],
)
def test_the_longest_match_of_a_pattern_is_known(source: str, longest: int | None) -> None:
    assert longest_match(source) == longest


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("(", "invalid"),
        ("(?=a)", "invalid"),
        (r"(a)\1", "invalid"),
        ("a*", "matches_empty"),
        (r"(\pL{20}){10}", "too_big"),
        ("a" * 501, "too_long"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused(source: str, code: str) -> None:
    with pytest.raises(BadPattern) as refused:
        compile_pattern(source)
    assert refused.value.code == code


def test_the_input_stage_judges_what_the_user_says_and_cleans_a_resent_history() -> None:
    guard = Guard(Policy(input_rules=(Rule("a", "phrases", "falcon"),), refusal="Not here."))
    assert guard.judge(["hello"]) is None
    refused = guard.judge(["hello", "a falcon and a falcon"])
    assert refused is not None
    assert (refused.text, dict(refused.hits)) == ("Not here.", {"a": 2})
    history = [("user", "a falcon"), ("assistant", "falcon"), ("user", "hello")]
    assert guard.without_blocked(history) == history[1:]
    assert Guard().without_blocked(history) == history


def test_screening_takes_linear_time_whatever_the_pieces() -> None:
    chosen = [*rules("replace"), Rule("u", "pattern", "BEGIN.*END")]
    took = []
    for size in (10_000, 40_000):
        text = "A plain sentence, with x99 in it. " * (size // 34)
        started = time.process_time()
        screened(chosen, cut(text, 1))
        took.append(time.process_time() - started)
    assert took[1] < 10 * took[0] + 0.5


def test_places_are_in_order() -> None:
    places = find_all(rules("block"), "project falcon x12 blau abc")
    assert places == sorted(places)
    assert places[0] == Place(0, 14, 0)
