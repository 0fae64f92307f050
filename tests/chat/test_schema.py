"""`GET /v1/schema` (C01) describes what the API takes and answers: schemathesis sends what it allows and what not."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.test import Client
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi import checks

from accounts.models import ApiKey, User
from agents.models import Agent
from chat import requests, shapes
from memoryproject.wsgi import application
from tests import factories

pytestmark = pytest.mark.django_db
EXAMPLES = 10  # for each address, of what is allowed and of what is not
CHECKS = [
    schemathesis.checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
    checks.response_headers_conformance,
]


@contextmanager
def one_connection() -> Iterator[None]:
    """Keep the test's connection open over requests, as Django's own test client does for its own."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def described(key: str) -> dict[str, Any]:
    answer = Client().get("/v1/schema", headers={"Authorization": f"Bearer {key}"})
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


def small(schema: Any) -> Any:
    """Return the schema with low upper bounds: long texts are tried elsewhere and take their time."""
    if isinstance(schema, list):
        return [small(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    lowered = {"maxLength": 40, "maxItems": 4, "maxProperties": 4}
    return {key: min(value, lowered[key]) if key in lowered else small(value) for key, value in schema.items()}


def test_it_names_each_address_and_asks_for_a_key(key: str) -> None:
    schema = described(key)
    assert schema["openapi"].startswith("3.1")
    operations = {(path, method) for path, methods in schema["paths"].items() for method in methods}
    assert operations == {
        ("/v1/chat/completions", "post"),
        ("/v1/models", "get"),
        ("/v1/models/{organization}/{agent}", "get"),
        ("/v1/schema", "get"),
        ("/v1/triggers/{surface}", "post"),
    }
    for path, method in operations:
        assert schema["paths"][path][method]["security"] == [{"apiKey": []}]
    assert Client().get("/v1/schema").status_code == 401


def test_it_has_each_parameter_that_is_read() -> None:
    read = {*requests.NUMBERS, *requests.WHOLE, *requests.WORDS, *requests.REFUSED, *requests.IGNORED}
    read |= {"model", "messages", "stream", "stream_options", "user", "metadata", "stop", "response_format"}
    assert set(shapes.CALL["properties"]) == read | {"logit_bias"}


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_what_schemathesis_sends_is_answered_as_described(agent: Agent, owner: User, key: str, mode: Any) -> None:
    schema = schemathesis.openapi.from_dict(small(described(key)))
    schema.app = application
    codes: Counter[int] = Counter()

    connector = factories.make_key(agent.organization, owner, scope=ApiKey.Scope.TRIGGERS)

    def run(case: Any) -> None:
        secret = connector if "triggers" in case.path else key
        if case.method == "POST" and isinstance(case.body, dict) and isinstance(case.body.get("agent"), str):
            case.body["agent"] = "acme/guide"
            if mode is GenerationMode.POSITIVE:  # texts of spaces alone count as missing, which no schema says
                case.body |= {"text": "Hello", "external_user": "U1", "thread": None, "email": None}
        if case.method == "POST" and isinstance(case.body, dict) and case.body.get("model"):
            if isinstance(case.body["model"], str):  # an empty one is what must be refused
                case.body["model"] = "acme/guide"
            if mode is GenerationMode.POSITIVE:
                case.body["messages"] = [*case.body["messages"][:20], {"role": "user", "content": "Hello"}]
        answer = case.call_and_validate(headers={"Authorization": f"Bearer {secret}"}, checks=CHECKS)
        if case.method == "POST":
            codes[answer.status_code] += 1
            # A parameter may be right and still more than the agent's model can do: rules write no JSON.
            by_model = answer.status_code == 400 and answer.json()["error"]["code"] == "refused_request"
            refused = answer.status_code in (400, 401, 403) and not by_model
            assert not refused or mode is GenerationMode.NEGATIVE, (case.body, case.headers, answer.text)

    sparing = settings(
        max_examples=EXAMPLES, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    with one_connection():
        operations: list[Any] = list(schema.get_all_operations())
        for operation in operations:
            attempt: Any = given(operation.ok().as_strategy(generation_mode=mode))
            untyped: Any = sparing
            untyped(attempt(run))()
    # What must be refused is not always in the request: the key that it breaks is put right above.
    assert codes[200] if mode is GenerationMode.POSITIVE else codes[400] > codes[200], codes
