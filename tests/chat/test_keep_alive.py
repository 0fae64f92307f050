"""C03: while the model is silent the page and the API say so, and a stop or a client that has gone ends the call."""

import threading
import time
from datetime import timedelta
from typing import Any
from unittest import mock

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.models import User
from agents import breaker, providers
from agents.models import Agent, Provider, ProviderState
from chat import services, stops
from consent.scope import Scope
from conversations.models import Session, Turn
from conversations.services import Said, request_stop
from extraction.models import Run
from tests import factories
from tests.chat.conftest import Ask
from tests.stub_server import Script

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "KEEP_ALIVE_SECONDS", 0.1)
    monkeypatch.setattr(stops, "STOP_CHECK_SECONDS", 0.0)


@pytest.fixture
def session(talker: Agent, owner: User) -> Session:
    return factories.make_session(talker, owner)


def started(session: Session) -> services.Started:
    now = timezone.now()
    return services.start_turn(session=session, speaker=session.created_by, said=[Said("user", "Hi", now)], now=now)


def send(session: Session, owner: User) -> Any:
    client = Client()
    client.force_login(owner, backend="accounts.authentication.EmailBackend")
    url = f"/agents/acme/talker/chat/{session.pk}/send/"
    return client.post(url, {"message": "Hello"}, headers={"Accept": "text/event-stream"})


def test_a_stop_is_noticed_while_the_model_is_silent(session: Session, model_server: Script) -> None:
    model_server.answers = [{"text": "late", "delay": 20}]
    turn = started(session)
    began = time.monotonic()
    pieces = services.stream(turn, clock=timezone.now)
    assert next(pieces).text == ""
    request_stop(turn_id=turn.turn.pk, session=session, now=timezone.now())
    list(pieces)
    turn.turn.refresh_from_db()
    assert (turn.turn.status, turn.turn.error_code) == ("stopped", "asked")
    assert time.monotonic() - began < 5


def test_a_client_that_has_gone_is_noticed_while_the_model_is_silent(session: Session, model_server: Script) -> None:
    model_server.answers = [{"text": "late", "delay": 20}]
    turn = started(session)
    pieces = services.stream(turn, clock=timezone.now)
    next(pieces)
    began = time.monotonic()
    pieces.close()
    assert time.monotonic() - began < 2
    turn.turn.refresh_from_db()
    assert (turn.turn.status, turn.turn.error_code) == ("stopped", "client_gone")
    assert not Run.objects.exists()


def test_the_page_and_the_api_get_comments_and_then_the_reply(
    session: Session, owner: User, ask: Ask, model_server: Script
) -> None:
    model_server.answers = [{"text": "Good day.", "delay": 0.5}]
    for response in (send(session, owner), ask(stream=True)):
        body = b"".join(response.streaming_content).decode()
        assert body.index(": keep-alive\n\n") < body.index("Good")
    assert set(Turn.objects.values_list("status", flat=True)) == {"completed"}


def test_a_crash_in_the_middle_of_a_stream_ends_with_a_failed_event(
    session: Session, owner: User, ask: Ask, model_server: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_server.answers = [{"text": "Good day.", "pause": 0.2}]

    def crash(*_: object, **_more: object) -> bool:
        raise RuntimeError("a secret word")

    monkeypatch.setattr(stops.Stops, "asked", crash)
    page = b"".join(send(session, owner).streaming_content).decode()
    assert "event: failed" in page
    api = b"".join(ask(stream=True).streaming_content).decode()
    assert '"code": "crashed"' in api
    assert "[DONE]" not in api
    assert "a secret word" not in page + api
    assert set(Turn.objects.values_list("status", "error_code")) == {("failed", "crashed")}


def test_chat_answers_at_once_with_retry_after_while_the_breaker_is_open(
    talker: Agent, ask: Ask, model_server: Script
) -> None:
    until = timezone.now() + timedelta(seconds=40)
    ProviderState.objects.create(provider=talker.provider, failures=breaker.ALLOWED, open_until=until)
    for stream in (False, True):
        answer = ask(stream=stream)
        assert answer.status_code == 503
        assert 30 <= int(answer["Retry-After"]) <= 40
        assert answer.json()["error"]["code"] == "unavailable"
    assert model_server.requests == []


def test_no_connection_is_held_while_a_model_writes(session: Session, model_server: Script) -> None:
    model_server.answers = ["Good day."]
    turn = started(session)
    with mock.patch.object(connection, "close") as close, mock.patch.object(connection, "in_atomic_block", new=False):
        services.complete(turn, clock=timezone.now)
    assert close.called


def asked_to_stop(turn: services.Started) -> services.Started:
    request_stop(turn_id=turn.turn.pk, session=turn.session, now=timezone.now())
    return turn


def test_c03_a_stop_ends_the_call_whose_reply_is_read_whole(session: Session, model_server: Script) -> None:
    model_server.answers = [{"text": "late", "delay": 20}]
    turn, began = asked_to_stop(started(session)), time.monotonic()
    assert services.complete(turn, clock=timezone.now).text == ""
    assert time.monotonic() - began < 5
    turn.turn.refresh_from_db()
    assert (turn.turn.status, turn.turn.error_code, len(model_server.requests)) == ("stopped", "asked", 1)
    for thread in threading.enumerate():
        if thread.name == "model-stream":
            thread.join(timeout=5)
            assert not thread.is_alive()  # the connection was shut, and no other try followed
    assert len(model_server.requests) == 1


def test_c03_a_stop_is_heeded_before_a_whole_reply_is_stored_and_nothing_is_learned(
    session: Session, talker_scope: Scope, model_server: Script
) -> None:
    turn = asked_to_stop(started(session))
    assert services.complete(turn, clock=timezone.now).text == "Hello."
    turn.turn.refresh_from_db()
    assert (turn.turn.status, turn.turn.model) == ("stopped", "stub-1")
    assert [message.content for message in turn.turn.messages.order_by("position")] == ["Hi", "Hello."]
    assert not Run.objects.exists()


def test_c03_a_reply_stopped_without_javascript_can_be_sent_again_and_the_api_ends_it_with_stop(
    session: Session, owner: User, ask: Ask, model_server: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stops.Stops, "asked", lambda *_, **_more: True)
    client = Client()
    client.force_login(owner, backend="accounts.authentication.EmailBackend")
    page = client.post(f"/agents/acme/talker/chat/{session.pk}/send/", {"message": "Hello"}, follow=True)
    assert "turn-status-stopped" in page.content.decode()
    assert "Try again" in page.content.decode()
    choice = ask().json()["choices"][0]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("Hello.", "stop")
    assert set(Turn.objects.values_list("status", flat=True)) == {"stopped"}


@pytest.mark.django_db(transaction=True)
def test_c05_what_a_provider_refuses_is_learned_by_the_reading_thread_which_keeps_no_connection(
    session: Session, model_server: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = {"status": 400, "body": {"error": {"message": "tools are not supported", "type": "invalid"}}}
    model_server.answers = [refused, "Hello."]
    left, learn = list[tuple[bool, bool]](), providers._learn

    def learned(provider: Provider, quirk: str) -> None:
        learn(provider, quirk)
        left.append((threading.current_thread() is threading.main_thread(), connection.connection is None))

    monkeypatch.setattr(providers, "_learn", learned)
    assert services.complete(started(session), clock=timezone.now).text == "Hello."
    assert left == [(False, True)]
    assert "no_tools" in ProviderState.objects.get().quirks
