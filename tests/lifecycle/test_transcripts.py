"""Transcript files in their three forms, and the errors of those that are none (X02)."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from lifecycle.transcripts import BadTranscript, exchanges, read_transcript


def read(tmp_path: Path, text: str) -> list[list[tuple[str, str]]]:
    file = tmp_path / "transcript"
    file.write_text(text)
    return [[(message.role, message.content) for message in session] for session in read_transcript(file)]


@pytest.mark.parametrize(
    "text",
    [
        '{"role": "user", "content": "a"}\n{"role": "assistant", "content": "b"}\n',
        '[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]',
        '{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": [{"text": "b"}]}]}',
        '{"sessions": [[{"role": "human", "content": "a"}, {"role": "assistant", "content": "b"}]]}',
        '[{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}]',
        '\ufeff[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]',
    ],
)
def test_each_form_gives_the_same_session(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) == [[("user", "a"), ("assistant", "b")]]


def test_an_empty_line_or_a_session_name_starts_another_session(tmp_path: Path) -> None:
    assert read(tmp_path, '{"role":"user","content":"a"}\n\n{"role":"user","content":"b"}') == [
        [("user", "a")],
        [("user", "b")],
    ]
    named = '{"session":1,"role":"user","content":"a"}\n{"session":2,"role":"user","content":"b"}\n'
    assert read(tmp_path, named + '{"session":1,"role":"assistant","content":"c"}') == [
        [("user", "a"), ("assistant", "c")],
        [("user", "b")],
    ]


def test_times_are_aware_and_a_naive_one_is_utc(tmp_path: Path) -> None:
    file = tmp_path / "transcript"
    file.write_text('{"role": "user", "content": "a", "at": "2023-04-27T10:00:00"}')
    assert read_transcript(file)[0][0].at == datetime(2023, 4, 27, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no messages"),
        ("hello", "Line 1 is not valid JSON"),
        ('{"role": "user", "content": "a"}\n{"role": "user"', "Line 2 is not valid JSON"),
        ('{"role": "robot", "content": "a"}', "'role' must be"),
        ('{"role": "user", "content": 7}', "'content' must be text"),
        ('{"role": "user", "content": "a", "at": "yesterday"}', "'at' is no ISO 8601 time"),
        ('{"role": "user", "content": "a", "at": "0001-01-01T00:30:00+14:00"}', "not within the years 1970 to 2200"),
        ('{"role": "user", "content": "a", "at": "9999-12-31T23:30:00-12:00"}', "not within the years 1970 to 2200"),
        ('{"role": "user", "content": "a", "at": "1969-12-31T23:59:59"}', "not within the years 1970 to 2200"),
        ('{"role": "user", "content": "a", "at": 1700000000000}', "not within the years 1970 to 2200"),
        ('{"role": "user", "content": "a", "at": NaN}', "not within the years 1970 to 2200"),
        ('{"role": "user", "content": ""}', "Line 1: the message has no text|only entry: the message has no text"),
        ('[{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]', "Entry 1: the message has no text"),
        ('{"role": "user", "content": "a\\u0000b"}', "NUL"),
        ("[[1]]", "no object with role and content"),
        ("7", "no list of messages"),
    ],
)
def test_a_bad_file_is_refused_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadTranscript, match=message):
        read(tmp_path, text)


def test_a_missing_file_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(BadTranscript, match="cannot be read"):
        read_transcript(tmp_path / "none")


def test_exchanges_pair_user_messages_with_their_reply(tmp_path: Path) -> None:
    file = tmp_path / "transcript"
    roles = ["system", "assistant", "user", "user", "assistant", "assistant", "user"]
    file.write_text("\n".join(f'{{"role": "{role}", "content": "{at}"}}' for at, role in enumerate(roles)))
    found = exchanges(read_transcript(file)[0])
    assert [([m.content for m in e.said], e.reply and e.reply.content) for e in found] == [
        (["2", "3"], "4"),
        (["6"], None),
    ]
