"""The prompt view: exactly what the next turn receives, what is left out and why, and why memory may not act."""

from collections.abc import Callable
from datetime import timedelta
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client, override_settings
from django.utils import timezone

from accounts.models import Organization, User
from agents.permissions import grant as grant_permission
from consent.scope import Scope
from consent.services import withdraw_consent
from encryption.services import forget_keys
from facts.models import Fact
from facts.prompt import MAX_CHARACTERS, read_block
from facts.tab import scope_of
from tests import factories
from tests.facts.page import text, url
from tests.stub_server import Script

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(owner: User, client_for: Callable[..., Client]) -> Client:
    return client_for(owner)


class Block(HTMLParser):
    """Reads the text of the block as a browser does."""

    def __init__(self) -> None:
        super().__init__()
        self.inside = False
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = self.inside or dict(attrs).get("id") == "block"

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "pre"

    def handle_data(self, data: str) -> None:
        self.text += data if self.inside else ""


def shown(response: Any) -> str:
    parser = Block()
    parser.feed(response.content.decode())
    return parser.text


def test_the_block_is_byte_for_byte_what_a_turn_sends_to_the_model(
    client: Client, organization: Organization, owner: User, model_server: Script
) -> None:
    agent = factories.make_agent(organization, "talker", base_url=model_server.url, system_prompt="Be brief.")
    for permission in ("agent:read", "agent:update"):
        grant_permission(agent=agent, user=owner, permission=permission, actor=None)
    scope = factories.grant(scope_of(owner, agent), owner)
    factories.make_fact(scope, body="Lives in  Porto.\n- forged: <b>line</b> & 'quoted' \u202e \U0001f642", key="a.b")
    factories.make_fact(scope, body="Likes tea.", key="drink", confidence=0.5)
    view = url("prompt").replace("/guide/", "/talker/")
    block = shown(client.get(view))
    client.post(view.replace("memory/prompt", "chat/send"), {"message": "Hello"})
    (sent,) = model_server.chats()
    assert sent["messages"][0]["content"] == f"Be brief.\n\n{block}"
    assert f"{len(block)} of 8000 characters" in text(client.get(view))


def test_what_is_left_out_is_named_with_the_reason(client: Client, consented: Scope) -> None:
    made = timezone.now() - timedelta(days=9)
    factories.make_fact(consented, body="Lives in Porto.")
    factories.make_fact(consented, key="set.aside", body="Vegan.", status="conflict")
    factories.make_fact(consented, key="not.sure", body="Swims.", status="pending")
    factories.make_fact(consented, key="long.ago", created_at=made, expires_at=made + timedelta(days=1))
    for number in range(3):
        factories.make_fact(consented, key=f"long.{number}", body=f"{number}" * 3900, confidence=0.1)
    bad = factories.make_fact(consented, key="bad", body="Bad.")
    Fact.objects.filter(pk=bad.pk).update(sealed=b"F1" + b"\0" * 80)
    response = client.get(url("prompt"))
    page = text(response)
    block = read_block(consented, surface="api", now=timezone.now()).block
    assert shown(response) == block.text
    assert len(block.text) <= MAX_CHARACTERS
    assert "5 facts are left out" in page
    for key, why in (
        ("set.aside", "Conflict: it disagrees"),
        ("not.sure", "Pending: it disagrees"),
        ("long.ago", "Expired."),
        ("Unreadable fact", "It cannot be decrypted now."),
        ("long.0", "It does not fit into the block"),
    ):
        assert why in page[page.index(key) :][:200]
    assert "Vegan." not in page


def test_with_nothing_to_use_it_says_so(client: Client, consented: Scope) -> None:
    assert "there is no fact that could be used" in text(client.get(url("prompt")))
    factories.make_fact(consented, status="conflict")
    page = text(client.get(url("prompt")))
    assert "there is no fact that could be used" in page
    assert "1 fact is left out" in page


def test_it_says_why_memory_would_not_act(client: Client, scope: Scope, owner: User) -> None:
    assert "You have not turned memory on for this agent." in text(client.get(url("prompt")))
    factories.make_fact(factories.grant(scope, owner), body="Lives in Porto.")
    with override_settings(AGENT_MEMORY_KILL_SWITCH="on"):
        page = text(client.get(url("prompt")))
        assert "turned off for this whole deployment" in page
        assert "1 fact is stored" in page
        assert "Porto" not in page
    forget_keys()
    with override_settings(KEYRING_JSON="", KEYRING_FILE=None):
        assert "A turn would go on without memory" in text(client.get(url("prompt")))
    withdraw_consent(scope=scope, actor=owner, now=timezone.now(), surface="memoryTab")
    assert "Memory is turned off for this agent." in text(client.get(url("prompt")))


def test_f02_nobody_else_sees_the_block(client_for: Callable[..., Client], colleague: User, consented: Scope) -> None:
    factories.make_fact(consented, body="Lives in Porto.")
    factories.grant(Scope(consented.organization_id, colleague.pk, consented.agent_id), colleague)
    assert "Porto" not in text(client_for(colleague).get(url("prompt")))


def test_two_hundred_facts_cost_no_more_queries_than_one(
    client: Client, consented: Scope, django_assert_max_num_queries: Any
) -> None:
    factories.fill(consented, 200)
    forget_keys()
    with django_assert_max_num_queries(10):
        assert "Filler number 1." in text(client.get(url("prompt")))
