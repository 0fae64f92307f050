"""What holds on every page: narrow screens, both themes, names and contrast, the keyboard alone, and no JavaScript."""

from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from consent.services import consent_of
from facts.models import Fact
from facts.services import edit_fact
from tests import factories
from tests.browser.conftest import Cast, Visit

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# Every visible text with less contrast than WCAG 2.2 AA asks for, as "ratio: text" (1.4.3).
FAINT = """() => {
  const rgb = (color) => color.match(/[\\d.]+/g).map(Number);
  const channel = (v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = rgb(getComputedStyle(at).backgroundColor);
      if (color.length < 4 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const faint = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    if (!text || element.closest("button:disabled, script, .hidden, .skip") || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const [a, b] = [light(rgb(style.color)), light(behind(element))].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < (large ? 3 : 4.5)) faint.push(`${ratio.toFixed(2)}: ${text}`);
  }
  return faint;
}"""

# Every visible control without a name, or smaller than 24 by 24 unless it stands in a line of text (2.5.8, 4.1.2).
POOR = """() => [...document.querySelectorAll("a, button, input:not([type=hidden]), textarea, summary")]
  .filter((control) => control.checkVisibility() && !control.closest(".skip"))
  .filter((control) => {
    const name = control.getAttribute("aria-label") || control.labels?.[0]?.textContent || control.textContent;
    const box = control.getBoundingClientRect();
    const inline = getComputedStyle(control).display === "inline";
    return !name.trim() || (!inline && (box.width < 24 || box.height < 24));
  })
  .map((control) => control.outerHTML.slice(0, 120))"""


@pytest.fixture
def full(cast: Cast) -> Cast:
    """A member with a fact of every status, one of them with a long word, and a conversation."""
    cast.consent()
    session = factories.make_session(cast.agent, cast.user)
    _turn, message = factories.make_turn(session, "I live in Porto. " + "w" * 200)
    factories.make_fact(cast.scope, body="Lives in Porto.", source_ids=(message.pk,))
    factories.make_fact(cast.scope, body="Lives in " + "Llanfairpwllgwyngyll" * 5, status="conflict")
    factories.make_fact(cast.scope, key="k" * 120, body="Likes tea.", status="pending")
    stale = factories.make_fact(cast.scope, key="work", body="Works in Faro.")
    edit_fact(scope=cast.scope, fact_id=stale.pk, body="Works in Braga.", actor=cast.user, now=timezone.now())
    return cast


def pages(cast: Cast) -> list[str]:
    fact = Fact.objects.for_scope(cast.scope).filter(status="conflict").get()
    session = factories.make_session(cast.agent, cast.user)
    return [
        cast.url(),
        cast.url() + "?status=conflict&type=profile&order=key",
        cast.url("memory-edit", fact.pk),
        cast.url("memory-edit", Fact.objects.for_scope(cast.scope).get(status="superseded").pk),  # changed meanwhile
        cast.url("memory-delete", fact.pk),
        cast.url("memory-withdraw"),
        cast.url("memory-history"),
        cast.url("memory-prompt"),
        cast.url("chat"),
        cast.url("chat-session", session.pk),
        cast.url("sessions"),
        cast.url("sessions") + "?q=nothing",
        cast.url("session", session.pk),
        cast.url("session-delete", session.pk),
    ]


def open_details(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_nothing_overflows_and_every_text_and_control_can_be_made_out(
    visit: Visit, full: Cast, scheme: str
) -> None:
    page = visit(viewport={"width": 360, "height": 780}, color_scheme=scheme)
    for address in pages(full):
        response = page.goto(address)
        assert response is not None
        assert "default-src 'self'" in response.headers["content-security-policy"]
        open_details(page)
        for width in (320, 360):  # WCAG asks for 320 (1.4.10)
            page.set_viewport_size({"width": width, "height": 780})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, address
        assert page.evaluate(FAINT) == [], address
        assert page.evaluate(POOR) == [], address
    background = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert (background == "rgb(20, 24, 26)") is (scheme == "dark")


def press_until(page: Page, name: str, role: str = "A, BUTTON, TEXTAREA, INPUT") -> None:
    """Press Tab until the control with this name has the keyboard; it must show that it has."""
    for _ in range(60):
        page.keyboard.press("Tab")
        reached = page.evaluate(
            """() => {
              const at = document.activeElement;
              const name = at.getAttribute("aria-label") || at.labels?.[0]?.textContent || at.textContent;
              return [name.replace(/\\s+/g, " ").trim(), getComputedStyle(at).outlineStyle];
            }"""
        )
        if reached[0].startswith(name):
            assert reached[1] != "none", f"{name} does not show the focus"
            return
    raise AssertionError(f"Tab never reached {name}")


def test_the_whole_path_works_with_the_keyboard_alone(visit: Visit, cast: Cast) -> None:
    page = visit(cast.url(), signed_in=False)
    page.keyboard.type(cast.user.email)
    page.keyboard.press("Tab")
    page.keyboard.type(factories.PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Memory is off")).to_be_visible()
    page.wait_for_load_state()  # nobody types before a page's scripts have run, save a test
    press_until(page, "I agree, turn memory on")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="Memory is on for this agent.")).to_be_focused()
    press_until(page, "Start a conversation")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Message to")).to_be_focused()
    page.wait_for_load_state()
    page.keyboard.type("I live in Porto.")
    page.keyboard.press("Enter")
    expect(page.locator(".message-assistant")).to_be_visible()
    expect(page.get_by_label("Message to")).to_be_focused()
    expect(page.locator(".turn-running")).to_have_count(0)
    cast.extract()
    page.goto(cast.url())
    press_until(page, "Edit home.city")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Text of the fact")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("Lives in Lisbon.")
    press_until(page, "Save")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="Saved.")).to_be_focused()
    press_until(page, "Delete home.city")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Keep it")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="Deleted.")).to_be_focused()
    press_until(page, "Turn memory off")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Keep it on")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Memory is off")).to_be_visible()
    assert Fact.objects.for_scope(cast.scope).live().count() == 0


def test_the_whole_path_works_without_javascript(visit: Visit, cast: Cast) -> None:
    page = visit(java_script_enabled=False)
    page.get_by_role("button", name="I agree, turn memory on").click()
    expect(page.get_by_role("heading", name="Memory is on")).to_be_visible()
    page.get_by_role("link", name="Chat", exact=True).click()
    page.get_by_label("Message to").fill("I live in Porto.")
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".message-assistant")).to_be_visible()
    cast.extract()
    page.goto(cast.url())
    page.get_by_role("link", name="Profile 1").click()
    page.get_by_role("link", name="Edit home.city").click()
    stale = page.url
    expect(page.get_by_text("At most 4000 characters")).to_be_visible()
    page.get_by_label("Text of the fact").fill("x" * 4001)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("at most 4000 are allowed")).to_be_visible()
    expect(page.get_by_label("Text of the fact")).to_have_value("x" * 4001)
    page.get_by_label("Text of the fact").fill("Lives in Lisbon.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert page.url == cast.url() + "?type=profile"
    page.goto(stale)
    expect(page.get_by_text("This fact changed meanwhile")).to_be_visible()
    page.get_by_role("link", name="Edit what is stored now").click()
    expect(page.get_by_label("Text of the fact")).to_have_value("Lives in Lisbon.")
    page.get_by_role("link", name="Cancel").click()
    page.get_by_role("link", name="Delete home.city").click()
    page.get_by_role("button", name="Delete this fact").click()
    expect(page.get_by_text("Deleted. It is no longer used.")).to_be_visible()
    page.get_by_role("link", name="Turn memory off").click()
    page.get_by_role("button", name="Turn memory off").click()
    expect(page.get_by_role("heading", name="Memory is off")).to_be_visible()
    consent: Any = consent_of(cast.scope)
    assert not consent.granted
