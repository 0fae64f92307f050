"""C05: the operators' pages: who may see them, what they say of a provider, and that no key is ever in them."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Organization, User
from agents import trial
from agents.models import Agent, Provider, ProviderState
from agents.operating import Key, Wanted, add_provider, set_operator
from audit.models import AuditEvent
from encryption.models import Secret
from tests import factories
from tests.stub_server import Script

pytestmark = pytest.mark.django_db
WORD = "sk-planted-9f31"
LIST = "/operator/providers/"


@pytest.fixture
def operator(db: None, client_for: Callable[..., Client]) -> Client:
    user = factories.make_user("olga@support.example", name="Olga")
    set_operator(user=user, allowed=True)
    return client_for(User.objects.get(pk=user.pk))


@pytest.fixture
def provider(model_server: Script) -> Provider:
    wanted = Wanted(name="Models", base_url=model_server.url, timeout_seconds=5, key=Key(secret=WORD))
    return add_provider(wanted=wanted, actor=None)


@pytest.fixture
def remote(organization: Organization, provider: Provider) -> Agent:
    agent = factories.make_agent(organization, "remote")
    Agent.objects.filter(pk=agent.pk).update(provider=provider, model="stub-1")
    return agent


def address(provider: Provider, name: str = "provider") -> str:
    return reverse(name, args=[provider.pk])


def typed(provider: Provider, **more: str) -> dict[str, str]:
    return {"name": "Models", "base_url": provider.base_url, "timeout_seconds": "5", "key": "keep", **more}


def said(response: Any) -> str:
    text: str = response.content.decode()
    assert WORD not in text
    return text


def acts() -> list[str]:
    return list(
        AuditEvent.objects.filter(action__startswith="provider.").order_by("id").values_list("action", flat=True)
    )


def test_the_list_shows_each_provider_its_state_and_the_agents_that_use_it(
    operator: Client, provider: Provider, remote: Agent
) -> None:
    ProviderState.objects.create(provider=provider, failures=5, last_code="timeout")
    ProviderState.objects.filter(provider=provider).update(open_until=timezone.now() + timedelta(minutes=5))
    page = said(operator.get(LIST))
    for text in ("Models", provider.base_url, "Encrypted here", "acme/remote", "Not called before", "timeout"):
        assert text in page
    assert operator.get(LIST)["Cache-Control"].startswith("max-age=0")
    assert address(provider) in page


@pytest.mark.parametrize("who", ["owner", "staff", "anonymous"])
def test_nobody_else_learns_that_the_pages_exist(
    who: str, owner: User, provider: Provider, client_for: Callable[..., Client]
) -> None:
    staff = factories.make_user("tom@support.example", staff=True)
    client = Client() if who == "anonymous" else client_for({"owner": owner, "staff": staff}[who])
    for path in (LIST, f"{LIST}add/", address(provider), address(provider, "provider-delete")):
        answer = client.get(path)
        assert answer.status_code == (302 if who == "anonymous" else 404)
    before = Provider.objects.get(pk=provider.pk).base_url
    client.post(address(provider), typed(provider, name="Mine"))
    client.post(address(provider, "provider-delete"))
    assert Provider.objects.get(pk=provider.pk).base_url == before
    assert set(acts()) == {"provider.create"}


def test_a_provider_is_added_tested_used_and_its_key_replaced(
    operator: Client, organization: Organization, model_server: Script
) -> None:
    form = {"name": "Models", "base_url": model_server.url, "timeout_seconds": "9", "key": "secret", "secret": WORD}
    answer = operator.post(f"{LIST}add/", form, follow=True)
    provider = Provider.objects.get(kind="openai")
    assert (provider.timeout_seconds, provider.key_source) == (9, "secret")
    assert "is set up" in said(answer)
    assert "It works" in said(operator.post(address(provider, "provider-test"), {"model": "stub-1"}))
    answer = operator.post(address(provider), typed(provider, key="secret", secret="sk-second"), follow=True)
    assert "Saved." in said(answer)
    operator.post(address(provider, "provider-test"), {"model": "stub-1"})
    assert model_server.authorized == [f"Bearer {WORD}", "Bearer sk-second"]
    assert acts()[-5:] == [
        "provider.create",
        "provider.test",
        "provider.update",
        "provider.rotate_key",
        "provider.test",
    ]
    assert WORD not in str(list(AuditEvent.objects.values()))


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        ({"base_url": "ftp://models.example"}, "must be an http(s) URL"),
        ({"base_url": "http://127.0.0.1:9/v1"}, "choose its key again"),
        ({"timeout_seconds": "soon"}, "whole number of seconds from 1 to 600"),
        ({"timeout_seconds": "9" * 50}, "whole number of seconds from 1 to 600"),
        ({"name": "x" * 81}, "at most 80"),
        ({"name": "a\x00b"}, "NUL"),
        ({"key": "secret"}, "Paste the key"),
        ({"key": "secret", "secret": "two words"}, "without spaces"),
        ({"key": "environment"}, "Type the name"),
        ({"key": "environment", "variable": "MEMORYPROJECT_SECRET_KEY"}, "end with _API_KEY"),
        ({"key": ""}, "Choose where the key comes from"),
    ],
)
def test_what_cannot_be_used_is_said_and_what_was_typed_is_kept_except_the_key(
    operator: Client, provider: Provider, bad: dict[str, str], problem: str
) -> None:
    form = typed(provider, **({"name": "Typed here"} | bad))
    answer = operator.post(address(provider), form)
    assert answer.status_code == 400
    page = said(answer)
    assert problem in page
    assert 'aria-invalid="true"' in page or bad.get("key") == "" or "choose its key" in problem
    if "name" not in bad:
        assert 'value="Typed here"' in page
    assert "two words" not in page
    provider.refresh_from_db()
    assert provider.name == "Models"
    assert Secret.objects.count() == 1


def test_who_saves_later_is_told_and_replaces_nothing_unseen(operator: Client, provider: Provider) -> None:
    def seen(response: Any) -> str:
        return said(response).split('name="seen" value="')[1].split('"')[0]

    page = address(provider)
    first = seen(operator.get(page))
    assert operator.post(page, typed(provider, timeout_seconds="30", seen=first)).status_code == 303
    refused = operator.post(page, typed(provider, name="Mine", timeout_seconds="x", seen=first))
    assert (refused.status_code, seen(refused)) == (400, first)  # a mistake does not make it up to date
    refused = operator.post(page, typed(provider, name="Mine", seen=first))
    assert refused.status_code == 409
    assert "Somebody changed this provider while you did" in said(refused)
    assert 'value="Mine"' in said(refused)
    provider.refresh_from_db()
    assert (provider.name, provider.timeout_seconds) == ("Models", 30)
    assert operator.post(page, typed(provider, name="Mine", seen=seen(refused))).status_code == 303
    provider.refresh_from_db()
    assert (provider.name, provider.timeout_seconds) == ("Mine", 5)


@pytest.mark.parametrize("page", ["provider", "provider-delete"])
def test_what_was_deleted_at_the_same_moment_is_not_found(
    operator: Client, provider: Provider, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    def deleted_since(*_arguments: object, **_more: object) -> Provider:
        return Provider(pk=uuid.uuid4(), kind="openai", base_url=provider.base_url)

    monkeypatch.setattr("agents.provider_pages.get_object_or_404", deleted_since)
    assert operator.post(address(provider, page), typed(provider)).status_code == 404


def test_a_key_that_cannot_be_encrypted_now_changes_nothing(
    operator: Client, provider: Provider, settings: Any
) -> None:
    settings.KEYRING_JSON, settings.KEYRING_FILE = "", None
    answer = operator.post(address(provider), typed(provider, key="secret", secret=WORD))
    assert answer.status_code == 503
    assert "keyring_missing" in said(answer)


@pytest.mark.parametrize("model", ["stub-1", ""])
@pytest.mark.parametrize(
    ("scripted", "text"),
    [
        (401, "refuses the key"),
        (403, "refuses the key"),
        (404, "refuses the request"),
        (429, "asked too often"),
        (500, "a fault of its own"),
        ({"status": 502, "body": "<html>Bad gateway</html>", "headers": {"Content-Type": "text/html"}}, "of its own"),
        ({"body": "<html>Welcome!</html>", "headers": {"Content-Type": "text/html"}}, "not in OpenAI"),
        ({"body": "[]"}, "not in OpenAI"),
        ({"body": '{"object": "list"}'}, "not in OpenAI"),
        ({"body": "x" * 5_000_000}, "megabytes"),
        ({"text": "OK", "delay": 2}, "did not answer in time"),
        ({"drop": True}, "Nothing answers"),
    ],
)
def test_a_trial_says_what_is_wrong_and_nothing_of_what_came(
    operator: Client, provider: Provider, model_server: Script, monkeypatch: Any, scripted: Any, text: str, model: str
) -> None:
    if "time" in text:
        monkeypatch.setattr(trial, "LONGEST", 0.5)
    model_server.answers = model_server.lists = [scripted]
    page = said(operator.post(address(provider, "provider-test"), {"model": model}))
    assert text in page
    for raw in ("scripted", "Welcome", "Bad gateway", "xxxxxxxxxx"):
        assert raw not in page
    event = AuditEvent.objects.filter(action="provider.test").get()
    assert event.details["code"] != "works"
    assert f'value="{model}"' in page


def test_a_trial_of_the_list_of_models_counts_them(operator: Client, provider: Provider, model_server: Script) -> None:
    model_server.lists = [{"body": {"object": "list", "data": [{"id": "a"}, {"id": "b"}]}}]
    page = said(operator.post(address(provider, "provider-test"), {"model": ""}))
    assert "offers 2 models" in page
    assert model_server.authorized == [f"Bearer {WORD}"]


def test_a_trial_of_a_refused_address_and_of_a_missing_key_sends_nothing(
    operator: Client, provider: Provider, model_server: Script, monkeypatch: Any
) -> None:
    Provider.objects.filter(pk=provider.pk).update(secret=None, base_url="http://169.254.169.254/v1")
    assert "may not be called" in said(operator.post(address(provider, "provider-test"), {"model": "m"}))
    Provider.objects.filter(pk=provider.pk).update(base_url=model_server.url, api_key_env="UNSET_API_KEY")
    assert "no usable key" in said(operator.post(address(provider, "provider-test"), {"model": "m"}))
    assert model_server.requests == []


def test_a_trial_that_works_closes_the_breaker_and_is_made_although_it_is_open(
    operator: Client, provider: Provider
) -> None:
    ProviderState.objects.create(provider=provider, failures=9, open_until=timezone.now() + timedelta(minutes=9))
    assert "It works" in said(operator.post(address(provider, "provider-test"), {"model": "stub-1"}))
    assert ProviderState.objects.get().open_until is None


def test_a_provider_in_use_is_not_deleted_and_the_page_names_its_agents(
    operator: Client, provider: Provider, remote: Agent
) -> None:
    answer = operator.post(address(provider, "provider-delete"))
    assert answer.status_code == 409
    assert "acme/remote" in said(answer)
    Agent.objects.filter(pk=remote.pk).update(deleted_at=timezone.now())
    assert operator.post(address(provider, "provider-delete")).status_code == 303
    assert not Provider.objects.filter(pk=provider.pk).exists()
    assert not Secret.objects.exists()


def test_the_offline_rules_are_shown_and_have_nothing_to_change_or_test(operator: Client, agent: Agent) -> None:
    page = said(operator.get(address(agent.provider)))
    assert "Offline rules" in page
    assert 'name="secret"' not in page
    assert operator.post(address(agent.provider), {"key": "none"}).status_code == 404
    assert operator.post(address(agent.provider, "provider-test")).status_code == 404
