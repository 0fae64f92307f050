"""C01: what cannot be served is refused in OpenAI's shape, before anything is stored or the provider is asked."""

import json
from typing import Any

import pytest

from accounts.models import Organization, User
from agents.models import ProviderState
from conversations.models import Session
from tests import factories
from tests.chat.conftest import Ask
from tests.chat.test_api import dialogue
from tests.stub_server import Script

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("more", "param"),
    [
        ({"tools": [{"type": "function"}]}, "tools"),
        ({"n": 2}, "n"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": "a\x00b"}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages[0].content"),
        ({"messages": [{"role": "assistant", "content": "x"}]}, "messages"),
        ({"messages": "hello"}, "messages"),
        ({"stream": "yes"}, "stream"),
        ({"metadata": {"session_id": "nonsense"}}, "metadata.session_id"),
        ({"user": 7}, "user"),
        ({"metadata": {"session_id": []}}, "metadata.session_id"),
        ({"metadata": {"session_id": 0}}, "metadata.session_id"),
        ({"max_tokens": "x"}, "max_tokens"),
        ({"stop": 5}, "stop"),
        ({"temperature": "a"}, "temperature"),
        ({"logprobs": True}, "logprobs"),
        ({"response_format": "json"}, "response_format"),
        ({"user": False}, "user"),
        ({"user": []}, "user"),
        ({"messages": [{"role": "user", "content": "\u200b"}]}, "messages"),
        ({"temperature": 10**307}, "temperature"),
        ({"logit_bias": {"1": 10**307}}, "logit_bias"),
        ({"stop": "\ud800"}, "stop"),
        ({"reasoning_effort": "\udfff"}, "reasoning_effort"),
        ({"response_format": {"type": "json_schema", "json_schema": {"name": "\ud800"}}}, "response_format"),
    ],
)
def test_c01_what_cannot_be_served_is_a_400_that_names_the_parameter(
    ask: Ask, more: dict[str, Any], param: str
) -> None:
    body = {"model": "acme/talker", "messages": [{"role": "user", "content": "Hello"}], **more}
    answer = ask(body=json.dumps(body))
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == param
    assert not Session.objects.exists()


def test_a_body_beyond_the_limit_is_413_before_it_is_parsed(ask: Ask, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
    answer = ask("x" * 1024 * 1024)
    assert answer.status_code == 413
    assert answer.json()["error"]["code"] == "request_too_large"
    assert ask(dialogue(*["y" * 199_000] * 5, "z" * 100_000)).status_code in (400, 413)
    assert not Session.objects.exists()


@pytest.mark.parametrize("address", ["/v1/chat/completions", "/v1/triggers/slack"])
def test_a_body_of_unknown_length_is_told_so_and_not_taken_for_an_empty_one(
    client: Any, key: str, organization: Organization, owner: User, address: str
) -> None:
    secret = factories.make_key(organization, owner, scope="triggers") if "triggers" in address else key
    headers = {"Authorization": f"Bearer {secret}", "Transfer-Encoding": "chunked"}
    answer = client.post(address, content_type="application/json", headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (411, "length_required")


@pytest.mark.parametrize(
    "body",
    [
        "{",
        "[1, 2",
        '{"model": NaN}',
        "[" * 100_000,
        '{"a":' * 60 + "1" + "}" * 60,
        b"\xff\xfe",
        "null",
        '{"model": "acme/talker", "temperature": 1e999, "messages": [{"role": "user", "content": "Hello"}]}',
        '{"model": "acme/talker", "messages": [{"role": "user", "content": "\\ud800"}]}',
        '{"model": "acme/talker", "messages": [{"role": "user", "content": "Hello"}], "any": 1e999}',
        '{"model": "acme/talker", "messages": [{"role": "user", "content": "Hello"}], "any": [-1%s]}' % ("0" * 400),
        '{"model": "acme/talker", "messages": [{"role": "user", "content": "Hello"}], "any": [{"\\ud800": 1}]}',
    ],
)
def test_malformed_json_is_a_400_in_openai_s_shape(ask: Ask, body: str | bytes) -> None:
    answer = ask(body=body)
    assert answer.status_code == 400
    assert set(answer.json()["error"]) == {"message", "type", "param", "code"}


def test_what_no_provider_can_be_sent_is_no_failure_of_the_provider(ask: Ask, model_server: Script) -> None:
    for _each in range(6):
        assert ask(stop="\ud800").status_code == 400
    assert not ProviderState.objects.exists()
    assert ask().status_code == 200


@pytest.mark.parametrize(
    "name", ["acme/none", "other/guide", "none", "", "/", "acme/talker/x", "acme/\ud800", "a\x00/b"]
)
def test_an_unknown_or_foreign_model_is_404_or_400_and_says_so(ask: Ask, stranger: User, name: str) -> None:
    answer = ask(body=json.dumps({"model": name, "messages": [{"role": "user", "content": "Hello"}]}))
    assert answer.status_code == (404 if name else 400)
    assert "model" in answer.json()["error"]["message"]
