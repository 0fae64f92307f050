"""The official `openai` client for Python, unmodified, against a running server (C01)."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import uuid4

import openai
import pytest
from django.utils import timezone

from accounts.models import Rate
from agents.models import Agent
from conversations.models import Session, Turn
from tests.stub_server import Script

pytestmark = pytest.mark.django_db(transaction=True)
MODEL = "acme/talker"
HELLO: Any = [{"role": "user", "content": "Hello"}]


@pytest.fixture
def client(live_server: Any, talker: Agent, key: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{live_server.url}/v1", api_key=key, max_retries=0) as made:
        yield made


def test_c01_the_official_client_works_with_only_a_base_url(client: openai.OpenAI, model_server: Script) -> None:
    model_server.answers = ["Good day to you."]
    assert [model.id for model in client.models.list()] == ["acme/guide", MODEL]
    assert client.models.retrieve(MODEL).owned_by == "acme"
    whole = client.chat.completions.create(model=MODEL, messages=HELLO)
    assert whole.choices[0].message.content == "Good day to you."
    pieces = client.chat.completions.create(model=MODEL, messages=HELLO, stream=True)
    assert "".join(piece.choices[0].delta.content or "" for piece in pieces) == "Good day to you."


def test_a_stream_ends_with_its_usage_when_that_is_asked_for(client: openai.OpenAI) -> None:
    pieces = list(
        client.chat.completions.create(model=MODEL, messages=HELLO, stream=True, stream_options={"include_usage": True})
    )
    assert [piece.usage for piece in pieces[:-1]] == [None] * (len(pieces) - 1)
    assert pieces[-1].choices == []
    assert pieces[-1].usage is not None
    assert len({piece.id for piece in pieces}) == 1
    with client.chat.completions.stream(model=MODEL, messages=HELLO) as stream:
        assert stream.get_final_completion().choices[0].message.content == "Hello."


def test_the_raw_response_has_the_id_of_the_request_and_the_session(client: openai.OpenAI) -> None:
    raw = client.chat.completions.with_raw_response.create(model=MODEL, messages=HELLO)
    completion = raw.parse()
    assert raw.headers["x-request-id"] == completion._request_id
    again = client.chat.completions.with_raw_response.create(
        model=MODEL, messages=HELLO, metadata={"session_id": raw.headers["x-session-id"]}
    )
    assert again.headers["x-session-id"] == raw.headers["x-session-id"]
    assert again.headers["x-request-id"] != raw.headers["x-request-id"]
    with client.chat.completions.with_streaming_response.create(model=MODEL, messages=HELLO) as streaming:
        assert streaming.parse().object == "chat.completion"


def test_errors_are_the_client_s_own_exceptions(client: openai.OpenAI, model_server: Script) -> None:
    create = client.chat.completions.create
    with pytest.raises(openai.NotFoundError, match="acme/none"):
        create(model="acme/none", messages=HELLO)
    with pytest.raises(openai.BadRequestError) as refused:
        create(model=MODEL, messages=HELLO, n=2)
    assert (refused.value.param, refused.value.code) == ("n", "unsupported_value")
    assert refused.value.request_id
    wrong = client.with_options(api_key="mp_00000000_wrong")
    with pytest.raises(openai.AuthenticationError, match="wrong, expired or revoked"):
        wrong.models.list()
    once: Any = {"model": MODEL, "extra_headers": {"Idempotency-Key": "one"}}
    create(messages=HELLO, **once)
    with pytest.raises(openai.UnprocessableEntityError, match="another body"):
        create(messages=[{"role": "user", "content": "Bye"}], **once)
    session = create(model=MODEL, messages=HELLO)
    assert session.metadata is not None
    held: Any = {"session_id": session.metadata["session_id"]}
    Turn.objects.filter(session=held["session_id"]).update(status="running")
    with pytest.raises(openai.ConflictError, match="still running"):
        create(model=MODEL, messages=HELLO, metadata=held)
    model_server.answers = [{"status": 429, "headers": {"Retry-After": "30"}}]
    with pytest.raises(openai.RateLimitError, match="overloaded"):
        create(model=MODEL, messages=HELLO)
    model_server.answers = [401]
    with pytest.raises(openai.InternalServerError, match="provider"):
        create(model=MODEL, messages=HELLO)
    model_server.answers = [{"text": "one two three", "cut_after": 1}]
    with pytest.raises(openai.APIError, match="provider"):
        list(create(model=MODEL, messages=HELLO, stream=True))


def test_past_the_rate_the_client_waits_as_told_and_goes_on(client: openai.OpenAI, settings: Any) -> None:
    settings.RATE_KEY, settings.RATE_ORGANIZATION = 60, 0
    raw = client.models.with_raw_response.list()
    assert raw.headers["x-ratelimit-limit-requests"] == "60"
    Rate.objects.update(full_at=timezone.now() + timedelta(seconds=61))
    with pytest.raises(openai.RateLimitError) as refused:
        client.models.list()
    assert refused.value.code == "rate_limit_exceeded"
    assert refused.value.response.headers["retry-after"] == "2"
    Rate.objects.update(full_at=timezone.now() + timedelta(seconds=59.5))
    assert client.with_options(max_retries=3).models.list().data


def test_a_client_that_times_out_and_retries_gets_the_one_turn_s_answer(
    client: openai.OpenAI, model_server: Script
) -> None:
    model_server.answers = [{"text": "At last.", "delay": 1.0}, "A second turn."]
    patient = client.with_options(max_retries=6, timeout=0.6)
    answer = patient.chat.completions.create(
        model=MODEL, messages=HELLO, extra_headers={"Idempotency-Key": str(uuid4())}
    )
    assert answer.choices[0].message.content == "At last."
    assert Turn.objects.count() == len(model_server.chats()) == 1


def test_two_clients_with_one_key_get_the_same_answer(client: openai.OpenAI, model_server: Script) -> None:
    model_server.answers = [{"text": "At last.", "delay": 0.3}, "A second turn."]
    patient = client.with_options(max_retries=6)
    header = {"Idempotency-Key": str(uuid4())}

    def ask(_number: int) -> str:
        return patient.chat.completions.create(model=MODEL, messages=HELLO, extra_headers=header).id

    with ThreadPoolExecutor(3) as pool:
        assert len(set(pool.map(ask, range(3)))) == 1
    assert Turn.objects.count() == 1


def test_c02_a_conversation_of_the_client_is_one_session(client: openai.OpenAI, model_server: Script) -> None:
    messages: list[Any] = [{"role": "system", "content": "Be short."}]
    for number, text in enumerate(("one", "two", "three")):
        model_server.answers = [f"Reply {number}."]
        messages.append({"role": "user", "content": text})
        reply = client.chat.completions.create(model=MODEL, messages=messages).choices[0].message
        messages.append(reply.model_dump(exclude_none=True))
    assert Session.objects.count() == 1
    assert Turn.objects.count() == 3
