"""C02 through HTTP, line by line as docs/api.md says what becomes of a history that a client sends."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from consent.scope import Scope
from conversations.models import Message, Session, Turn
from extraction.models import Run
from tests.chat.conftest import Ask
from tests.chat.test_api import dialogue
from tests.stub_server import Script
from tests.test_architecture import ROOT
from tests.threads import together

pytestmark = pytest.mark.django_db


def contents(session: Any, **more: Any) -> list[str]:
    messages = Message.objects.filter(session=session, **more).order_by("position")
    return list(messages.values_list("content", flat=True))


@pytest.fixture
def talked(ask: Ask, talker_scope: Scope, model_server: Script) -> str:
    """A session of two turns: one, First., two, Second."""
    model_server.answers = ["First.", "Second.", "Third."]
    session: str = ask(dialogue("one"))["X-Session-Id"]
    assert ask(dialogue("one", "First.", "two"))["X-Session-Id"] == session
    return session


def test_a_resent_history_is_stored_and_learned_from_once(ask: Ask, talked: str, model_server: Script) -> None:
    assert ask(dialogue("one", "First.", "two", "Second.", "three"))["X-Session-Id"] == talked
    assert contents(talked) == ["one", "First.", "two", "Second.", "three", "Third."]
    assert Run.objects.count() == Turn.objects.count() == 3
    asked = [message["content"] for message in model_server.chats()[-1]["messages"]]
    assert asked == ["Be brief.", "one", "First.", "two", "Second.", "three"]


@pytest.mark.parametrize(
    "alike",
    [
        ("one", "First.", "two  ", "Second.\r\n", "three"),
        (" one", "\nFirst.", "two", "Second.", "three"),
    ],
)
def test_outer_spaces_and_line_ends_of_resent_text_may_differ(ask: Ask, talked: str, alike: tuple[str, ...]) -> None:
    assert ask(dialogue(*alike))["X-Session-Id"] == talked


def test_parts_instead_of_text_are_the_same_history(ask: Ask, talked: str) -> None:
    messages = dialogue("one", "First.", "two", "Second.", "three")
    parts = [{**one, "content": [{"type": "text", "text": one["content"]}]} for one in messages]
    assert ask(parts)["X-Session-Id"] == talked


@pytest.mark.parametrize(
    "history",
    [
        pytest.param(("one", "First.", "two, edited"), id="last message edited"),
        pytest.param(("one, edited", "First.", "two", "Second.", "three"), id="first message edited"),
        pytest.param(("one", "First, edited.", "two", "Second.", "three"), id="reply edited"),
        pytest.param(("one", "First.", "two"), id="regenerated"),
        pytest.param(("two", "Second.", "three"), id="trimmed"),
        pytest.param(("one", "First.", "two", "Second.", "three", "Third.", "four"), id="more than we know"),
    ],
)
def test_an_edited_or_trimmed_history_branches_and_is_not_learned_from_again(
    ask: Ask, talked: str, history: tuple[str, ...]
) -> None:
    before = contents(talked)
    branch = ask(dialogue(*history))["X-Session-Id"]
    assert branch != talked
    assert contents(talked) == before
    assert contents(branch, passed_at__isnull=False) == list(history[:-1])
    assert contents(branch, passed_at__isnull=True) == [history[-1], "Third."]


def test_a_branch_goes_on_as_a_session_of_its_own(ask: Ask, talked: str, model_server: Script) -> None:
    model_server.answers = ["Other.", "More."]
    branch = ask(dialogue("one", "First.", "two, edited"))["X-Session-Id"]
    assert ask(dialogue("one", "First.", "two, edited", "Other.", "three"))["X-Session-Id"] == branch
    assert ask(dialogue("one", "First.", "two", "Second.", "three"))["X-Session-Id"] == talked


def test_a_client_that_trims_stays_in_its_session_by_the_handle(ask: Ask, talked: str, model_server: Script) -> None:
    trimmed = dialogue("two", "Second.", "three")
    assert ask(trimmed, metadata={"session_id": talked})["X-Session-Id"] == talked
    assert contents(talked) == ["one", "First.", "two", "Second.", "three", "Third."]
    asked = [message["content"] for message in model_server.chats()[-1]["messages"]]
    assert asked == ["Be brief.", "two", "Second.", "three"]  # the model sees what the client sent


def test_system_messages_are_neither_stored_nor_part_of_the_history(
    ask: Ask, talked: str, model_server: Script
) -> None:
    system = [{"role": "system", "content": "It is noon."}]
    late = dialogue("one", "First.", "two", "Second.")
    messages = [*system, *late, {"role": "developer", "content": "Be kind."}, {"role": "user", "content": "three"}]
    assert ask(messages)["X-Session-Id"] == talked
    assert not Message.objects.filter(role="system").exists()
    asked = [(m["role"], m["content"]) for m in model_server.chats()[-1]["messages"]]
    assert asked[:3] == [("system", "Be brief."), ("system", "It is noon."), ("system", "Be kind.")]
    assert asked[-1] == ("user", "three")


def test_a_turn_that_failed_is_no_part_of_the_history(ask: Ask, talked: str, model_server: Script) -> None:
    model_server.answers = [400, "Third."]
    messages = dialogue("one", "First.", "two", "Second.", "three")
    assert ask(messages).status_code == 400
    assert ask(messages)["X-Session-Id"] == talked
    assert Session.objects.count() == 1


def test_two_sessions_with_the_same_words_are_ambiguous_and_neither_goes_on(ask: Ask, model_server: Script) -> None:
    model_server.answers = ["First."]
    twins = {ask(dialogue("one"))["X-Session-Id"] for _ in range(2)}
    assert len(twins) == 2
    assert ask(dialogue("one", "First.", "two"))["X-Session-Id"] not in twins


def test_a_deleted_session_does_not_go_on(ask: Ask, talked: str) -> None:
    Session.objects.update(deleted_at=timezone.now())
    assert ask(dialogue("one", "First.", "two", "Second.", "three"))["X-Session-Id"] != talked
    assert ask("three", header=talked).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_of_two_requests_at_once_one_goes_on_and_the_other_branches(
    ask: Ask, talked: str, model_server: Script
) -> None:
    model_server.answers = [{"text": "Third.", "delay": 0.3}]
    history = dialogue("one", "First.", "two", "Second.", "three")
    calls: list[Callable[[], Any]] = [lambda: ask(history)] * 2
    answers: list[Any] = together(*calls)
    first, second = answers
    assert {first.status_code, second.status_code} == {200}
    sessions = {first["X-Session-Id"], second["X-Session-Id"]}
    assert talked in sessions
    assert len(sessions) == 2


@pytest.mark.django_db(transaction=True)
def test_of_two_requests_with_one_handle_at_once_one_is_told_to_wait(
    ask: Ask, talked: str, model_server: Script
) -> None:
    model_server.answers = [{"text": "Third.", "delay": 0.3}]
    calls: list[Callable[[], Any]] = [lambda: ask("three", header=talked)] * 2
    answers: list[Any] = together(*calls)
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    busy = next(answer for answer in answers if answer.status_code == 409)
    assert busy["Retry-After"] == "1"
    assert contents(talked)[4:] == ["three", "Third."]


def test_the_document_has_a_line_for_each_of_these() -> None:
    text = (ROOT / "docs" / "api.md").read_text()
    for words in ("resends the whole history", "edits or regenerates", "cuts off old messages", "at once", "system"):
        assert words in text
