"""E03, E07: one repair, waiting for a provider, the key switch, poison runs, and a sweep that knows when to stop."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import ApiKey, User
from agents import breaker
from agents.models import Agent, ProviderState
from consent.scope import Scope
from conversations.models import Message, Session
from conversations.services import new_session
from conversations.surfaces import Surface
from extraction import runs, services
from extraction.models import Run
from extraction.window import ELLIPSIS, MAX_CHARACTERS, WindowMessage, choose_window, cost
from facts.models import Fact
from lifecycle.doctor import findings
from tests import factories
from tests.stub_server import Script, facts

pytestmark = pytest.mark.django_db
ANSWER = facts({"key": "home.city", "content": "Lives in Porto."})


@pytest.fixture
def agent(organization: Any, model_server: Script) -> Agent:
    return factories.make_agent(organization, "guide", base_url=model_server.url)


@pytest.fixture
def session(agent: Agent, owner: User, consented: Scope) -> Session:
    return factories.make_session(agent, owner)


def waiting(session: Session) -> Run:
    turn, _message = factories.make_turn(session, "I live in Porto.")
    run = runs.schedule(turn, now=timezone.now())
    assert run is not None
    return run


def do(run: Run, *, at: datetime | None = None) -> Run:
    now = at or timezone.now()
    services.extract(run.pk, clock=partial(max, now, now))
    run.refresh_from_db()
    return run


# --- repair -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", ["Sorry, I cannot do that.", "Here you go!", '{"facts": [{"key": "ho'])
def test_e03_an_unreadable_answer_is_shown_to_the_model_once_with_what_is_wrong(
    session: Session, model_server: Script, first: str
) -> None:
    model_server.extraction = [first, ANSWER]
    run = do(waiting(session))
    assert (run.state, run.outcomes, run.prompt_tokens) == ("done", {"active": 1}, 14)
    asked, again = model_server.extractions()
    assert again["messages"][:2] == asked["messages"]
    assert [message["role"] for message in again["messages"][2:]] == ["assistant", "user"]
    assert "cannot be used" in again["messages"][3]["content"]


def test_e03_after_one_repair_and_one_more_attempt_the_run_gives_up(session: Session, model_server: Script) -> None:
    model_server.extraction = ["No JSON here."]
    run = do(waiting(session))
    assert (run.state, run.error_code) == ("waiting", "answer_no_json")
    run = do(run, at=run.due_at + timedelta(seconds=1))
    assert (run.state, run.error_code, run.attempt) == ("failed", "answer_no_json", 2)
    assert len(model_server.extractions()) == 4
    assert not Message.objects.filter(passed_at__isnull=False).exists()


def test_e02_answers_are_bounded_in_tokens(session: Session, model_server: Script) -> None:
    do(waiting(session))
    assert model_server.extractions()[0]["max_tokens"] == 4000


def test_a_provider_without_schemas_is_remembered_for_the_next_run(session: Session, model_server: Script) -> None:
    model_server.extraction = [400, ANSWER]
    assert do(waiting(session)).state == "done"
    do(waiting(session))
    assert ["response_format" in request for request in model_server.extractions()] == [True, False, False]


# --- the provider's breaker -------------------------------------------------------------------------------------------


def test_a_run_waits_for_its_provider_without_using_up_attempts(session: Session, model_server: Script) -> None:
    run, now = waiting(session), timezone.now() + timedelta(seconds=1)
    for _ in range(runs.MAX_ATTEMPTS * 2):
        ProviderState.objects.update_or_create(
            provider=session.agent.provider,
            defaults={"failures": breaker.ALLOWED, "open_until": now + timedelta(seconds=60)},
        )
        run = do(run, at=now)
        assert (run.state, run.error_code, run.tries) == ("waiting", "unavailable", 0)
        assert run.due_at >= now + timedelta(seconds=60)
        now = run.due_at + timedelta(seconds=1)
    assert model_server.requests == []
    ProviderState.objects.update(open_until=now)
    model_server.extraction = [ANSWER]
    assert do(run, at=now).state == "done"


def test_a_run_that_has_waited_for_days_gives_up_and_passes_nothing(session: Session, model_server: Script) -> None:
    run, late = waiting(session), timezone.now() + runs.MAX_AGE + timedelta(hours=1)
    ProviderState.objects.create(
        provider=session.agent.provider, failures=breaker.ALLOWED, open_until=late + timedelta(hours=1)
    )
    run = do(run, at=late)
    assert (run.state, run.error_code) == ("failed", "unavailable")
    assert not Message.objects.filter(passed_at__isnull=False).exists()


def test_a_failing_provider_is_left_alone_after_a_few_runs(
    session: Session, model_server: Script, agent: Agent
) -> None:
    model_server.extraction = [503]
    for number in range(8):
        member = factories.make_member(agent.organization, agent, f"m{number}@acme.example")
        scope = factories.grant(Scope(agent.organization_id, member.pk, agent.pk), member)
        assert scope
        do(waiting(factories.make_session(agent, member)))
    assert len(model_server.requests) == breaker.ALLOWED


# --- the API key's switch ---------------------------------------------------------------------------------------------


@pytest.fixture
def key_session(agent: Agent, owner: User, consented: Scope) -> Session:
    factories.make_key(agent.organization, owner)
    key = ApiKey.objects.get()
    return new_session(
        agent=agent, created_by=owner, surface=Surface.API, now=timezone.now(), api_key_id=key.pk, end_user_id=""
    )


def test_i05_a_key_switched_off_between_call_and_write_writes_nothing(
    key_session: Session, model_server: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_server.extraction = [ANSWER]
    answer = services.judge

    def switch_off_meanwhile(*args: Any, **more: Any) -> services.Judged:
        ApiKey.objects.update(memory_enabled=False)
        return answer(*args, **more)

    monkeypatch.setattr(services, "judge", switch_off_meanwhile)
    run = do(waiting(key_session))
    assert (run.state, run.error_code) == ("skipped", "key_switch")
    assert not Fact.objects.exists()


def test_i05_a_key_switched_off_before_the_call_calls_nobody(key_session: Session, model_server: Script) -> None:
    run = waiting(key_session)
    ApiKey.objects.update(memory_enabled=False)
    assert do(run).error_code == "key_switch"
    assert model_server.requests == []


def test_f13_the_kill_switch_turned_between_call_and_write_writes_nothing(
    session: Session, model_server: Script, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    model_server.extraction = [ANSWER]
    answer = services.judge

    def switch_meanwhile(*args: Any, **more: Any) -> services.Judged:
        settings.AGENT_MEMORY_KILL_SWITCH = "1"
        return answer(*args, **more)

    monkeypatch.setattr(services, "judge", switch_meanwhile)
    run = do(waiting(session))
    assert (run.state, run.error_code) == ("skipped", "kill_switch")
    assert not Fact.objects.exists()


# --- poison and backlog -----------------------------------------------------------------------------------------------


def test_a_run_that_always_crashes_is_parked_and_the_doctor_says_so(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_args: object, **_more: object) -> None:
        raise RuntimeError("I live in Porto.")

    monkeypatch.setattr(services, "judge", crash)
    run, now = waiting(session), timezone.now() + timedelta(seconds=1)
    for _ in range(runs.MAX_ATTEMPTS):
        run = do(run, at=now)
        now = max(now, run.due_at) + timedelta(seconds=1)
    assert (run.state, run.error_code, run.attempt) == ("failed", "crashed", runs.MAX_ATTEMPTS)
    assert any("extraction runs failed" in line for name, lines in findings() if name == "backlog" for line in lines)


def test_the_sweep_adds_nothing_to_a_queue_that_is_long(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting(session)
    later = timezone.now() + timedelta(minutes=1)
    monkeypatch.setattr(runs, "waiting_tasks", lambda: 100)
    assert runs.sweep(now=later) == 0
    monkeypatch.setattr(runs, "waiting_tasks", lambda: 99)
    assert runs.sweep(now=later) == 1


# --- the budget -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ['"\n' * 20_000, "\u0001" * 20_000, "a" * 20_000, "😀" * 20_000])
def test_e02_one_message_that_exceeds_the_budget_is_cut_to_what_is_sent(
    text: str, make_message: Callable[[str], WindowMessage]
) -> None:
    window = choose_window([make_message(text)], keys=[("profile", "k" * 1_900)])
    assert window.shown[0].text.endswith(ELLIPSIS)
    sent = cost(window.shown[0].text) + len("profile") + 1_900
    assert MAX_CHARACTERS - 12 <= sent <= MAX_CHARACTERS
    assert len(json.dumps(window.shown[0].text, ensure_ascii=False)) - 2 <= MAX_CHARACTERS


@pytest.fixture
def make_message() -> Callable[[str], WindowMessage]:
    import uuid

    return lambda text: WindowMessage(uuid.uuid4(), "member", timezone.now(), text, skip=False)
