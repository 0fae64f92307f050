"""The line beside a turn in a browser: it asks by itself after a streamed reply, and stops when the run has ended."""

import os
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import User
from agents.models import Agent
from consent.scope import Scope
from extraction.models import Run
from tests import factories
from tests.scratch import drop_visitors

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    monkeypatch.setitem(os.environ, "DJANGO_ALLOW_ASYNC_UNSAFE", "1")  # the browser's driver runs a loop in this thread
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        yield browser.new_page()
        browser.close()
    drop_visitors(str(connection.settings_dict["NAME"]))  # a thread of the server may have kept one


@pytest.mark.skipif(not os.path.exists("/usr/bin/chromium"), reason="needs /usr/bin/chromium")
def test_e06_the_line_finds_out_by_itself_and_then_asks_no_more(
    page: Any, live_server: Any, agent: Agent, owner: User, consented: Scope
) -> None:
    asked: list[str] = []
    problems: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/extraction/turns/" in request.url else None)
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.goto(f"{live_server.url}/login/")
    page.fill("input[name=username]", owner.email)
    page.fill("input[name=password]", factories.PASSWORD)
    page.click("main button[type=submit]")
    page.goto(f"{live_server.url}/agents/acme/guide/chat/")
    page.fill("#message", "I have a cat.")
    page.click("#send")
    page.wait_for_selector(".learned >> text=Still looking")
    page.wait_for_timeout(2500)
    assert len(asked) == 1
    Run.objects.update(state="done", finished_at=timezone.now(), outcomes={"active": 1}, refusals={"pii": 2})
    page.wait_for_selector(".learned >> text=1 learned, 2 set aside")
    before = len(asked)
    page.wait_for_timeout(3500)
    assert len(asked) == before
    assert re.search("/memory/$", page.get_attribute(".learned a", "href"))
    assert problems == []
