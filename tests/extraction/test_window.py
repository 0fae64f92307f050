"""The choice of messages (E02) as a pure function."""

import uuid
from datetime import UTC, datetime

from extraction.prompt import Author
from extraction.window import MAX_CHARACTERS, WindowMessage, choose_keys, choose_window

AT = datetime(2026, 1, 1, tzinfo=UTC)


def message(text: str, *, skip: bool = False, author: Author = "member") -> WindowMessage:
    return WindowMessage(uuid.uuid4(), author, AT, text, skip)


def test_the_12_newest_are_looked_at_and_shown_oldest_first() -> None:
    newest_first = [message(f"text {number}") for number in range(20, 0, -1)]
    window = choose_window(newest_first, keys=[])
    assert [shown.text for shown in window.shown] == [f"text {number}" for number in range(9, 21)]
    assert window.ids["m12"] == newest_first[0].id


def test_skipped_messages_count_among_the_12() -> None:
    newest_first = [message("skip me", skip=True) for _ in range(12)] + [message("too old")]
    assert choose_window(newest_first, keys=[]).shown == ()


def test_whole_messages_are_taken_until_the_budget_is_full() -> None:
    newest_first = [message("a" * 9_000), message("b" * 8_000), message("c")]
    assert [shown.text[0] for shown in choose_window(newest_first, keys=[]).shown] == ["a"]


def test_one_message_beyond_the_budget_is_cut_with_a_marked_ellipsis() -> None:
    (shown,) = choose_window([message("x" * 20_000)], keys=[]).shown
    assert len(shown.text) == MAX_CHARACTERS
    assert shown.text.endswith("[…]")


def test_known_keys_take_at_most_2000_characters_of_the_budget() -> None:
    keys = choose_keys([("profile", f"key.{number:05}") for number in range(500)])
    used = sum(len(kind) + len(key) for kind, key in keys)
    assert 1_950 < used <= 2_000
    (shown,) = choose_window([message("x" * 20_000)], keys=keys).shown
    assert len(shown.text) == MAX_CHARACTERS - used


def test_a_window_without_the_member_s_own_words_says_so() -> None:
    assert not choose_window([message("hello", author="assistant")], keys=[]).has_own_words
