"""The operators' pages in a browser: narrow, light and dark, named and legible; and they work without JavaScript."""

from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from agents.models import Agent, Provider, ProviderState
from agents.operating import Key, Wanted, add_provider, set_operator
from tests.browser.conftest import Cast, Visit
from tests.browser.test_everywhere import FAINT, POOR
from tests.stub_server import Script

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def provider(cast: Cast, model_server: Script) -> Provider:
    """A server with a secret that an agent uses, one in trouble with a long address, and an operator who looks."""
    set_operator(user=cast.user, allowed=True)
    long = f"https://inference.{'long-' * 12}name.example.com/v1"
    other = add_provider(wanted=Wanted("", long, 60, Key(variable="MODELS_API_KEY")), actor=None)
    ProviderState.objects.create(provider=other, failures=3, last_code="server_error")
    row = add_provider(wanted=Wanted("Models", model_server.url, 60, Key(secret="sk-1")), actor=None)
    Agent.objects.filter(pk=cast.agent.pk).update(provider=row, model="stub-1")
    return row


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_fit_a_phone_and_can_be_read_and_reached(
    visit: Visit, cast: Cast, provider: Provider, scheme: Any
) -> None:
    other = Provider.objects.exclude(pk=provider.pk).get(kind="openai")
    paths = [reverse("providers"), reverse("provider-add")]
    paths += [reverse(name, args=[row.pk]) for name in ("provider", "provider-delete") for row in (provider, other)]
    page = visit(cast.base + paths[0], color_scheme=scheme, viewport={"width": 360, "height": 740})
    for path in paths:
        page.goto(cast.base + path)
        assert page.evaluate("document.documentElement.scrollWidth") == 360, path
        assert (page.evaluate(FAINT), page.evaluate(POOR)) == ([], []), path


def test_a_key_is_replaced_and_tested_without_javascript(
    visit: Visit, cast: Cast, provider: Provider, model_server: Script
) -> None:
    page = visit(cast.base + reverse("provider", args=[provider.pk]), java_script_enabled=False)
    expect(page.get_by_label("The key", exact=True)).to_be_hidden()
    page.get_by_label("Replace it by another key").check()
    page.get_by_label("The key", exact=True).fill("sk-second")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved. Test it")).to_be_visible()
    page.get_by_role("button", name="Test now").click()
    expect(page.get_by_text("It works: the model answered")).to_be_visible()
    assert model_server.authorized == ["Bearer sk-second"]
    page.get_by_label("Address", exact=True).fill("http://127.0.0.1:9/v1")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("choose its key again")
    expect(page.get_by_label("Address", exact=True)).to_have_value("http://127.0.0.1:9/v1")
