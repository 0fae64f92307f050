"""Reading JSON out of what models really send (E03)."""

import contextlib
import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm.structured import Unreadable, read_json

FACTS = {"facts": [{"key": "home.city", "content": "Lives in Porto"}]}
PLAIN = json.dumps(FACTS)


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        f"```json\n{PLAIN}\n```",
        f"```\n{PLAIN}",
        f"Sure, here are the facts [1] about {{her}}:\n\n{PLAIN}\n\nLet me know if I can help!",
        f'<think>maybe {{"facts": [{{"key": "wrong"}}]}}</think>\n{PLAIN}',
        f"the opening tag was in the prompt</think>{PLAIN}",
        f"<reasoning>first <think>inner</think> outer</reasoning>{PLAIN}",
        f"<think>I answer at once {PLAIN}",
        f"{PLAIN}<think>was that right?",
        '{"facts": [{"key": "home.city", "content": "Lives in Porto",},],}',
        '{"facts": [{"key": "home.city" "content": "Lives in Porto"}]}',
        "{'facts': [{'key': 'home.city', 'content': 'Lives in Porto'}]}",
        '{facts: [{key: "home.city", content: "Lives in Porto"}]} // done',
        json.dumps(PLAIN),
        json.dumps({"facts": json.dumps(FACTS["facts"])}),
        json.dumps({"facts": json.dumps(FACTS["facts"])}, indent=2),
        f"\ufeff  {PLAIN}",
        '{"facts": [{"key": "home.city", "content": "Lives in Porto"}, {"key": "x", "con',
    ],
)
def test_e03_the_answer_is_found_whatever_surrounds_it(text: str) -> None:
    assert read_json(text) == FACTS


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[]", []),
        ("{}", {}),
        ("null", None),
        ('[{"a": 1}, "{\\"b\\": 2}"]', [{"a": 1}, {"b": 2}]),
        ('{"a": 1}\n{"a": 2}\n', [{"a": 1}, {"a": 2}]),
        ('first {"a": 1}, but better {"a": 2}', {"a": 2}),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ('{"a": True, "b": None, "c": -1.5e3}', {"a": True, "b": None, "c": -1500.0}),
        ('{"a": "line\nbreak \\u00e9 \\ud83d\\ude00 \\q"}', {"a": "line\nbreak é 😀 q"}),
        ('[{"a": 1}, {"a": 2}, {"a": 3', [{"a": 1}, {"a": 2}]),
        ('{"facts": [{"a": [1, 2]}, {"a": [3', {"facts": [{"a": [1, 2]}]}),
    ],
)
def test_e03_values_are_read_as_meant(text: str, value: Any) -> None:
    assert read_json(text) == value


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        ("<think>nothing to say</think>", "empty"),
        ("I'm sorry, but I can't help with that.", "refusal"),
        ("Es tut mir leid, das geht nicht.", "refusal"),
        ("There is nothing to note here.", "no_json"),
        ("{not json}", "no_json"),
        ('{"a": NaN}', "not_finite"),
        ('{"a": -Infinity}', "not_finite"),
        ('{"a": 1e999}', "not_finite"),
        ('{"a": ' + "9" * 5000 + "}", "not_finite"),
        ('{"key": "home.city", "content": "Liv', "truncated"),
        ('{"facts": [', "truncated"),
        ('{"facts": [{"key": "home', "truncated"),
        ("[" * 33 + "]" * 33, "too_deep"),
        ('{"a":' * 100_000, "too_deep"),
        ("x" * 10_000_000, "too_big"),
        ("é" * 600_000, "too_big"),
    ],
)
def test_e03_an_unusable_answer_says_why_by_code(text: str, code: str) -> None:
    with pytest.raises(Unreadable) as unreadable:
        read_json(text)
    assert unreadable.value.code == code
    assert str(unreadable.value) == code


def test_depth_of_thirty_two_is_read() -> None:
    assert read_json("[" * 32 + "]" * 32)


@pytest.mark.parametrize(
    "unit",
    [
        '{"a":1} ',
        "{",
        "[",
        '[{"',
        "{'",
        '{"f":["a',
        "[a",
        "[//",
        "[//\n",
        "<think>",
        "</think>",
        '"',
        '\\"',
        "{a:'",
        '{"a"',
        "[1",
        "“",
    ],
)
def test_time_is_linear_in_the_length_of_the_answer(unit: str) -> None:
    def seconds(length: int) -> float:
        text = (unit * (length // len(unit) + 1))[:length]
        started = time.process_time()
        with contextlib.suppress(Unreadable):
            read_json(text)
        return time.process_time() - started

    assert seconds(400_000) <= 8 * seconds(100_000) + 0.2


@given(st.text(max_size=300))
@settings(deadline=None)
def test_any_text_is_read_or_refused_as_unreadable(text: str) -> None:
    with contextlib.suppress(Unreadable):
        read_json(text)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**15), 10**15)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(
    st.lists(
        st.dictionaries(st.sampled_from(["key", "content", "x"]), JSON, min_size=1, max_size=3), min_size=1, max_size=4
    )
)
@settings(deadline=None)
def test_what_python_writes_is_read_back(items: list[dict[str, Any]]) -> None:
    assert read_json(json.dumps({"facts": items})) == {"facts": items}
