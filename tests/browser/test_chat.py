"""The chat in a browser: a reply that streams, one that is stopped, and poisoned text that stays text (C03)."""

import time
from collections.abc import Callable

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
    '<img src="https://evil.example/x.png"><script>fetch("https://evil.example/")</script> ![x](//evil.example/y.png) '
    '[click](javascript:alert(1)) <a href="javascript:alert(1)">here</a> <style>@import "//evil.example/z"</style>'
)
SLOW = {"text": " ".join(f"word{n}" for n in range(40)), "pause": 0.1}


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
        assert page.locator("main :is(img, script, style, iframe), a[href^='javascript']").count() == 0
        expect(page.get_by_text("evil.example").first).to_be_attached()


def test_c03_a_reload_in_the_middle_shows_the_running_turn_and_then_its_reply(
    visit: Visit, talker: Cast, model_server: Script
) -> None:
    model_server.answers[:] = [SLOW]
    page = visit(talker.url("chat"))
    page.get_by_label("Message to").fill("Tell me everything.")
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".message-assistant")).to_contain_text("word2")
    page.reload()
    expect(page.locator(".message-user")).to_contain_text("Tell me everything.")
    expect(page.get_by_text("The reply is still being written.")).to_be_visible()
    expect(page.locator(".message-assistant")).to_contain_text("word39")
    expect(page.locator(".turn-running")).to_have_count(0)
    assert Turn.objects.get().status == "completed"
    assert len(model_server.requests) == 1


def test_c03_a_turn_that_runs_without_its_page_can_still_be_stopped(
    visit: Visit, talker: Cast, model_server: Script
) -> None:
    model_server.answers[:] = [{**SLOW, "text": "word " * 400}]
    page = visit(talker.url("chat"))
    page.get_by_label("Message to").fill("Tell me everything.")
    page.keyboard.press("Enter")
    expect(page.locator(".message-assistant")).to_contain_text("word")
    page.reload()
    page.locator(".turn-form").get_by_role("button", name="Stop").click()
    expect(page.locator(".turn-status-stopped")).to_be_visible()
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    assert Turn.objects.get().status == "stopped"


def test_c03_without_javascript_a_reply_is_stopped_from_another_tab(
    visit: Visit, talker: Cast, model_server: Script
) -> None:
    session = factories.make_session(talker.agent, talker.user)
    model_server.answers[:] = [{"text": "late", "delay": 60}]
    first = visit(talker.url("chat-session", session.pk), java_script_enabled=False)
    second = first.context.new_page()
    first.get_by_label("Message to").fill("Tell me everything.")
    first.get_by_role("button", name="Send").click(no_wait_after=True)
    until(lambda: bool(model_server.requests))
    second.goto(talker.url("chat-session", session.pk))
    second.locator(".turn-form").get_by_role("button", name="Stop").click()
    expect(first.locator(".turn-status-stopped")).to_be_visible()  # the page that came of the form
    expect(first.get_by_role("button", name="Try again")).to_be_visible()
    assert (Turn.objects.get().status, Turn.objects.get().error_code) == ("stopped", "asked")


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_c03_two_tabs_on_one_session_wait_for_each_other_and_lose_nothing(
    visit: Visit, talker: Cast, model_server: Script
) -> None:
    session = factories.make_session(talker.agent, talker.user)
    model_server.answers[:] = [SLOW, "Second reply."]
    first = visit(talker.url("chat-session", session.pk))
    second = first.context.new_page()
    second.goto(first.url)
    first.get_by_label("Message to").fill("From the first tab.")
    first.keyboard.press("Enter")
    expect(first.locator(".message-assistant")).to_contain_text("word2")
    second.get_by_label("Message to").fill("From the second tab.")
    second.keyboard.press("Enter")
    expect(second.locator("#composer-problem")).to_contain_text("still answering")
    expect(second.get_by_label("Message to")).to_have_value("From the second tab.")
    expect(first.locator(".turn-running")).to_have_count(0)
    second.keyboard.press("Enter")
    expect(second.locator(".message-assistant")).to_have_count(2)  # the first tab's turn came with the reload
    expect(second.locator(".message-user").first).to_contain_text("From the first tab.")
    expect(second.locator(".message-assistant").last).to_contain_text("Second reply.")


def test_c03_a_very_long_message_is_sent_and_one_too_long_stays_in_the_box(visit: Visit, talker: Cast) -> None:
    page = visit(talker.url("chat"))
    box = page.get_by_label("Message to")
    box.fill("w" * 32_001)
    page.keyboard.press("Enter")
    expect(page.locator("#composer-problem")).to_contain_text("at most 32000 are allowed")
    expect(box).to_have_value("w" * 32_001)
    long = "Ünïcödé 🦉 " * 2_900
    box.fill(long.strip())
    page.keyboard.press("Enter")
    expect(page.locator(".turn-running")).to_have_count(0)
    expect(page.locator(".message-assistant .message-text")).to_have_text("Hello.")
    assert Message.objects.get(role="user").content == long.strip()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_c03_a_code_block_keeps_its_lines_and_scrolls_by_itself(
    visit: Visit, talker: Cast, model_server: Script
) -> None:
    code = "def f():\n    return '<b>'  # " + "x" * 300
    model_server.answers[:] = [f"Like this:\n```python\n{code}\n```\nThat is all."]
    page = visit(talker.url("chat"), viewport={"width": 360, "height": 780})
    page.get_by_label("Message to").fill("How?")
    page.get_by_role("button", name="Send").click()
    block = page.locator(".message-assistant pre code")
    expect(block).to_have_text(code, use_inner_text=True)
    assert "```" not in (page.locator(".message-assistant .message-text").text_content() or "")
    expect(page.get_by_text("That is all.", exact=True)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert Message.objects.get(role="assistant").content.count("```") == 2
