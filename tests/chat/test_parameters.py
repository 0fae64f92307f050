"""C01: each line of the table of parameters in docs/api.md, proved by sending its example."""

import json
import re
from typing import Any

import pytest
from openai.types.chat.completion_create_params import CompletionCreateParamsBase

from chat import requests
from chat.openai_format import BadParameter
from conversations.models import Session
from tests.chat.conftest import Ask
from tests.stub_server import Script
from tests.test_architecture import ROOT

LINE = re.compile(r"\| `(\w+)` \| (supported|passed on|ignored|refused) \| `(.+?)` \|(.*)\|")


def table() -> dict[str, tuple[str, Any]]:
    """Return what the table says of each parameter, and its example."""
    found = LINE.findall((ROOT / "docs" / "api.md").read_text())
    return {name: (here, json.loads(example)) for name, here, example, _more in found}


TABLE = table()


def named(here: str) -> list[str]:
    return [name for name, (what, _example) in TABLE.items() if what == here]


def test_the_table_has_each_parameter_that_the_official_client_knows_and_the_code_reads() -> None:
    assert set(CompletionCreateParamsBase.__annotations__) - set(TABLE) == set()
    passed = {*requests.NUMBERS, *requests.WHOLE, *requests.WORDS, "stop", "response_format", "logit_bias"}
    assert set(named("passed on")) == passed
    assert set(named("refused")) == set(requests.REFUSED)
    assert set(named("ignored")) == set(requests.IGNORED)
    assert set(named("supported")) == {"model", "messages", "stream", "stream_options", "user", "metadata"}


@pytest.mark.django_db
@pytest.mark.parametrize("name", named("passed on"))
def test_what_is_passed_on_reaches_the_model_as_it_is(ask: Ask, model_server: Script, name: str) -> None:
    value = TABLE[name][1]
    for stream in (False, True):
        answer = ask(stream=stream, **{name: value})
        assert answer.status_code == 200, answer.content
        _ = answer.getvalue()
    assert [chat[name] for chat in model_server.chats()] == [value, value]


@pytest.mark.django_db
@pytest.mark.parametrize("name", named("ignored"))
def test_what_is_ignored_changes_nothing(ask: Ask, model_server: Script, name: str) -> None:
    ask()
    assert ask(**{name: TABLE[name][1]}).status_code == 200
    assert ask(a_parameter_of_the_future={"x": [1]}).status_code == 200
    without, with_it, unknown = model_server.chats()
    assert without == with_it == unknown


@pytest.mark.django_db
@pytest.mark.parametrize("name", named("refused"))
def test_what_is_refused_is_a_400_that_names_it_and_its_harmless_values_are_accepted(ask: Ask, name: str) -> None:
    answer = ask(**{name: TABLE[name][1]})
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == name
    assert not Session.objects.exists()
    for harmless in (None, *requests.REFUSED[name]):
        assert ask(**{name: harmless}).status_code == 200


@pytest.mark.django_db
def test_what_is_supported_does_what_the_table_says(ask: Ask) -> None:
    base = {name: TABLE[name][1] for name in ("model", "messages", "user")} | {"model": "acme/talker"}
    whole = ask(body=json.dumps(base))
    assert whole.json()["object"] == "chat.completion"
    assert Session.objects.get().end_user_id == TABLE["user"][1]
    streaming = {name: TABLE[name][1] for name in ("stream", "stream_options")}
    metadata = {"session_id": whole["X-Session-Id"], "anything": "else"}
    assert set(TABLE["metadata"][1]) <= set(metadata)
    streamed = ask(body=json.dumps({**base, **streaming, "metadata": metadata}))
    assert streamed["Content-Type"] == "text/event-stream"
    assert streamed["X-Session-Id"] == whole["X-Session-Id"]
    assert '"total_tokens"' in streamed.getvalue().decode()
    assert '"usage"' not in ask(stream=True).getvalue().decode()


@pytest.mark.parametrize(
    ("more", "param"),
    [
        ({"temperature": 2.1}, "temperature"),
        ({"temperature": True}, "temperature"),
        ({"top_p": -0.1}, "top_p"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": 1.5}, "max_tokens"),
        ({"seed": 2**63}, "seed"),
        ({"stop": ["a", "b", "c", "d", "e"]}, "stop"),
        ({"response_format": {"type": "xml"}}, "response_format"),
        ({"response_format": {"type": "json_schema"}}, "response_format"),
        ({"response_format": {"type": []}}, "response_format"),
        ({"logit_bias": {"1": 101}}, "logit_bias"),
        ({"logit_bias": {str(number): 1 for number in range(1025)}}, "logit_bias"),
        ({"verbosity": ""}, "verbosity"),
        ({"stream_options": []}, "stream_options"),
        ({"stream_options": {"include_usage": "yes"}}, "stream_options.include_usage"),
        ({"n": True}, "n"),
        ({"tool_choice": {"type": "function"}}, "tool_choice"),
        ({"metadata": "x"}, "metadata"),
    ],
)
def test_a_value_out_of_bounds_is_refused_in_words(more: dict[str, Any], param: str) -> None:
    body = {"model": "acme/guide", "messages": [{"role": "user", "content": "Hello"}], **more}
    with pytest.raises(BadParameter) as refused:
        requests.read_call(body, None)
    assert refused.value.param == param
    assert str(refused.value.detail).endswith(".")


@pytest.mark.parametrize(
    ("message", "param", "word"),
    [
        ({"role": "tool", "content": "x", "tool_call_id": "1"}, "messages[0].role", "tool"),
        ({"role": "function", "content": "x", "name": "f"}, "messages[0].role", "tool"),
        ({"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}, "messages[0].tool_calls", "tool"),
        ({"role": "user", "content": [{"type": "image_url", "image_url": {}}]}, "messages[0].content", "'image_url'"),
        ({"role": "user", "content": [{"type": "input_audio"}]}, "messages[0].content", "'input_audio'"),
        ({"role": "user", "content": [{"type": "file", "file": {}}]}, "messages[0].content", "'file'"),
        ({"role": "user", "content": [{"type": "refusal", "refusal": "No."}]}, "messages[0].content", "'refusal'"),
        ({"role": "user", "content": ["x"]}, "messages[0].content", "Send text"),
        ({"role": "critic", "content": "x"}, "messages[0].role", "developer"),
        ({"role": ["user"], "content": "x"}, "messages[0].role", "developer"),
        ({"role": "user"}, "messages[0].content", "text"),
    ],
)
def test_a_message_that_cannot_be_read_is_refused_in_words(message: Any, param: str, word: str) -> None:
    body = {"model": "acme/guide", "messages": [message, {"role": "user", "content": "Hello"}]}
    with pytest.raises(BadParameter) as refused:
        requests.read_call(body, None)
    assert refused.value.param == param
    assert word in str(refused.value.detail)


def test_parts_are_joined_and_the_developer_speaks_as_the_system() -> None:
    call = requests.read_call(
        {
            "model": "acme/guide",
            "messages": [
                {"role": "developer", "content": [{"type": "text", "text": "Be kind."}], "name": "me"},
                {"role": "user", "content": "One"},
                {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}], "tool_calls": []},
                {"role": "user", "content": [{"type": "text", "text": "Two"}, {"type": "text", "text": "three"}]},
            ],
        },
        None,
    )
    assert call.asked.system == ("Be kind.",)
    assert call.asked.history == (("user", "One"), ("assistant", "No."))
    assert call.asked.new == (("user", "Two\nthree"),)


@pytest.mark.django_db
def test_a_provider_that_is_overloaded_and_says_no_time_still_gets_a_retry_after(
    ask: Ask, model_server: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("llm.openai.FIRST_WAIT", 0)
    model_server.answers = [429]
    answer = ask()
    assert answer.status_code == 429
    assert int(answer["Retry-After"]) > 0
