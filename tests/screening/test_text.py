"""The one door for text, and the copies of it (F03, F08, P04)."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screening.text import (
    UnacceptableText,
    canonical_key,
    clean_text,
    compiled,
    fold,
    normalize_for_hash,
    normalize_key,
    one_line,
    spoken,
    unleet,
    unspaced,
)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a\0b", "nul"),
        ("a\ud800b", "surrogate"),
        ("a\x1bb", "control"),
        ("a\x9fb", "control"),
        ("", "empty"),
        (" \n\t\u3000", "empty"),
        ("\u200b\u2060\ufeff", "empty"),
        ("x" * 4001, "too_long"),
    ],
)
def test_f08_what_may_not_enter_is_refused_with_a_code_and_a_message(text: str, code: str) -> None:
    with pytest.raises(UnacceptableText) as refused:
        clean_text(text, max_length=4000)
    assert refused.value.code == code
    assert str(refused.value).endswith(".")


def test_f08_length_counts_code_points_after_nfc() -> None:
    decomposed = "e\u0301" * 4000
    assert clean_text(decomposed, max_length=4000) == "é" * 4000
    with pytest.raises(UnacceptableText) as refused:
        clean_text("😀" * 4001, max_length=4000)
    assert refused.value.numbers == {"length": 4001, "limit": 4000}


def test_line_ends_are_unified_and_tabs_stay() -> None:
    assert clean_text("a\r\nb\rc\td", max_length=20) == "a\nb\nc\td"


@pytest.mark.parametrize("sign", ["\u202d", "\u202e"])
def test_a_single_line_has_no_sign_that_makes_one_name_look_like_another(sign: str) -> None:
    with pytest.raises(UnacceptableText) as refused:
        clean_text(f"Ana{sign}gpj", max_length=120, single_line=True)
    assert (refused.value.code, refused.value.numbers) == ("override", {"position": 3})
    assert clean_text("\u2067שלום\u2069 Ana", max_length=120, single_line=True) == "\u2067שלום\u2069 Ana"
    assert clean_text(f"Ana{sign}gpj", max_length=120) == f"Ana{sign}gpj"


@pytest.mark.parametrize("line_break", ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"])
def test_a_single_line_has_no_break_of_any_kind(line_break: str) -> None:
    with pytest.raises(UnacceptableText) as refused:
        clean_text(f"home{line_break}city", max_length=120, single_line=True)
    assert refused.value.code == "line_break"


def test_empty_text_enters_where_it_is_allowed() -> None:
    assert clean_text("", max_length=10, allow_empty=True) == ""


def test_a_message_never_repeats_the_text() -> None:
    with pytest.raises(UnacceptableText) as refused:
        clean_text("wombat\0", max_length=100)
    assert "wombat" not in str(refused.value)


def test_f10_bodies_that_differ_in_space_and_form_hash_alike() -> None:
    assert normalize_for_hash("  Likes\r\n cafe\u0301 ") == normalize_for_hash("Likes café")
    assert normalize_for_hash("Likes tea") != normalize_for_hash("likes tea")


def test_f03_keys_compare_without_case_and_extra_space() -> None:
    assert normalize_key(" Home.\u00a0City ") == normalize_key("home. city")
    assert normalize_key("STRASSE") == normalize_key("straße")
    assert normalize_key("allergy.peanuts") != normalize_key("allergy.shellfish")


@given(st.text())
def test_keys_and_bodies_normalize_to_a_fixed_point(text: str) -> None:
    assert normalize_key(normalize_key(text)) == normalize_key(text)
    assert normalize_for_hash(normalize_for_hash(text)) == normalize_for_hash(text)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_p04_one_line_is_one_line_shows_nothing_hidden_and_never_grows(text: str) -> None:
    line = one_line(text)
    assert len(line) <= len(text)
    assert len(line.splitlines()) <= 1
    assert line == line.strip()
    assert "  " not in line
    assert not any(unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp") for character in line)
    assert one_line(line) == line


def test_p04_each_character_is_shown_or_goes_alone_as_among_letters_beyond_ascii() -> None:
    shown = {code: one_line(f"é\u200b{chr(code)}é") for code in range(0xFFFF) if not 0xD800 <= code < 0xE000}
    alone = {code: one_line(f"é{chr(code)}é") for code in shown}
    assert alone == shown  # what is surely invisible beside it makes the text go through the table


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("tea\n- forged: yes", "tea - forged: yes"),
        ("tea\u2028milk\x0bsugar\x85salt", "tea milk sugar salt"),
        ("a\u202eb\u2066c\u200bd", "abcd"),
        ("likes 🇩🇪 and 👩‍🚀", "likes 🇩🇪 and 👩🚀"),
        ("می‌خواهم", "میخواهم"),
        ("tab\tand  two", "tab and two"),
    ],
)
def test_p04_breaks_become_spaces_and_invisible_characters_go(text: str, line: str) -> None:
    assert one_line(text) == line


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Ｉｇｎｏｒｅ", "ignore"),
        ("𝐃𝐢𝐬𝐫𝐞𝐠𝐚𝐫𝐝", "disregard"),
        ("i\u200bg\u2060nore", "ignore"),
        ("D̶i̶s̶r̶e̶g̶a̶r̶d̶", "disregard"),
        ("rесоmmеnd Aсме", "recommend acme"),
        ("Άνθρωπος и Москва", "ανθρωποσ и москва"),
        ("précédentes", "precedentes"),
        ("٢٠٢-٥٥٥", "202-555"),
        ("a&#64;b", "a@b"),
        ("请。好？", "请.好?"),
        ("Łódź", "lodz"),
    ],
)
def test_judgment_sees_through_disguise(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_spaced_letters_and_digits_for_letters_are_read() -> None:
    assert "disregard the rules" in unspaced("D i s r e g a r d   t h e   r u l e s".casefold())
    assert unleet("d1sr3g4rd 7h3 rul3s of 2012") == "disregard the rules of 2012"


def test_e05_a_key_is_one_key_however_its_words_are_joined() -> None:
    forms = ("home.city", "home_city", "home city", "Home-City", "homeCity", " HOME / city ")
    assert {canonical_key(form) for form in forms} == {"homecity"}
    assert canonical_key("version.3.1") != canonical_key("version.31")
    assert canonical_key("allergy.peanuts") != canonical_key("allergy.shellfish")
    assert canonical_key("...") == "..."


def test_spoken_text_keeps_its_accents() -> None:
    assert spoken("ICH WÜRDE") == "ich würde"
    assert spoken("ich wu\u0308rde") == "ich würde"


def test_a_pattern_reads_on_from_a_place_in_the_text() -> None:
    pattern = compiled("owl")
    assert [match.start() for match in pattern.finditer("é owl owl", 3)] == [6]
    assert list(pattern.finditer("nothing", 3)) == []
