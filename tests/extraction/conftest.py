"""Real worker processes on a copy of the migrated database, a scripted model, and members who chat."""

import subprocess
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from accounts.models import User
from agents.models import Agent
from consent.scope import Scope
from conversations.models import Session
from extraction import runs
from extraction.models import Run
from facts.models import Fact
from jobs.models import Heartbeat
from tests import factories
from tests.scratch import eventually, process, scratch_database
from tests.stub_server import Script, facts, serving

ANSWER = facts({"key": "home.city", "content": "Lives in Porto."}, {"key": "pet.cat", "content": "Has a cat."})
SAID = "I live in Porto. I have a cat."


@dataclass
class Member:
    """A member who has granted consent, and her session."""

    user: User
    scope: Scope
    session: Session

    def say(self, said: str = SAID) -> Run:
        """Finish a turn as chat does: the run and its task come with it in one transaction."""
        with transaction.atomic():
            turn, _message = factories.make_turn(self.session, said)
            run = runs.schedule(turn, now=timezone.now())
        assert run is not None
        return run

    def facts(self) -> list[Fact]:
        return list(Fact.objects.for_scope(self.scope).live())


@dataclass
class World:
    """A running worker, its database and its model."""

    database: str
    model: Script
    fuse: Path
    log: Path
    worker: "subprocess.Popen[bytes] | None" = None

    def member(self, agent: Agent | None = None) -> Member:
        """A new organization with an agent and a member, unless an agent is given."""
        name = uuid.uuid4().hex[:8]
        if agent is None:
            agent = factories.make_agent(factories.make_organization(name), "guide", base_url=self.model.url)
        user = factories.make_member(agent.organization, agent, f"{name}@example.org")
        scope = factories.grant(Scope(agent.organization_id, user.pk, agent.pk), user)
        return Member(user, scope, factories.make_session(agent, user))

    def ended(self, *made: Run, seconds: float = 20.0) -> bool:
        keys = [run.pk for run in made]
        open_runs = Run.objects.filter(pk__in=keys, state__in=[Run.State.WAITING, Run.State.RUNNING])
        return eventually(lambda: not open_runs.exists(), seconds=seconds)

    def calls(self) -> int:
        return len(self.model.extractions())

    def called(self, before: int) -> bool:
        """Wait until the model has been asked once more than before."""
        return eventually(lambda: self.calls() > before)

    def answer(self, *answers: Any) -> None:
        self.model.extraction = list(answers)


@pytest.fixture(scope="module")
def world(migrated: str, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """`manage.py worker` with two workers, a lease of 2 s and short waits."""
    folder = tmp_path_factory.mktemp("worker")
    hooks = {"TEST_FUSE": str(folder / "fuse"), "TEST_PRELOAD": "openai"}
    with (
        django_db_blocker.unblock(),
        scratch_database(migrated) as database,
        serving(Script()) as model,
        process(
            "manage.py",
            "worker",
            database=database,
            log=folder / "log",
            **hooks,
        ) as worker,
    ):
        assert eventually(Heartbeat.objects.exists, seconds=120), (folder / "log").read_text()
        yield World(database, model, folder / "fuse", folder / "log", worker)


@pytest.fixture
def member(world: World) -> Member:
    world.answer(ANSWER)
    world.fuse.unlink(missing_ok=True)
    return world.member()
