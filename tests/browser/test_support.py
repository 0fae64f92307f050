"""Support staff in a browser (R04): sign in, find a person, see counts, delete her memory, keep the receipt."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.core.management import call_command
from playwright.sync_api import Page, expect

from accounts.models import User
from accounts.services import set_membership
from facts.models import Fact
from lifecycle.models import Deletion
from tests import factories
from tests.browser.conftest import Cast, Visit
from tests.browser.test_everywhere import FAINT, POOR

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def ledger_file(settings: Any, tmp_path: Path) -> None:
    settings.ERASURE_LEDGER = tmp_path / "erasures.jsonl"


@pytest.fixture
def support(cast: Cast) -> User:
    user = factories.make_user("sue@support.example", name="Sue", staff=True)
    user.user_permissions.add(Permission.objects.get(codename="delete_subject"))
    return user


@pytest.fixture
def remembered(cast: Cast, ledger_file: None) -> Cast:
    """A member with consent and two facts."""
    cast.consent()
    factories.make_fact(cast.scope)
    factories.make_fact(cast.scope, key="hobby", body="Keeps bees.")
    return cast


def sign_in(visit: Visit, cast: Cast, user: User, **options: Any) -> Page:
    """Open the administration as somebody who types address and password."""
    page = visit(f"{cast.base}/admin/", signed_in=False, **options)
    page.get_by_label("E-mail address").fill(user.email)
    page.get_by_label("Password").fill(factories.PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="People")).to_be_visible()
    return page


def find(page: Page, term: str) -> None:
    """Look for a person by her address, from the list of people."""
    page.goto(page.url.partition("/admin/")[0] + "/admin/lifecycle/supportperson/")
    page.locator("#searchbar").fill(term)
    page.get_by_role("button", name="Search").click()


@pytest.mark.parametrize("script", [True, False])
def test_r04_from_the_search_to_a_receipt_that_verifies(
    script: bool, visit: Visit, remembered: Cast, support: User, tmp_path: Path
) -> None:
    page = sign_in(visit, remembered, support, java_script_enabled=script)
    find(page, "ana")
    expect(page.get_by_role("link", name=remembered.user.email)).to_have_count(0)  # by a whole address only
    find(page, remembered.user.email.upper())
    page.get_by_role("link", name=remembered.user.email).click()
    row = page.get_by_role("row").filter(has_text="guide").first
    expect(row).to_contain_text("acme")
    expect(row.get_by_role("cell").nth(2)).to_have_text("2")
    expect(page.locator("body")).not_to_contain_text("Porto")
    page.get_by_role("link", name="Delete this person's memory").click()
    page.get_by_label("to confirm").fill("somebody@acme.example")
    page.get_by_label("Reason").fill("T-4711")
    page.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_role("alert")).to_contain_text("is not “ana@acme.example”")
    expect(page.get_by_label("Reason")).to_have_value("T-4711")
    assert Fact.objects.count() == 2
    page.get_by_label("to confirm").fill(remembered.user.email)
    page.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_role("heading", name="Result of the deletion")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="Facts removed")).to_contain_text("2")
    deletion = Deletion.objects.get()
    assert (deletion.actor_id, deletion.reason, Fact.objects.count()) == (support.pk, "T-4711", 0)
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download the signed receipt").click()
    file = tmp_path / "receipt.json"
    waiting.value.save_as(file)
    call_command("verify_receipt", str(file), stdout=(out := StringIO()))
    assert f"Valid: memory of user {remembered.user.pk}" in out.getvalue()
    assert len(page.pdf()) > 1000  # the result can be printed
    find_again = f"{remembered.base}/admin/lifecycle/supportperson/{remembered.user.pk}/change/"
    page.goto(find_again)
    expect(page.get_by_text("memory only")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_r04_on_a_phone_no_page_of_support_overflows_and_every_text_can_be_made_out(
    scheme: Any, visit: Visit, remembered: Cast, support: User
) -> None:
    page = sign_in(visit, remembered, support, viewport={"width": 360, "height": 780}, color_scheme=scheme)
    person = f"/admin/lifecycle/supportperson/{remembered.user.pk}"
    for path in (f"{person}/change/", f"{person}/erase/", f"{person}/erase-memory/", "/admin/lifecycle/queuehealth/"):
        readable(page, remembered.base + path)


def readable(page: Page, address: str) -> None:
    page.goto(address)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360, address
    assert page.evaluate(FAINT) == [], address


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_owner_s_pages_of_her_organization_fit_a_phone_and_her_conversations_are_downloaded(
    scheme: Any, visit: Visit, cast: Cast, tmp_path: Path
) -> None:
    set_membership(organization=cast.agent.organization, user=cast.user, role="owner")
    factories.make_turn(factories.make_session(cast.agent, cast.user), "I live in Porto.")
    page = visit(viewport={"width": 360, "height": 780}, color_scheme=scheme)
    for path in ("transcripts/", "delete/"):
        readable(page, f"{cast.base}/organizations/acme/{path}")
        assert page.evaluate(POOR) == [], path
    page.goto(f"{cast.base}/organizations/acme/transcripts/")
    page.get_by_label("Delete a conversation").fill("soon")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert").filter(has_text="whole number of days")).to_be_visible()
    expect(page.get_by_label("Delete a conversation")).to_have_value("soon")
    page.get_by_label("Delete a conversation").fill("30")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("deleted 30 days after the last message")).to_be_visible()
    page.goto(f"{cast.base}/audit/")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download your conversations").click()
    waiting.value.save_as(tmp_path / "mine.jsonl")
    assert waiting.value.suggested_filename == "conversations.jsonl"
    assert "I live in Porto." in (tmp_path / "mine.jsonl").read_text()
