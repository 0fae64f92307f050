"""From an invitation to consent in a browser: invited by mail, signed up, given permissions, memory turned on."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from accounts.models import Membership, User
from agents.models import Agent
from agents.permissions import grant
from consent.scope import Scope
from consent.services import consent_of
from tests import factories
from tests.browser.conftest import Cast, Visit
from tests.browser.test_everywhere import FAINT, POOR, open_details, press_until

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PASSWORD = "a rather long new one"


@pytest.fixture
def mails(settings: Any, tmp_path: Path) -> Path:
    """The folder into which a local deployment writes its mail."""
    backend = "accounts.mail_folder.FolderBackend"
    settings.MAILERS = {"default": {"BACKEND": backend, "OPTIONS": {"file_path": tmp_path}}}
    return tmp_path


@pytest.fixture
def owned(cast: Cast) -> Cast:
    """The cast's member as owner of the organization."""
    Membership.objects.filter(user=cast.user).update(role="owner")
    return cast


def link_in(folder: Path) -> str:
    (file,) = folder.iterdir()
    found = re.search(r"http://\S+/invitations/\S+", file.read_text())
    assert found is not None
    return found[0]


def set_up(page: Page, cast: Cast) -> None:
    """Create an agent as the owner would in a new organization."""
    page.get_by_role("link", name="Organization").click()
    page.get_by_role("link", name="Agents of Acme").click()
    page.get_by_role("link", name="New agent").click()
    page.get_by_label("Name", exact=True).fill("Helper")
    page.get_by_label("Short name in addresses").fill("helper")
    page.get_by_label("System prompt").fill("Be kind.")
    page.get_by_role("button", name="Create the agent").click()
    expect(page.get_by_role("heading", name="Permissions on Helper")).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False])
def test_the_owner_invites_and_the_invited_person_signs_up_and_grants_consent(
    visit: Visit, owned: Cast, mails: Path, scripts: bool
) -> None:
    olga = visit(owned.base + "/agents/", java_script_enabled=scripts)
    set_up(olga, owned)
    olga.get_by_role("link", name="Invitations").click()
    olga.get_by_label("E-mail address").fill("eva@new.example")
    olga.get_by_role("button", name="Send the invitation").click()
    expect(olga.get_by_text("The invitation for eva@new.example is on its way.")).to_be_visible()
    expect(olga.get_by_text(str(mails))).to_be_visible()

    eva = visit(link_in(mails), signed_in=False, java_script_enabled=scripts, timezone_id="Europe/Lisbon")
    expect(eva.get_by_role("heading", name="Join Acme")).to_be_visible()
    if scripts:
        expect(eva.get_by_label("Time zone")).to_have_value("Europe/Lisbon")
    eva.get_by_label("Your name").fill("Eva")
    eva.get_by_label("Password", exact=True).fill(PASSWORD)
    eva.get_by_label("Password again").fill(PASSWORD)
    eva.get_by_role("button", name="Create the account and join").click()
    expect(eva.get_by_text("Welcome. You are a member of Acme now.")).to_be_visible()
    expect(eva.get_by_text("There is no agent that you may use yet.")).to_be_visible()

    olga.goto(owned.base + "/organizations/acme/agents/helper/permissions/")
    for permission in ("agent:read", "agent:update"):
        olga.get_by_role("checkbox", name=f"{permission} for Eva").check()
    olga.get_by_role("button", name="Save").click()
    expect(olga.get_by_text("Saved.")).to_be_visible()
    expect(olga.get_by_role("checkbox", name="agent:update for Eva")).to_be_checked()

    eva.reload()
    eva.get_by_role("link", name="Memory of Helper").click()
    eva.get_by_role("button", name="I agree, turn memory on").click()
    expect(eva.get_by_role("heading", name="Memory is on")).to_be_visible()
    user, agent = User.objects.get(email="eva@new.example"), Agent.objects.get(slug="helper")
    consent: Any = consent_of(Scope(agent.organization_id, user.pk, agent.pk))
    assert consent.granted


def pages(cast: Cast, other: User) -> list[str]:
    organization = f"{cast.base}/organizations/acme"
    return [
        f"{cast.base}/organizations/",
        f"{organization}/",
        f"{organization}/members/{other.pk}/role/",
        f"{organization}/members/{other.pk}/remove/",
        f"{organization}/leave/",
        f"{organization}/transfer/",
        f"{organization}/invitations/",
        f"{organization}/agents/",
        f"{organization}/agents/new/",
        f"{organization}/agents/guide/permissions/",
        f"{organization}/keys/",
        f"{cast.base}/settings/",
        f"{cast.base}/settings/password/",
        f"{cast.base}/settings/keys/",
        f"{cast.base}/password/forgotten/",
        f"{cast.base}/password/forgotten/sent/",
        f"{cast.base}/password/reset/x/y/",
        f"{cast.base}/invitations/x/",
        cast.url("agent-settings"),
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_nothing_overflows_and_every_text_and_control_can_be_made_out(
    visit: Visit, owned: Cast, mails: Path, scheme: str
) -> None:
    organization = owned.agent.organization
    other = factories.make_member(organization, owned.agent, f"{'long' * 12}@acme.example", name="Wolfeschlegel" * 8)
    factories.make_invitation(organization, f"{'w' * 60}@new.example")
    factories.make_key(organization, owned.user)
    grant(agent=owned.agent, user=owned.user, permission="agent:manage", actor=None)
    page = visit(viewport={"width": 360, "height": 780}, color_scheme=scheme)
    for address in pages(owned, other):
        page.goto(address)
        open_details(page)
        for width in (320, 360, 1000):
            page.set_viewport_size({"width": width, "height": 780})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{address} at {width}"
        assert page.evaluate(FAINT) == [], address
        assert page.evaluate(POOR) == [], address


def test_the_grid_is_worked_with_the_keyboard_alone(visit: Visit, owned: Cast) -> None:
    page = visit(owned.base + "/organizations/acme/agents/guide/permissions/")
    press_until(page, "agent:manage")
    page.keyboard.press("Space")
    press_until(page, "Save")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(page.get_by_role("checkbox", name="agent:manage for Ana")).to_be_checked()
