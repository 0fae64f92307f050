"""What a turn through the API asks of the database, and what it leaves there when it cannot begin (C01, C03)."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from consent.scope import Scope
from conversations.models import Turn
from tests import factories
from tests.chat.conftest import Ask
from tests.chat.test_api import dialogue
from tests.stub_server import Script

pytestmark = pytest.mark.django_db


def test_a_turn_asks_the_database_for_each_thing_once(ask: Ask, talker_scope: Scope, model_server: Script) -> None:
    """Key, rate, agent, guardrails, memory, the turn with its session, quirks, breaker, lock, look, end, run and task.

    The first turn also reads the organization's keys and notes the use of the API key.
    """
    factories.make_fact(talker_scope)
    model_server.answers = ["First.", "Second.", "Third."]
    ask(dialogue("zero"))
    counts = []
    for said in (dialogue("one"), dialogue("one", "Second.", "two")):
        with CaptureQueriesContext(connection) as seen:
            assert ask(said)["X-Memory"] == "used"
        asked = [query["sql"] for query in seen.captured_queries]
        counts.append(sum(not sql.startswith(("SAVEPOINT", "RELEASE")) for sql in asked))
    assert counts[0] <= 12
    assert counts[1] <= 16  # its session, who else reads it, and how it stands under its lock


def test_what_breaks_before_a_turn_begins_leaves_it_failed(
    ask: Ask, model_server: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chat.services.member_settings", lambda *_: 1 / 0)
    assert ask("Hello").status_code == 500
    turn = Turn.objects.get()
    assert (turn.status, turn.error_code, turn.messages.get().content) == ("failed", "not_started", "Hello")
    assert not model_server.requests
