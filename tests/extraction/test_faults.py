"""E07 in real worker processes: killed at five points, delivered twice, raced at the cap, withdrawn from, cut off."""

import json
import signal
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.timezone import now

from accounts.models import Organization, User
from agents.models import Agent, ProviderState
from consent.services import grant_consent, withdraw_consent
from conversations.models import Message, Turn
from extraction.models import Run
from facts.models import Fact
from facts.services import MAX_LIVE
from jobs.queue import enqueue
from tests import factories
from tests.extraction.conftest import ANSWER, Member, World
from tests.scratch import drop_visitors, eventually
from tests.stub_server import facts
from tests.worker_app import POINTS

pytestmark = pytest.mark.processes


@pytest.mark.parametrize("point", POINTS)
def test_e07_a_worker_killed_at_any_point_leaves_each_fact_once(world: World, member: Member, point: str) -> None:
    if point == "during_call":
        world.answer({"text": ANSWER, "delay": 0.5}, ANSWER)
    world.fuse.write_text(point)
    run = member.say()
    assert world.ended(run)
    assert not world.fuse.exists(), "nobody was killed"
    run.refresh_from_db()
    # After the commit the run is done; before it a later attempt does it all.
    assert run.state == "done"
    assert run.attempt == 1 if point == "after_commit" else run.attempt >= 2
    assert len(member.facts()) == 2
    assert not Message.objects.filter(session=member.session, passed_at__isnull=True).exists()


def test_e07_a_task_that_is_delivered_many_times_writes_once(world: World, member: Member) -> None:
    before = world.calls()
    world.answer({"text": ANSWER, "delay": 0.3})
    run = member.say()
    for _ in range(8):
        enqueue("extraction.tasks.extract", run.pk)
    assert world.ended(run)
    assert (len(member.facts()), world.calls() - before) == (2, 1)


def test_f07_two_runs_of_one_scope_at_199_facts_stop_at_the_cap(world: World, member: Member) -> None:
    factories.fill(member.scope, MAX_LIVE - 1)
    other = Member(member.user, member.scope, factories.make_session(member.session.agent, member.user))
    world.answer({"text": ANSWER, "delay": 0.2}, facts({"key": "job", "content": "Works as a baker."}))
    said = "I live in Porto. I have a cat. I work as a baker."  # whichever run gets which answer
    first, second = member.say(said), other.say(said)
    assert world.ended(first, second)
    assert len(member.facts()) == MAX_LIVE
    refused = [Run.objects.get(pk=run.pk).refusals.get("cap", 0) for run in (first, second)]
    assert sum(refused) == 2


def while_the_model_thinks(world: World, member: Member, do: Any) -> Run:
    """Start a run, act between its call and its write, and return it ended."""
    before = world.calls()
    world.answer({"text": ANSWER, "delay": 0.8})
    run = member.say()
    assert world.called(before)
    do()
    assert world.ended(run)
    run.refresh_from_db()
    return run


def withdraw(member: Member) -> None:
    withdraw_consent(scope=member.scope, actor=member.user, now=timezone.now(), surface="memoryTab")


def withdraw_and_grant(member: Member) -> None:
    withdraw(member)
    grant_consent(scope=member.scope, actor=member.user, now=timezone.now(), surface="memoryTab")


def delete_agent(member: Member) -> None:
    Agent.objects.filter(pk=member.scope.agent_id).update(deleted_at=timezone.now())


def delete_user(member: Member) -> None:
    User.objects.filter(pk=member.user.pk).update(deleted_at=timezone.now())


def delete_organization(member: Member) -> None:
    Organization.objects.filter(pk=member.scope.organization_id).update(deleted_at=timezone.now())


@pytest.mark.parametrize(
    ("act", "code"),
    [
        (withdraw, "withdrawn"),
        (withdraw_and_grant, "consent_changed"),
        (delete_agent, "agent"),
        (delete_user, "user"),
        (delete_organization, "agent"),
    ],
)
def test_f01_what_happens_between_call_and_write_lets_no_fact_appear(
    world: World, member: Member, act: Any, code: str
) -> None:
    run = while_the_model_thinks(world, member, lambda: act(member))
    assert (run.state, run.error_code) == ("skipped", code)
    assert not Fact.objects.for_scope(member.scope).exists()
    assert Message.objects.filter(session=member.session, passed_at__isnull=True).count() == 2


@pytest.mark.parametrize(
    ("answers", "ended"),
    [
        ([500, 500, ANSWER], ("done", "", 3)),
        ([{"status": 429, "headers": {"Retry-After": "1"}}, ANSWER], ("done", "", 2)),
        ([401], ("failed", "unauthorized", 1)),
        ([{"body": "{"}, ANSWER], ("done", "", 2)),
        ([{"body": "x" * 10_000_000}], ("failed", "too_big", 1)),
        ([{"text": ANSWER, "delay": 1.5}, ANSWER], ("done", "", 2)),
        ([{"text": ANSWER, "trickle": 0.02}, ANSWER], ("done", "", 2)),
        ([{"drop": True}, ANSWER], ("done", "", 2)),
    ],
    ids=["5xx", "429", "401", "garbage", "10-MB", "hangs", "trickles", "refuses"],
)
def test_e07_a_provider_in_trouble_is_asked_again_a_bounded_number_of_times(
    world: World, member: Member, answers: list[Any], ended: tuple[str, str, int]
) -> None:
    provider = member.session.agent.provider
    type(provider).objects.filter(pk=provider.pk).update(timeout_seconds=1)
    ProviderState.objects.filter(provider=provider).delete()
    world.answer(*answers)
    run = member.say()
    assert world.ended(run)
    run.refresh_from_db()
    assert (run.state, run.error_code if run.state == "failed" else "", run.attempt) == ended
    assert len(member.facts()) == (2 if run.state == "done" else 0)
    passed = Message.objects.filter(session=member.session, passed_at__isnull=False).count()
    assert passed == (2 if run.state == "done" else 0)  # not lost to later runs
    type(provider).objects.filter(pk=provider.pk).update(timeout_seconds=60)


def test_e01_a_lost_task_is_found_by_the_sweep(world: World, member: Member) -> None:
    turn, _message = factories.make_turn(member.session, "I live in Porto. I have a cat.")
    run = Run.objects.create(
        organization_id=member.scope.organization_id,
        user_id=member.scope.user_id,
        agent_id=member.scope.agent_id,
        session=member.session,
        turn=turn,
        due_at=timezone.now() - timedelta(minutes=1),
    )
    assert world.ended(run)
    assert len(member.facts()) == 2


def test_a_database_that_cuts_all_connections_mid_run_loses_nothing(world: World, member: Member) -> None:
    run = while_the_model_thinks(world, member, lambda: drop_visitors(world.database))
    assert run.state == "done"
    assert len(member.facts()) == 2


def test_chat_answers_while_200_runs_wait(world: World) -> None:
    world.answer({"text": '{"facts": []}', "delay": 0.5})
    first = world.member()
    agent = first.session.agent
    made = [Member(first.user, first.scope, factories.make_session(agent, first.user)).say() for _ in range(5)]
    made += [world.member(agent).say() for _ in range(5)]
    turns = Turn.objects.bulk_create(
        Turn(
            organization=agent.organization,
            session=first.session,
            speaker=first.user,
            status=Turn.Status.COMPLETED,
        )
        for _ in range(190)
    )
    of_scope = {"organization": agent.organization, "session": first.session, "user": first.user, "agent": agent}
    Run.objects.bulk_create(Run(**of_scope, turn=turn, due_at=now()) for turn in turns)
    key = factories.make_key(agent.organization, first.user)
    body = {"model": f"{agent.organization.slug}/guide", "messages": [{"role": "user", "content": "Hello"}]}
    for _ in range(8):
        answer = Client().post(
            "/v1/chat/completions",
            data=json.dumps(body),
            content_type="application/json",
            headers={"Authorization": f"Bearer {key}"},
        )
        assert answer.status_code == 200
    assert Run.objects.filter(agent=agent, state__in=["waiting", "running"]).count() > 150
    Run.objects.filter(agent=agent, state="waiting").update(state="failed")  # the next test shares the worker


def test_a_thousand_turns_of_one_scope_have_one_running_job(world: World, member: Member) -> None:
    world.answer({"text": '{"facts": []}', "delay": 0.05})
    of_scope = {"organization_id": member.scope.organization_id, "session": member.session}
    turns = Turn.objects.bulk_create(
        Turn(**of_scope, speaker=member.user, status=Turn.Status.COMPLETED) for _ in range(1000)
    )
    Message.objects.bulk_create(
        Message(**of_scope, turn=turn, position=number, role="user", speaker=member.user, content="Hi.", at=now())
        for number, turn in enumerate(turns)
    )
    lost = now() - timedelta(minutes=1)
    Run.objects.bulk_create(
        Run(**of_scope, user=member.user, agent_id=member.scope.agent_id, turn=turn, due_at=lost) for turn in turns
    )
    mine = Run.objects.filter(user=member.user)
    running: list[int] = []

    def look() -> bool:
        running.append(mine.filter(state="running").count())
        return mine.filter(state="done").count() >= 20

    assert eventually(look, every=0.02)
    assert max(running) == 1
    member.session.delete()


def test_sigterm_lets_the_run_under_way_finish_and_leaves_the_others_for_the_next_start(
    world: World, member: Member
) -> None:
    # The last test of this module: nobody works afterwards.
    before = world.calls()
    world.answer({"text": ANSWER, "delay": 1.5})
    made = [member.say(), *(world.member(member.session.agent).say() for _ in range(8))]
    assert world.called(before)
    assert world.worker is not None
    world.worker.send_signal(signal.SIGTERM)
    assert world.worker.wait(40) == 0
    states = list(Run.objects.filter(pk__in=[run.pk for run in made]).values_list("state", flat=True))
    assert set(states) == {"done", "waiting"}, states
    assert len(member.facts()) == 2
