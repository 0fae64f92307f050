"""E06 through HTTP: the managers' page shows counts and never a text; the line beside a turn is its member's alone."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import User
from agents.models import Agent, ProviderState
from agents.permissions import grant
from consent.scope import Scope
from conversations.models import Turn
from extraction import runs
from extraction.models import Run
from extraction.views import DELAYS
from tests import factories

pytestmark = pytest.mark.django_db
type ClientFor = Callable[..., Client]
PAGE = "/agents/acme/guide/extraction/"


@pytest.fixture
def turn(agent: Agent, owner: User, consented: Scope) -> Turn:
    return factories.make_turn(factories.make_session(agent, owner), "I keep zanzibrillos.")[0]


@pytest.fixture
def run(turn: Turn) -> Run:
    made = runs.schedule(turn, now=timezone.now())
    assert made is not None
    return made


@pytest.fixture
def manager(colleague: User, agent: Agent) -> User:
    grant(agent=agent, user=colleague, permission="agent:manage", actor=None)
    return colleague


def finish(run: Run, state: str = "done", **more: Any) -> None:
    Run.objects.filter(pk=run.pk).update(state=state, finished_at=timezone.now(), **more)


def text(response: Any) -> str:
    """Return the page without the spaces that only its layout needs."""
    return re.sub(r"\s*([<>])\s*", r"\1", " ".join(response.content.decode().split()))


def line_url(turn: Turn) -> str:
    return reverse("extraction-turn", args=["acme", "guide", turn.pk])


# --- the managers' page -----------------------------------------------------------------------------------------------


def test_e06_a_manager_sees_counts_by_outcome_and_reason_and_by_day(
    run: Run, manager: User, client_for: ClientFor
) -> None:
    finish(run, outcomes={"active": 3}, refusals={"pii": 7}, duration_ms=1234, prompt_tokens=500, completion_tokens=40)
    page = text(client_for(manager).get(PAGE))
    for part in ("Facts saved as active", "<dd>3</dd>", "Set aside: pii", "<dd>7</dd>", "1234 ms", "500, 40", "<svg"):
        assert part in page
    assert re.search(r'aria-labelledby="plot-title plot-desc"', page)
    assert "1 runs ended in 30 days" in page
    assert "<td>540</td>" in page


def test_e06_failed_and_waiting_runs_are_listed_by_code_without_names_or_texts(
    run: Run, manager: User, owner: User, client_for: ClientFor
) -> None:
    finish(run, "failed", error_code="crashed", attempt=4)
    page = text(client_for(manager).get(PAGE))
    assert "<code>crashed</code>" in page
    for word in ("zanzibrillo", owner.email, owner.name, str(run.turn_id)):
        assert word not in page.replace(manager.email, "")


def test_the_page_says_how_the_provider_stands(run: Run, agent: Agent, manager: User, client_for: ClientFor) -> None:
    client = client_for(manager)
    assert "It answers." in text(client.get(PAGE))
    state = ProviderState.objects.create(provider=agent.provider, failures=6, last_code="timeout")
    assert "the last 6 calls failed" in text(client.get(PAGE))
    ProviderState.objects.update(open_until=timezone.now() + timedelta(minutes=1))
    assert "is not called before" in text(client.get(PAGE))
    ProviderState.objects.filter(pk=state.pk).update(open_until=timezone.now() - timedelta(minutes=1))
    assert "the next call is a trial" in text(client.get(PAGE))


def test_an_agent_without_runs_has_an_empty_page(manager: User, client_for: ClientFor) -> None:
    assert "No run has ended" in text(client_for(manager).get(PAGE))


def test_who_may_not_see_gets_404_and_who_may_not_manage_403(
    owner: User, stranger: User, manager: User, client_for: ClientFor
) -> None:
    assert Client().get(PAGE).status_code == 302
    assert client_for(stranger).get(PAGE).status_code == 404
    assert client_for(owner).get(PAGE).status_code == 403
    assert client_for(manager).get(PAGE).status_code == 200
    assert client_for(manager).post(PAGE).status_code == 405
    assert "no-store" in client_for(manager).get(PAGE)["Cache-Control"]


def test_the_tab_is_shown_to_managers_only(owner: User, manager: User, client_for: ClientFor) -> None:
    assert PAGE in text(client_for(manager).get("/agents/acme/guide/chat/"))
    assert PAGE not in text(client_for(owner).get("/agents/acme/guide/chat/"))


# --- the line beside a turn -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "counts", "sentence"),
    [
        ("done", {"outcomes": {"active": 2, "conflict": 1}, "refusals": {"pii": 1}}, "3 learned, 1 set aside"),
        ("done", {}, "Nothing new to remember."),
        ("skipped", {}, "memory was turned off meanwhile"),
        ("failed", {}, "the model failed"),
    ],
)
def test_e06_the_member_sees_what_came_of_her_turn(
    run: Run, turn: Turn, owner: User, client_for: ClientFor, state: str, counts: Any, sentence: str
) -> None:
    finish(run, state, **counts)
    client = client_for(owner)
    for page in (
        client.get(reverse("chat-session", args=["acme", "guide", turn.session_id])),
        client.get(line_url(turn)),
    ):
        assert sentence in text(page)
        assert "hx-get" not in text(page).partition('class="learned"')[2].partition("</p>")[0]


def test_while_the_run_is_open_the_line_asks_again_less_and_less_and_then_no_more(
    run: Run, turn: Turn, owner: User, client_for: ClientFor
) -> None:
    client = client_for(owner)
    page = text(client.get(reverse("chat-session", args=["acme", "guide", turn.session_id])))
    assert "Still looking" in page
    url, delays = f"{line_url(turn)}?looked=1", [2]
    while found := re.search(r'hx-get="([^"]+)" hx-trigger="load delay:(\d+)s"', text(answer := client.get(url))):
        url = found[1]
        delays.append(int(found[2]))
        assert answer["HX-Retarget"] == f"#learned-{turn.pk}"
    assert delays == sorted(delays)
    assert len(delays) == len(DELAYS)
    finish(run)
    assert "Nothing new" in text(client.get(url))


def test_nobody_but_the_session_s_creator_gets_the_line(
    run: Run, turn: Turn, owner: User, manager: User, stranger: User, client_for: ClientFor
) -> None:
    for user in (manager, stranger):
        assert client_for(user).get(line_url(turn)).status_code == 404
    assert Client().get(line_url(turn)).status_code == 302
    assert client_for(owner).get(line_url(turn)).status_code == 200
    assert client_for(owner).post(line_url(turn)).status_code == 405
    assert client_for(owner).get(f"{line_url(turn)}?looked=junk").status_code == 200


def test_a_turn_without_a_run_has_no_line(turn: Turn, owner: User, client_for: ClientFor) -> None:
    assert client_for(owner).get(line_url(turn)).status_code == 404
    page = client_for(owner).get(reverse("chat-session", args=["acme", "guide", turn.session_id]))
    assert 'class="learned"' not in text(page)
