"""The official `openai` client, unmodified, against a running server (C01)."""

from typing import Any

import openai
import pytest

from agents.models import Agent
from tests.stub_server import Script


@pytest.mark.django_db(transaction=True)
def test_c01_the_official_client_works_with_only_a_base_url(
    live_server: Any, talker: Agent, key: str, model_server: Script
) -> None:
    model_server.answers = ["Good day to you."]
    client = openai.OpenAI(base_url=f"{live_server.url}/v1", api_key=key, max_retries=0)
    assert [model.id for model in client.models.list()] == ["acme/guide", "acme/talker"]
    whole = client.chat.completions.create(model="acme/talker", messages=[{"role": "user", "content": "Hello"}])
    assert whole.choices[0].message.content == "Good day to you."
    pieces = client.chat.completions.create(
        model="acme/talker", messages=[{"role": "user", "content": "Hello"}], stream=True
    )
    assert "".join(piece.choices[0].delta.content or "" for piece in pieces) == "Good day to you."
    with pytest.raises(openai.NotFoundError, match="acme/none"):
        client.chat.completions.create(model="acme/none", messages=[{"role": "user", "content": "Hello"}])
    stranger = openai.OpenAI(base_url=f"{live_server.url}/v1", api_key="mp_00000000_wrong", max_retries=0)
    with pytest.raises(openai.AuthenticationError, match="wrong, expired or revoked"):
        stranger.models.list()
