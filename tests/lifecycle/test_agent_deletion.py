"""R03 through its door: the page on which a manager deletes an agent."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from agents.models import Agent
from agents.permissions import grant as grant_permission
from audit.models import AuditEvent
from consent.models import Consent
from consent.scope import Scope
from facts.models import Fact
from tests.factories import make_fact

pytestmark = pytest.mark.django_db
URL = "/agents/acme/guide/delete/"
type ClientFor = Callable[..., Client]


@pytest.fixture(autouse=True)
def ledger_file(settings: Any, tmp_path: Path) -> None:
    settings.ERASURE_LEDGER = tmp_path / "erasures.jsonl"


@pytest.fixture
def manager(owner: User, agent: Agent, consented: Scope) -> User:
    """The owner of a fact, who may also manage the agent."""
    grant_permission(agent=agent, user=owner, permission="agent:manage", actor=None)
    make_fact(consented)
    return owner


def test_r03_a_manager_deletes_an_agent_with_its_memory(manager: User, client_for: ClientFor) -> None:
    client = client_for(manager)
    answer = client.post(URL, {"typed": " Acme/Guide "})
    assert (answer.status_code, answer["Location"]) == (303, "/agents/")
    assert "is deleted" in client.get("/agents/").content.decode()
    assert not Fact.objects.exists()
    assert not Consent.objects.exists()
    event = AuditEvent.objects.get(action="agent.delete")
    assert (event.actor_id, event.surface) == (manager.pk, "agentSettings")
    assert client.get(URL).status_code == 404
    assert client.get("/agents/acme/guide/memory/").status_code == 404


@pytest.mark.parametrize("typed", ["", "guide", "acme/other"])
def test_r03_without_the_typed_name_nothing_is_deleted(manager: User, client_for: ClientFor, typed: str) -> None:
    answer = client_for(manager).post(URL, {"typed": typed})
    assert answer.status_code == 400
    assert "Nothing was deleted" in answer.content.decode()
    assert Fact.objects.exists()
    assert Agent.objects.get().deleted_at is None


def test_r03_the_page_says_what_goes_and_what_stays_and_looking_deletes_nothing(
    manager: User, client_for: ClientFor
) -> None:
    text = client_for(manager).get(URL).content.decode()
    assert "facts with this agent" in text
    assert "Conversations are not deleted" in text
    assert "Porto" not in text
    assert Agent.objects.get().deleted_at is None


def test_r03_only_managers_see_the_page(
    manager: User, colleague: User, stranger: User, client_for: ClientFor, client: Client
) -> None:
    for method in ("get", "post"):
        assert getattr(client_for(colleague), method)(URL).status_code == 403
        assert getattr(client_for(stranger), method)(URL).status_code == 404
        assert getattr(client, method)(URL)["Location"].startswith("/login/")
    assert client_for(manager).delete(URL).status_code == 405
    assert Client(enforce_csrf_checks=True).post(URL).status_code == 403
    assert Fact.objects.exists()


def test_r03_a_ledger_that_cannot_be_written_keeps_the_agent(
    manager: User, client_for: ClientFor, settings: Any, tmp_path: Path
) -> None:
    settings.ERASURE_LEDGER = tmp_path
    assert client_for(manager).post(URL, {"typed": "acme/guide"}).status_code == 503
    assert Agent.objects.get().deleted_at is None


def test_r03_the_list_of_agents_leads_managers_there_by_way_of_its_settings(
    manager: User, colleague: User, client_for: ClientFor
) -> None:
    settings = "/agents/acme/guide/settings/"
    assert settings in client_for(manager).get("/agents/").content.decode()
    assert URL in client_for(manager).get(settings).content.decode()
    assert settings not in client_for(colleague).get("/agents/").content.decode()
