"""C03: Studio is the chat of who builds the agent: same component, sessions of its own, memory as its surface says."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Organization, User
from agents.models import Agent
from audit.models import AuditEvent
from consent.scope import Scope
from conversations.models import Message, Session, Turn
from extraction.models import Run
from tests import factories

pytestmark = pytest.mark.django_db
type ClientFor = Callable[..., Client]


def url(name: str = "studio", session: Session | None = None) -> str:
    return reverse(name, args=["acme", "guide", *([session.pk] if session else [])])


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


@pytest.fixture
def manager(organization: Organization, agent: Agent) -> User:
    permissions = ("agent:read", "agent:update", "agent:manage")
    return factories.make_member(organization, agent, "max@acme.example", name="Max", permissions=permissions)


@pytest.fixture
def client(manager: User, client_for: ClientFor) -> Client:
    return client_for(manager)


def test_c03_studio_has_its_own_sessions_and_reads_and_writes_memory(
    client: Client, manager: User, agent: Agent
) -> None:
    factories.make_fact(factories.grant(Scope(agent.organization_id, manager.pk, agent.pk), manager))
    factories.make_turn(factories.make_session(agent, manager), "In the chat")
    page = text(client.get(url()))
    assert "In the chat" not in page
    assert "Studio" in page
    response = client.post(url("studio-send-first"), {"message": "In Studio"})
    session = Session.objects.get(surface="studio")
    reply = Message.objects.get(turn__session=session, role="assistant")
    assert response["Location"] == f"{url('studio-session', session)}#message-{reply.pk}"
    turn = Turn.objects.get(session=session)
    assert (turn.memory_state, len(turn.fact_ids)) == ("used", 1)
    assert Run.objects.filter(turn=turn).exists()
    page = text(client.get(url("studio-session", session)))
    assert "The agent knew 1 fact about you" in page
    assert url("studio-send", session) in page
    assert "In Studio" not in text(client.get(url("chat")))


def test_c03_a_studio_session_is_shown_in_studio_and_written_there_alone(
    client: Client, manager: User, agent: Agent
) -> None:
    client.post(url("studio-send-first"), {"message": "In Studio"})
    session = Session.objects.get()
    response = client.get(url("chat-session", session))
    assert (response.status_code, response["Location"]) == (302, url("studio-session", session))
    assert client.post(url("chat-send", session), {"message": "Hi"}).status_code == 403
    chat = factories.make_session(agent, manager)
    assert client.get(url("studio-session", chat)).status_code == 404
    assert client.post(url("studio-send", chat), {"message": "Hi"}).status_code == 404


def test_c03_who_no_longer_manages_reads_her_studio_sessions_in_the_chat(
    client: Client, manager: User, agent: Agent
) -> None:
    from agents.permissions import revoke

    client.post(url("studio-send-first"), {"message": "In Studio"})
    session = Session.objects.get()
    revoke(agent=agent, user=manager, permission="agent:manage", actor=None)
    assert client.get(url()).status_code == 403
    assert client.get(url("studio-session", session)).status_code == 403
    page = text(client.get(url("chat-session", session)))
    assert "In Studio" in page
    assert 'id="composer"' not in page


def test_i03_who_manages_but_may_not_chat_is_kept_out_of_studio_and_sets_tools_elsewhere(
    client_for: ClientFor, organization: Organization, agent: Agent
) -> None:
    only = factories.make_member(organization, agent, "kim@acme.example", permissions=("agent:manage",))
    client, settings = client_for(only), reverse("agent-settings", args=["acme", "guide"])
    assert client.get(url()).status_code == 403
    for accept in ("text/html", "text/event-stream"):
        answer = client.post(url("studio-send-first"), {"message": "Hello"}, headers={"Accept": accept})
        assert answer.status_code == 403
    assert not Session.objects.exists()
    page = text(client.get(settings))
    assert f'"{url()}"' not in page
    assert url("studio-tools") in page
    answer = client.post(url("studio-tools"), {"enabled": "no", "back": "settings"})
    assert (answer.status_code, answer["Location"]) == (303, settings)
    agent.refresh_from_db()
    assert not agent.tools_enabled


def test_members_without_manage_are_kept_out_and_see_no_tab(client_for: ClientFor, owner: User) -> None:
    theirs = client_for(owner)
    assert theirs.get(url()).status_code == 403
    assert theirs.post(url("studio-send-first"), {"message": "Hi"}).status_code == 403
    assert theirs.post(url("studio-tools"), {"enabled": "no"}).status_code == 403
    assert url() not in text(theirs.get(url("chat")))


def test_c08_tools_are_turned_off_and_on_in_studio(client: Client, agent: Agent) -> None:
    assert "The agent may use tools." in text(client.get(url()))
    page = text(client.post(url("studio-tools"), {"enabled": "no"}, follow=True))
    assert "The agent uses no tools." in page
    agent.refresh_from_db()
    assert agent.tools_enabled is False
    client.post(url("studio-tools"), {"enabled": "yes"})
    assert client.post(url("studio-tools"), {"enabled": "perhaps"}).status_code == 400
    assert AuditEvent.objects.filter(action="agent.update").count() == 2
