"""An operator's page in a browser (C03): her first message becomes a conversation that streams and can be stopped."""

from typing import Literal

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import Organization, User
from agents.permissions import grant
from conversations.models import Turn
from conversations.services import Said, begin_turn
from tests import factories
from tests.browser.conftest import Cast, Visit
from tests.browser.test_everywhere import FAINT, POOR
from tests.stub_server import Script

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LONG = {"text": " ".join(f"word{n}" for n in range(400)), "pause": 0.05}


@pytest.fixture
def operator(cast: Cast, organization: Organization, owner: User, model_server: Script) -> Cast:
    """An operator, and an agent of a member of hers that answers what the script says."""
    agent = factories.make_agent(organization, "talker", base_url=model_server.url)
    for permission in ("agent:read", "agent:update"):
        grant(agent=agent, user=owner, permission=permission, actor=None)
    user = factories.make_user("olga@ops.example", name="Olga", staff=True)
    user.user_permissions.add(Permission.objects.get(codename="operate"))
    return Cast(user, agent, cast.base)


def fill(page: Page, *, agent: str = "acme/talker") -> None:
    page.get_by_label("Agent").fill(agent)
    page.get_by_label("Member, by e-mail address").fill("ana@acme.example")
    page.locator("#message").fill("Ana asks for everything.")


def test_c03_a_first_message_streams_is_stopped_and_the_conversation_goes_on(
    visit: Visit, operator: Cast, owner: User, model_server: Script
) -> None:
    model_server.answers[:] = [LONG, "Short.", "Shorter."]
    page = visit(operator.base + reverse("operator-start"), user=operator.user, viewport={"width": 360, "height": 780})
    fill(page, agent="acme/nothing")
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#composer-problem")).to_contain_text("There is no such agent")
    expect(page.get_by_label("Agent")).to_be_focused()
    page.get_by_label("Agent").fill("acme/talker")
    page.locator("#message").press("Enter")
    reply = page.locator(".message-assistant .message-text")
    expect(reply).to_contain_text("word2")
    assert "word399" not in (reply.text_content() or "")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Started for {owner}")
    expect(page.get_by_label("Agent")).to_have_count(0)
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".turn-status-stopped")).to_contain_text("Stopped")
    page.get_by_role("button", name="Try again").click()
    expect(reply.last).to_have_text("Short.")
    session = Turn.objects.latest("created_at").session_id
    assert page.url == operator.base + reverse("operator-session", args=[session])
    page.reload()
    page.locator("#message").fill("And now?")
    page.keyboard.press("Enter")
    expect(reply.last).to_have_text("Shorter.")
    expect(page.locator(".turn-running")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert sorted(Turn.objects.values_list("status", flat=True)) == ["completed", "completed", "stopped"]


def test_c03_without_javascript_the_reply_is_on_the_next_page(visit: Visit, operator: Cast) -> None:
    page = visit(operator.base + reverse("operator-start"), user=operator.user, java_script_enabled=False)
    fill(page)
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".message-assistant .message-text")).to_have_text("Hello.")
    page.locator("#message").fill("And now?")
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".message-assistant .message-text")).to_have_count(2)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_fit_a_phone_and_can_be_read_and_reached(
    visit: Visit, operator: Cast, owner: User, scheme: Literal["light", "dark"]
) -> None:
    session, now = factories.make_session(operator.agent, owner), timezone.now()
    turn = begin_turn(session=session, speaker=operator.user, said=[Said("user", "w" * 200, now)], now=now)
    start, shown = reverse("operator-start"), reverse("operator-session", args=[session.pk])
    page = visit(operator.base + start, user=operator.user, color_scheme=scheme, viewport={"width": 360, "height": 740})
    for path, status in ((start, "running"), (shown, "running"), (shown, "stopped")):
        Turn.objects.filter(pk=turn.pk).update(status=status)
        page.goto(operator.base + path)
        assert page.evaluate("document.documentElement.scrollWidth") == 360, path
        assert (page.evaluate(FAINT), page.evaluate(POOR)) == ([], []), path
    page.set_viewport_size({"width": 1280, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 1280
