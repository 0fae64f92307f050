"""An agent whose model is the scripted server, its owner with an API key, and a way to call the API."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from accounts.models import Organization, User
from agents.models import Agent
from agents.permissions import grant
from consent.scope import Scope
from tests import factories
from tests.stub_server import Script

type Ask = Callable[..., Any]


@pytest.fixture
def talker(organization: Organization, owner: User, model_server: Script) -> Agent:
    """An agent that answers what the script says; the owner may use it."""
    agent = factories.make_agent(organization, "talker", base_url=model_server.url, system_prompt="Be brief.")
    for permission in ("agent:read", "agent:update"):
        grant(agent=agent, user=owner, permission=permission, actor=None)
    return agent


@pytest.fixture
def talker_scope(talker: Agent, owner: User) -> Scope:
    return factories.grant(Scope(talker.organization_id, owner.pk, talker.pk), owner)


@pytest.fixture
def key(organization: Organization, owner: User) -> str:
    return factories.make_key(organization, owner)


@pytest.fixture
def ask(talker: Agent, key: str) -> Ask:
    """POST a chat request; `messages` may be one text, `body` overrides everything."""

    def post(messages: Any = "Hello", *, secret: str = key, body: Any = None, header: str = "", **more: Any) -> Any:
        if isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        data = body if body is not None else json.dumps({"model": "acme/talker", "messages": messages, **more})
        headers = {"Authorization": f"Bearer {secret}"} | ({"X-Session-Id": header} if header else {})
        return Client(raise_request_exception=False).post(
            "/v1/chat/completions", data=data, content_type="application/json", headers=headers
        )

    return post
