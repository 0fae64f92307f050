"""Fenced code of a message is found; whatever is no fence stays prose, to the character."""

import pytest

from chat.code_blocks import Part, parts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [Part("")]),
        ("Plain\n\ntext. ", [Part("Plain\n\ntext. ")]),
        ("a ``` b ``` c", [Part("a ``` b ``` c")]),
        ("```\nx\n```", [Part("x", code=True)]),
        ("So:\n\n```py\n  x = 1\n\ny\n```\n\nDone.", [Part("So:"), Part("  x = 1\n\ny", code=True), Part("Done.")]),
        ("~~~\n```\n~~~", [Part("```", code=True)]),
        ("````\n```\n````", [Part("```", code=True)]),
        ("Never closed:\n```\nx", [Part("Never closed:"), Part("x", code=True)]),
        ("```a\n1\n```\n```b\n2\n```", [Part("1", code=True), Part("2", code=True)]),
        ("```\n```", [Part("", code=True)]),
    ],
)
def test_a_message_is_prose_and_code(text: str, expected: list[Part]) -> None:
    assert parts(text) == expected


def test_a_message_of_nothing_but_fences_is_read_in_time() -> None:
    assert len(parts("```\n" * 20_000)) == 10_000
