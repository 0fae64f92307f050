"""C01: requests as other clients send them, recorded or composed from their source (each file says which)."""

import json
from typing import Any

import pytest
from django.test import Client

from agents.models import Agent
from tests.stub_server import Script
from tests.test_architecture import ROOT

SHAPES = {path.stem: json.loads(path.read_text()) for path in (ROOT / "tests" / "chat" / "shapes").glob("*.json")}
REQUESTS = [
    pytest.param(request, id=f"{name}-{number}")
    for name, shape in sorted(SHAPES.items())
    for number, request in enumerate(shape["requests"], 1)
]


def test_each_file_says_where_its_requests_come_from() -> None:
    assert len(SHAPES) == 4
    assert all(shape["source"].startswith(("Recorded from", "Composed from")) for shape in SHAPES.values())


@pytest.mark.django_db
@pytest.mark.parametrize("request_", REQUESTS)
def test_a_request_of_another_client_is_served_or_refused_by_name(
    request_: dict[str, Any], talker: Agent, key: str, model_server: Script
) -> None:
    body = request_["body"]
    answer: Any = Client().generic(
        request_["method"],
        request_["path"],
        json.dumps(body) if body else "",
        content_type="application/json",
        headers={**request_["headers"], "Authorization": f"Bearer {key}"},
    )
    assert answer.status_code == request_["status"], answer.content
    if request_["status"] != 200:
        assert answer.json()["error"]["param"] == request_["param"]
    elif body is None:
        assert "acme/talker" in [model["id"] for model in answer.json()["data"]]
    elif body.get("stream"):
        events = answer.getvalue().decode()
        assert "Hello." in events
        assert events.endswith("data: [DONE]\n\n")
        assert ('"total_tokens"' in events) == bool(body.get("stream_options"))
    else:
        assert answer.json()["choices"][0]["message"]["content"] == "Hello."


@pytest.mark.django_db
def test_a_client_that_asks_for_an_event_stream_gets_errors_as_json(talker: Agent, key: str) -> None:
    headers = {"Authorization": f"Bearer {key}", "Accept": "text/event-stream"}
    url, kind = "/v1/chat/completions", "application/json"
    assert Client().post(url, data="{}", content_type=kind, headers=headers).status_code == 400
    body = {"model": "acme/talker", "messages": [{"role": "user", "content": "Hello"}], "stream": True}
    answer: Any = Client().post(url, data=body, content_type=kind, headers=headers)
    assert answer.getvalue().endswith(b"data: [DONE]\n\n")
    refused = Client().post(url, data="a=b", content_type="application/x-www-form-urlencoded", headers=headers)
    assert refused.status_code == 415
    assert refused.json()["error"]["code"] == "unsupported_media_type"
