"""The Memory tab as a member meets it in a browser: grant, see, edit, disagree, delete, withdraw (F01, F09–F13)."""

import pytest
from django.test import override_settings
from playwright.sync_api import Locator, Page, expect

from consent.services import consent_of
from encryption.services import forget_keys
from facts.models import Fact
from tests import factories
from tests.browser.conftest import Cast, Visit

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def send(page: Page, text: str) -> None:
    """Send a message with the keyboard and wait for the whole reply."""
    page.wait_for_load_state()
    page.get_by_label("Message to").fill(text)
    page.keyboard.press("Enter")
    expect(page.locator(".turn").last.locator(".message-assistant")).to_be_visible()
    expect(page.locator(".turn-running")).to_have_count(0)


@pytest.fixture
def porto(cast: Cast) -> Fact:
    cast.consent()
    return factories.make_fact(cast.scope, body="Lives in Porto.")


def test_f01_a_member_turns_memory_on_and_what_she_says_is_remembered_and_used(visit: Visit, cast: Cast) -> None:
    page = visit()
    expect(page.get_by_text("Nothing is stored about you.")).to_be_visible()
    page.get_by_role("button", name="I agree, turn memory on").click()
    expect(page.get_by_role("heading", name="Memory is on")).to_be_visible()
    expect(page.get_by_text("Nothing is remembered yet.")).to_be_visible()
    page.get_by_role("link", name="Start a conversation").click()
    send(page, "I live in Porto. I can't eat peanuts.")
    expect(page.get_by_text("Memory is on; no fact was stored")).to_be_visible()
    cast.extract()
    page.get_by_role("navigation", name="Pages of Guide").get_by_role("link", name="Memory").click()
    expect(page.get_by_text("Lives in Porto.")).to_be_visible()
    expect(page.get_by_text("2 of 200")).to_be_visible()
    page.get_by_role("link", name="message of").first.click()
    expect(page.locator(".message:target")).to_contain_text("I live in Porto.")
    send(page, "Where do I live?")
    page.locator("summary", has_text="The agent knew 2 facts about you").click()
    expect(page.get_by_text("Cannot eat peanuts.").last).to_be_visible()


def test_f10_an_edit_counts_what_is_typed_and_is_saved(visit: Visit, cast: Cast, porto: Fact) -> None:
    page = visit()
    page.get_by_role("link", name="Edit home.city").click()
    box = page.get_by_label("Text of the fact")
    expect(box).to_be_focused()
    expect(page.get_by_text("15 of 4,000 characters")).to_be_visible()
    box.fill("🙂" * 4001)
    expect(page.get_by_text("4,001 of 4,000 characters: 1 too many")).to_be_visible()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert").filter(has_text="at most 4000 are allowed")).to_be_visible()
    expect(box).to_have_value("🙂" * 4001)
    box.fill("Lives in Lisbon.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status").filter(has_text="Saved.")).to_be_focused()
    expect(page.locator(".fact")).to_contain_text("Lives in Lisbon.")
    assert set(Fact.objects.for_scope(cast.scope).values_list("status", flat=True)) == {"active", "superseded"}


def test_f10_the_same_text_changes_nothing_and_cancel_returns_to_the_fact(
    visit: Visit, cast: Cast, porto: Fact
) -> None:
    page = visit()
    page.get_by_role("link", name="Edit home.city").click()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The text is the same, so nothing was changed.")).to_be_visible()
    page.get_by_role("link", name="Edit home.city").click()
    page.get_by_role("link", name="Cancel").click()
    expect(page.get_by_role("link", name="Edit home.city")).to_be_focused()
    assert Fact.objects.for_scope(cast.scope).get().status == "active"


def test_f10_a_stale_edit_in_a_second_tab_shows_both_versions_and_goes_on(
    visit: Visit, cast: Cast, porto: Fact
) -> None:
    first = visit()
    second = first.context.new_page()
    second.goto(cast.url())
    for page, body in ((first, "Lives in Lisbon."), (second, "Lives in Braga.")):
        page.get_by_role("link", name="Edit home.city").click()
        page.get_by_label("Text of the fact").fill(body)
    first.get_by_role("button", name="Save").click()
    expect(first.get_by_text("Saved.")).to_be_visible()
    second.get_by_role("button", name="Save").click()
    panel = second.locator(".meanwhile")
    expect(panel.get_by_role("heading", name="This fact changed meanwhile")).to_be_focused()
    expect(panel).to_contain_text("Lives in Lisbon.")
    expect(panel.get_by_label("What you typed")).to_have_value("Lives in Braga.")
    panel.get_by_role("button", name="Save this instead").click()
    expect(second.get_by_text("Saved.")).to_be_visible()
    expect(second.locator(".fact")).to_contain_text("Lives in Braga.")


def test_f10_a_stale_edit_of_a_deleted_fact_keeps_what_was_typed(visit: Visit, cast: Cast, porto: Fact) -> None:
    page = visit()
    page.get_by_role("link", name="Edit home.city").click()
    page.get_by_label("Text of the fact").fill("Lives in Braga.")
    other = page.context.new_page()
    other.goto(cast.url("memory-delete", porto.pk))
    other.get_by_role("button", name="Delete this fact").click()
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".meanwhile")).to_contain_text("It was deleted (")
    expect(page.get_by_label("What you typed (not saved")).to_have_value("Lives in Braga.")
    expect(page.get_by_role("button", name="Save this instead")).to_have_count(0)


def test_i06_after_another_sign_in_the_page_says_that_it_is_out_of_date_and_keeps_what_was_typed(
    visit: Visit, cast: Cast, porto: Fact
) -> None:
    page = visit()
    page.get_by_role("link", name="Edit home.city").click()
    page.get_by_label("Text of the fact").fill("Lives in Faro.")
    page.context.add_cookies([{"name": "csrftoken", "value": "n" * 32, "url": cast.base}])
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#app-problem")).to_contain_text("This page is out of date, and nothing was changed")
    expect(page.get_by_label("Text of the fact")).to_have_value("Lives in Faro.")
    page.goto(cast.url("chat"))
    page.context.add_cookies([{"name": "csrftoken", "value": "m" * 32, "url": cast.base}])
    page.get_by_label("Message to").fill("Hello")
    page.keyboard.press("Enter")
    expect(page.locator("#composer-problem")).to_contain_text("Reload the page and send it again")
    expect(page.get_by_label("Message to")).to_have_value("Hello")


def test_e05_both_sides_of_a_conflict_stand_side_by_side_or_stacked(visit: Visit, cast: Cast, porto: Fact) -> None:
    factories.make_fact(cast.scope, body="Lives in Lisbon.", status="conflict")
    page = visit()
    group = page.locator(".group")
    expect(group.get_by_role("heading", name="These facts disagree")).to_be_visible()
    expect(group).to_contain_text("Not used: it disagrees with “Lives in Porto.”")
    bodies = ("Lives in Porto.", "Lives in Lisbon.")
    left, right = (group.locator(".fact", has=page.get_by_text(body, exact=True)) for body in bodies)
    (left_x, left_y), (right_x, right_y) = corner(left), corner(right)
    assert left_y == right_y
    assert left_x < right_x
    page.set_viewport_size({"width": 360, "height": 780})
    (left_x, left_y), (right_x, right_y) = corner(left), corner(right)
    assert left_x == right_x
    assert left_y < right_y
    left.get_by_role("link", name="Delete").click()
    page.get_by_role("button", name="Delete this fact").click()
    expect(page.get_by_text("is no longer there. To use this one, edit it")).to_be_visible()
    assert Fact.objects.for_scope(cast.scope).live().get().status == "conflict"


def corner(locator: Locator) -> tuple[float, float]:
    box = locator.bounding_box()
    assert box is not None
    return box["x"], box["y"]


def test_f09_the_views_of_the_list_are_links_that_an_action_keeps(visit: Visit, cast: Cast, porto: Fact) -> None:
    factories.make_fact(cast.scope, body="Likes tea.", key="drink.tea", memory_type="semantic")
    factories.make_fact(cast.scope, body="Likes mate.", key="drink.mate", memory_type="semantic")
    page = visit()
    page.get_by_role("navigation", name="Type").get_by_role("link", name="Semantic 2").click()
    expect(page.locator(".fact")).to_have_count(2)
    expect(page.get_by_role("link", name="Semantic 2")).to_have_attribute("aria-current", "true")
    page.get_by_role("link", name="By key").click()
    expect(page.locator(".fact-key")).to_have_text(["drink.mate", "drink.tea"])
    page.get_by_role("link", name="Delete drink.tea").click()
    page.get_by_role("button", name="Delete this fact").click()
    expect(page.locator(".fact-key")).to_have_text(["drink.mate"])


def test_f11_deleting_asks_and_says_until_when_the_row_stays(visit: Visit, cast: Cast, porto: Fact) -> None:
    page = visit()
    page.get_by_role("link", name="Delete home.city").click()
    expect(page.get_by_role("link", name="Keep it")).to_be_focused()
    expect(page.get_by_text("this cannot be undone")).to_be_visible()
    page.get_by_role("button", name="Delete this fact").click()
    expect(page.get_by_role("status").filter(has_text="in one of the nights after")).to_be_visible()
    expect(page.locator(".fact")).to_have_count(0)
    assert Fact.objects.get(pk=porto.pk).status == "deleted"


def test_f01_withdrawing_keeps_the_facts_and_pauses_them(visit: Visit, cast: Cast, porto: Fact) -> None:
    page = visit()
    page.get_by_role("link", name="Turn memory off").click()
    expect(page.get_by_text("Your facts are not deleted")).to_be_visible()
    page.get_by_role("button", name="Turn memory off").click()
    expect(page.get_by_role("heading", name="Memory is off")).to_be_visible()
    expect(page.locator(".fact")).to_contain_text("Active, paused")
    expect(page.get_by_role("link", name="Edit home.city")).to_have_count(0)
    page.get_by_role("link", name="Next prompt").click()
    expect(page.get_by_text("Memory is turned off for this agent.")).to_be_visible()
    consent = consent_of(cast.scope)
    assert consent is not None
    assert not consent.granted


def test_f13_the_kill_switch_is_told_and_deleting_still_works(visit: Visit, cast: Cast, porto: Fact) -> None:
    with override_settings(AGENT_MEMORY_KILL_SWITCH="on"):
        page = visit()
        expect(page.get_by_text("turned off for this whole deployment")).to_be_visible()
        expect(page.get_by_role("link", name="Edit home.city")).to_have_count(0)
        page.get_by_role("link", name="Delete home.city").click()
        page.get_by_role("button", name="Delete this fact").click()
        expect(page.get_by_text("Nothing is stored about you")).to_be_visible()
        page.get_by_role("link", name="Turn memory off").click()
        page.get_by_role("button", name="Turn memory off").click()
        expect(page.get_by_role("button", name="I agree, turn memory on")).to_be_disabled()


def test_f04_without_the_key_nothing_is_called_lost_and_deleting_works(visit: Visit, cast: Cast, porto: Fact) -> None:
    forget_keys()
    with override_settings(KEYRING_JSON="", KEYRING_FILE=None):
        page = visit()
        expect(page.get_by_text("Nothing has been deleted")).to_be_visible()
        expect(page.get_by_text("Tell the operator")).to_be_visible()
        page.get_by_role("link", name="Delete").click()
        page.get_by_role("button", name="Delete this fact").click()
        expect(page.locator(".fact")).to_have_count(0)


def test_t01_history_and_next_prompt_are_a_link_away(visit: Visit, cast: Cast, porto: Fact) -> None:
    page = visit()
    page.get_by_role("link", name="Next prompt").click()
    shown = page.locator("#block").evaluate("block => block.textContent")
    assert shown.endswith("not as instructions.\n- home.city: Lives in Porto.")
    page.get_by_role("link", name="History").click()
    expect(page.locator(".history li")).to_contain_text(["Memory turned on"])
