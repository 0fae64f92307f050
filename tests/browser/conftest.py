"""The product in headless Chromium: one browser and one server for the folder, and the cast of every other test."""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from accounts.models import User
from agents.models import Agent
from consent.scope import Scope
from extraction.models import Run
from extraction.services import extract
from tests import factories

CHROMIUM = Path("/usr/bin/chromium")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--disable-component-update",
    "--disable-sync",
)


STATUS = re.compile("Failed to load resource|Response Status Error Code 4")
PATIENCE = 20_000  # milliseconds; a machine that is busy with other things is no failure


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium, or a skipped test where there is none.

    Playwright keeps an event loop in this thread, for which Django refuses its ORM. Here one test runs at a time and
    nothing is awaited, so the refusal is lifted as long as the browser runs.
    """
    if not CHROMIUM.exists():
        pytest.skip(f"there is no {CHROMIUM}")
    with pytest.MonkeyPatch.context() as patched, sync_playwright() as playwright:
        patched.setitem(os.environ, "DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        expect.set_options(timeout=PATIENCE)
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield started
        started.close()


@dataclass(frozen=True)
class Cast:
    """A member, her agent, and the addresses of its pages."""

    user: User
    agent: Agent
    base: str

    @property
    def scope(self) -> Scope:
        return Scope(self.agent.organization_id, self.user.pk, self.agent.pk)

    def url(self, name: str = "memory", *more: Any) -> str:
        return self.base + reverse(name, args=[self.agent.organization.slug, self.agent.slug, *more])

    def extract(self) -> None:
        """Do the background work that waits for this member."""
        for run in Run.objects.filter(agent=self.agent, user=self.user, state="waiting"):
            extract(run.pk, clock=timezone.now)

    def consent(self) -> None:
        factories.grant(self.scope, self.user)


@pytest.fixture
def cast(browser: Browser, live_server: LiveServer, owner: User, agent: Agent) -> Cast:
    """A member who may read and update an agent with the offline model; she has not granted consent."""
    return Cast(owner, agent, live_server.url)


type Visit = Callable[..., Page]


@pytest.fixture
def visit(browser: Browser, cast: Cast) -> Iterator[Visit]:
    """Open a page in a context of its own, signed in; at the end nothing left the origin and no script complained."""
    contexts, outside, complaints = [], list[str](), list[str]()

    def watch(page: Page) -> None:
        page.on("request", lambda request: None if request.url.startswith(cast.base) else outside.append(request.url))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        # A status of ours, such as 409, is a message of the browser and of htmx too; anything else is a fault.
        page.on(
            "console",
            lambda message: (
                complaints.append(message.text)
                if message.type in ("error", "warning") and not STATUS.match(message.text)
                else None
            ),
        )

    def open_page(url: str = "", *, signed_in: bool = True, user: User | None = None, **options: Any) -> Page:
        context = browser.new_context(**options)
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        context.on("page", watch)
        if signed_in:
            client = Client()
            client.force_login(user or cast.user, backend="accounts.authentication.EmailBackend")
            context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": cast.base}])
        page = context.new_page()
        page.goto(url or cast.url())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert outside == []
    assert complaints == []
