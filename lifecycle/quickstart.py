"""The parts of `manage.py quickstart`: what it sets up, what it replays, what it checks and what it prints."""

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone

from accounts.models import ApiKey, Membership, User
from accounts.services import create_api_key
from agents.models import Agent
from consent.scope import Scope
from consent.services import grant_consent
from conversations.models import Session, Turn
from conversations.surfaces import Surface
from facts.models import Fact
from facts.prompt import read_block
from lifecycle.replay import Report, replay, report, wait
from lifecycle.setup_file import Applied, apply_setup, read_setup
from lifecycle.transcripts import exchanges, read_transcript

DEMO: Final = Path(__file__).resolve().parent / "demo"
DEMO_USER: Final = "ana@acme.example"
QUESTION: Final = "Where do I live, and what can't I eat?"

KEY_NAME: Final = "quickstart"
SETTING_UP: Final = 0x6D656D6F7279  # the advisory lock of those who set a database up

type Step = Callable[[int, int], object]


@dataclass(frozen=True, slots=True)
class Demo:
    """The demo member, her agent and her scope."""

    user: User
    agent: Agent

    @property
    def scope(self) -> Scope:
        return Scope(self.agent.organization_id, self.user.pk, self.agent.pk)


@contextmanager
def alone() -> Iterator[None]:
    """Let one process at a time set this database up: two first starts would both make the tables."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [SETTING_UP])
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [SETTING_UP])


def database_answers() -> bool:
    """Whether the connection of this process works; after a no it is made anew by the next question."""
    try:
        connection.ensure_connection()
        if connection.is_usable():
            return True
    except (OperationalError, InterfaceError):
        pass
    connection.close()
    return False


def apply_demo() -> tuple[Applied, Demo]:
    applied = apply_setup(read_setup(DEMO / "setup.toml"))
    return applied, Demo(applied.users[DEMO_USER], applied.agents[0])


def replay_demo(demo: Demo, *, turns: Callable[[], object], runs: Step) -> Report:
    """Grant consent and replay the demo conversation once; on a later start report what it made then."""
    earlier = list(
        Session.objects.filter(agent=demo.agent, created_by=demo.user, surface=Surface.STUDIO).values_list(
            "pk", flat=True
        )
    )
    if earlier:
        wait(earlier)
        return report(earlier)
    grant_consent(scope=demo.scope, actor=demo.user, now=timezone.now(), surface="quickstart")
    sessions = read_transcript(DEMO / "conversation.jsonl")
    done = replay(sessions, agent=demo.agent, user=demo.user, surface=Surface.STUDIO, step=turns)
    total = report(done.session_ids).runs
    wait(done.session_ids, step=lambda ended: runs(ended, sum(total.values())))
    return report(done.session_ids)


def demo_turns() -> int:
    return sum(len(exchanges(messages)) for messages in read_transcript(DEMO / "conversation.jsonl"))


def facts_by_status(scope: Scope) -> dict[str, int]:
    counts: dict[str, int] = {}
    for status in Fact.objects.for_scope(scope).values_list("status", flat=True):
        counts[status] = counts.get(status, 0) + 1
    return counts


def next_block(scope: Scope) -> str:
    """Return the block that the next turn would receive."""
    return read_block(scope, surface=Surface.API, now=timezone.now()).block.text


def first_key(applied: Applied) -> tuple[str, str | None] | None:
    """Return (prefix, secret) of quickstart's own key; the secret only when it was made just now."""
    for user in applied.users.values():
        membership = Membership.objects.filter(user=user).select_related("organization").first()
        if membership is None:
            continue
        mine = ApiKey.objects.usable(timezone.now()).filter(organization=membership.organization, user=user)
        key = mine.filter(name=KEY_NAME).order_by("-created_at").first()
        if key is not None:
            return key.prefix, None
        made = create_api_key(organization=membership.organization, user=user, name=KEY_NAME)
        return made.row.prefix, made.secret
    return None


@dataclass(frozen=True, slots=True)
class Asked:
    """One turn through the API: the reply, and whether the memory block was in its prompt."""

    reply: str
    memory: str
    facts_used: int
    block_was_used: bool

    @property
    def without_memory(self) -> bool:
        return self.facts_used == 0 and self.memory != "used"


def ask_once(demo: Demo, url: str) -> Asked:
    """Ask one turn through `/v1/chat/completions` with a key made for it, and look at what its prompt held.

    The turn's stored fact ids must be those of the block that the scope has now, and there must be some.
    """
    made = create_api_key(organization=demo.agent.organization, user=demo.user, name="quickstart --once")
    try:
        expected = read_block(demo.scope, surface=Surface.API, now=timezone.now()).block
        body, headers = _post(f"{url}/v1/chat/completions", made.secret, demo.agent.public_name)
        turn = Turn.objects.get(session=UUID(headers["X-Session-Id"]))
        used = set(turn.fact_ids) == set(expected.fact_ids) and bool(expected.fact_ids)
        return Asked(
            reply=str(body["choices"][0]["message"]["content"]),
            memory=headers.get("X-Memory", ""),
            facts_used=len(turn.fact_ids),
            block_was_used=used and headers.get("X-Memory") == "used",
        )
    finally:
        from accounts.services import revoke_api_key

        revoke_api_key(key=made.row, now=timezone.now(), actor=demo.user)


def _post(url: str, secret: str, model: str) -> tuple[dict[str, Any], dict[str, str]]:
    data = json.dumps({"model": model, "messages": [{"role": "user", "content": QUESTION}]}).encode()
    request = urllib.request.Request(  # noqa: S310 (loopback)
        url, data=data, headers={"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
        return json.load(answer), {name.title(): value for name, value in answer.headers.items()}
