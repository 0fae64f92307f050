"""What goes wrong anywhere: no database, a crash, no CSRF token; a clear answer, and no text of anybody in it (X04)."""

import io
import json
import logging
import os
import subprocess
import sys
from typing import Any

import pytest
from django.test import Client
from structlog.stdlib import ProcessorFormatter

from accounts.models import User
from agents.models import Agent

WITHOUT_DATABASE = """
import json, django
django.setup()
from django.conf import settings
settings.ALLOWED_HOSTS = ["testserver"]
from django.test import Client
probe = Client(raise_request_exception=False)
client = Client(raise_request_exception=False, headers={"Authorization": "Bearer mp_0_0"})
client.cookies["sessionid"] = "abcdefghijklmnopqrstuvwxyz012345"
answers = {path: client.get(path) for path in ("/agents/", "/v1/models")}
answers |= {path: probe.get(path) for path in ("/readyz", "/healthz", "/login/")}
print(json.dumps({path: [answer.status_code, answer.content.decode()] for path, answer in answers.items()}))
"""


@pytest.mark.processes
def test_an_unreachable_database_is_a_503_that_says_so_and_never_a_hang() -> None:
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "DATABASE_URL": "postgresql://nobody@127.0.0.1:9/none",
    }

    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_DATABASE],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    answers: dict[str, list[Any]] = json.loads(done.stdout.splitlines()[-1])
    assert answers["/healthz"][0] == 200
    assert answers["/login/"][0] == 200
    assert answers["/readyz"][0] == 503
    assert json.loads(answers["/readyz"][1])["database"] == "cannot be reached"
    assert answers["/agents/"][0] == 503
    assert "The database cannot be reached" in answers["/agents/"][1]
    assert answers["/v1/models"][0] == 503
    assert json.loads(answers["/v1/models"][1])["error"]["type"] == "server_error"


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What the product's own handler writes."""
    product_handler = next(h for h in logging.getLogger().handlers if isinstance(h.formatter, ProcessorFormatter))
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(product_handler.formatter)
    monkeypatch.setattr(logging.getLogger(), "handlers", [handler])
    return written


@pytest.mark.django_db
def test_what_is_searched_for_is_not_logged(
    client_for: Any, owner: User, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, address = client_for(owner, raise_request_exception=False), "/agents/acme/guide/sessions/"
    assert client.get(address, {"q": "plantedword"}).status_code == 200
    assert client.get("/agents/acme/none/sessions/", {"q": "plantedword"}).status_code == 404
    monkeypatch.setattr("conversations.views.sessions_for", None)  # a crash
    assert client.get(address, {"q": "plantedword"}).status_code == 500
    assert f'"request": "GET {address}"' in log.getvalue()
    assert "plantedword" not in log.getvalue()


@pytest.mark.django_db
def test_a_crash_is_a_500_without_its_text_in_the_answer_or_the_log(
    client_for: Any, owner: User, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_arguments: object, **_more: object) -> None:
        raise ValueError("the secret text of a member")

    monkeypatch.setattr("agents.views.agents_for", crash)
    answer = client_for(owner, raise_request_exception=False).get("/agents/")
    assert answer.status_code == 500
    assert "Something went wrong" in answer.content.decode()
    assert "secret text" not in answer.content.decode()
    logged = log.getvalue()
    assert "builtins.ValueError" in logged
    assert "secret text" not in logged


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/nothing", "/v1/models"])
def test_c01_the_api_answers_in_its_own_shape_whatever_is_wrong_with_the_address(client: Client, path: str) -> None:
    for host, statuses in (("testserver", {401, 404}), ("evil.example", {400})):
        answer = client.get(path, headers={"host": host})
        assert answer.status_code in statuses
        assert set(answer.json()["error"]) == {"message", "type", "param", "code"}


@pytest.mark.django_db
def test_c01_a_crash_of_the_api_invites_nobody_to_repeat_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_arguments: object, **_more: object) -> None:
        raise ValueError("the secret text of a member")

    monkeypatch.setattr("accounts.authentication.principal_for", crash)
    client = Client(raise_request_exception=False, headers={"Authorization": "Bearer mp_0_0"})
    answer = client.get("/v1/models")
    assert (answer.status_code, answer.json()["error"]["type"]) == (500, "server_error")
    assert answer.json()["error"]["message"] == "It has been logged without any of your text."


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/login/", "/logout/", "/agents/acme/guide/memory/grant/"])
def test_i06_a_form_without_its_csrf_token_is_403_and_says_what_to_do(
    client_for: Any, owner: User, agent: Agent, path: str
) -> None:
    answer = client_for(owner, enforce_csrf_checks=True).post(path)
    assert answer.status_code == 403
    assert "copy what you typed, reload the page" in answer.content.decode()


@pytest.mark.django_db
def test_unknown_pages_are_404_and_name_nothing(client: Client) -> None:
    answer = client.get("/agents/acme/guide/nothing/")
    assert answer.status_code == 404
    assert "does not exist, or you may not see it" in answer.content.decode()
