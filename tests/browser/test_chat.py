"""The chat in a browser: a reply that streams, one that is stopped, and poisoned text that stays text (C03)."""

import pytest
from playwright.sync_api import expect

from accounts.models import Organization, User
from agents.permissions import grant
from conversations.models import Message, Turn
from tests import factories
from tests.browser.conftest import Cast, Visit
from tests.stub_server import Script

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
POISON = (
    '<img src="https://evil.example/x.png"><script>fetch("https://evil.example/")</script> ![x](//evil.example/y.png)'
)


@pytest.fixture
def talker(cast: Cast, organization: Organization, owner: User, model_server: Script) -> Cast:
    """The same member with an agent that answers what the script says."""
    agent = factories.make_agent(organization, "talker", base_url=model_server.url)
    for permission in ("agent:read", "agent:update"):
        grant(agent=agent, user=owner, permission=permission, actor=None)
    return Cast(owner, agent, cast.base)


def test_c03_a_reply_streams_and_can_be_stopped_and_sent_again(
    visit: Visit, talker: Cast, model_server: Script
) -> None:
    model_server.answers[:] = [{"text": " ".join(f"word{n}" for n in range(400)), "pause": 0.05}, "Short."]
    page = visit(talker.url("chat"))
    page.get_by_label("Message to").fill("Tell me everything.")
    page.get_by_role("button", name="Send").click()
    reply = page.locator(".message-assistant .message-text")
    expect(reply).to_contain_text("word2")
    assert "word399" not in (reply.text_content() or "")  # it is shown while it comes
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".turn-status-stopped")).to_contain_text("Stopped")
    turn = Turn.objects.get()
    assert turn.status == "stopped"
    assert "word399" not in Message.objects.get(turn=turn, role="assistant").content
    page.get_by_role("button", name="Try again").click()
    expect(reply.last).to_have_text("Short.")
    expect(page.locator(".turn-running")).to_have_count(0)
    assert set(Turn.objects.values_list("status", flat=True)) == {"stopped", "completed"}


def test_poisoned_replies_and_facts_are_shown_as_text(visit: Visit, talker: Cast, model_server: Script) -> None:
    talker.consent()
    factories.make_fact(talker.scope, body=POISON, key="<b>key</b>")
    model_server.answers[:] = [POISON]
    page = visit(talker.url("chat"))
    page.get_by_label("Message to").fill(POISON)
    page.keyboard.press("Enter")
    expect(page.locator(".message-assistant .message-text")).to_have_text(POISON)
    expect(page.locator(".message-user .message-text")).to_have_text(POISON)
    for address in (page.url, talker.url(), talker.url("memory-prompt")):
        page.goto(address)
        assert page.locator("main img").count() == 0
        expect(page.get_by_text("evil.example").first).to_be_attached()
