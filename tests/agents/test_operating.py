"""C05: operators set up providers; a key is sealed, audited by its kind alone, and never sent to another address."""

import os
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.utils import timezone
from structlog.testing import capture_logs

from accounts.access import is_operator
from accounts.models import Organization, User
from agents import operating
from agents.models import Agent, Provider, ProviderState
from agents.operating import BadField, Key, ProviderInUse, Wanted, add_provider, change_provider, delete_provider
from agents.providers import model_for
from audit.models import AuditEvent
from encryption import rotation
from encryption.models import Secret
from encryption.services import forget_keys
from llm.client import ChatMessage, ChatRequest, ModelError
from tests import factories
from tests.stub_server import Script, serving

pytestmark = pytest.mark.django_db
WORD = "sk-planted-9f31"


def wanted(base_url: str = "http://127.0.0.1:9/v1", key: Key | None = None, **more: Any) -> Wanted:
    return Wanted(**{"name": "", "base_url": base_url, "timeout_seconds": 5, "key": key, **more})


def serve(provider: Provider, organization: Organization) -> Agent:
    agent = factories.make_agent(organization, "remote")
    Agent.objects.filter(pk=agent.pk).update(provider=provider)
    agent.refresh_from_db()
    return agent


def said(agent: Agent) -> str:
    """Ask the agent's model; return what it said, or the code of the failure."""
    try:
        model = model_for(Agent.objects.get(pk=agent.pk), attempts=1)
        return model.complete(ChatRequest("stub-1", (ChatMessage("user", "Hi"),))).text
    except ModelError as error:
        return error.code


def acts() -> list[tuple[str, dict[str, Any]]]:
    events = AuditEvent.objects.filter(action__startswith="provider.")
    return list(events.exclude(details={"kind": "offline"}).order_by("id").values_list("action", "details"))


def test_c05_a_secret_reaches_its_server_and_nothing_else(organization: Organization, model_server: Script) -> None:
    provider = add_provider(wanted=wanted(model_server.url, Key(secret=WORD)), actor=None)
    assert said(serve(provider, organization)) == "Hello."
    assert model_server.authorized == [f"Bearer {WORD}"]
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT row_to_json(t)::text FROM "{table}" t')
            assert not any(WORD in text or WORD.encode().hex() in text for (text,) in cursor.fetchall()), table


def test_c05_a_new_address_demands_the_key_again_and_the_old_one_is_not_sent_there(
    organization: Organization, model_server: Script
) -> None:
    provider = add_provider(wanted=wanted(model_server.url, Key(secret=WORD)), actor=None)
    agent = serve(provider, organization)
    with serving(Script()) as elsewhere:
        with pytest.raises(BadField) as refused:
            change_provider(provider=provider, wanted=wanted(elsewhere.url), actor=None)
        assert refused.value.field == "key"
        Provider.objects.filter(pk=provider.pk).update(
            base_url=elsewhere.url
        )  # past the service, as somebody with write access would
        assert said(agent) == "misconfigured"
        assert elsewhere.requests == []
        Provider.objects.filter(pk=provider.pk).update(base_url=model_server.url)
        change_provider(provider=provider, wanted=wanted(elsewhere.url, Key(secret="sk-other")), actor=None)
        assert said(agent) == "Hello."
        assert elsewhere.authorized == ["Bearer sk-other"]
    assert (Secret.objects.count(), model_server.requests) == (1, [])


def test_c05_a_new_address_demands_the_key_again_also_where_a_variable_holds_it() -> None:
    provider = add_provider(wanted=wanted(key=Key(variable="MODELS_API_KEY")), actor=None)
    with pytest.raises(BadField, match="not sent to it"):
        change_provider(provider=provider, wanted=wanted("http://127.0.0.1:10/v1"), actor=None)
    open_one = add_provider(wanted=wanted("http://127.0.0.1:11/v1", Key()), actor=None)
    moved = change_provider(provider=open_one, wanted=wanted("http://127.0.0.1:12/v1"), actor=None)
    assert (moved.key_source, moved.base_url) == ("none", "http://127.0.0.1:12/v1")


def test_c05_what_was_learned_of_a_server_is_forgotten_with_its_address() -> None:
    provider = add_provider(wanted=wanted(key=Key()), actor=None)
    ProviderState.objects.create(provider=provider, failures=9, open_until=timezone.now(), quirks={"x": "y"})
    change_provider(provider=provider, wanted=wanted(timeout_seconds=9), actor=None)
    assert ProviderState.objects.exists()
    change_provider(provider=provider, wanted=wanted("http://127.0.0.1:10/v1"), actor=None)
    assert not ProviderState.objects.exists()


def test_c05_a_key_is_replaced_by_another_secret_or_by_a_variable(
    organization: Organization, model_server: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = add_provider(wanted=wanted(model_server.url, Key(secret=WORD)), actor=None)
    agent = serve(provider, organization)
    monkeypatch.setenv("MODELS_API_KEY", "sk-from-outside")
    for key in (Key(secret="sk-second"), Key(variable="MODELS_API_KEY"), None, Key()):
        change_provider(provider=provider, wanted=wanted(model_server.url, key), actor=None)
        assert said(agent) == "Hello."
    sent = [str(text).removeprefix("Bearer ") for text in model_server.authorized]
    assert sent == ["sk-second", "sk-from-outside", "sk-from-outside", "none"]
    assert not Secret.objects.exists()


def test_c05_every_act_is_audited_and_none_tells_the_secret(organization: Organization, owner: User) -> None:
    provider = add_provider(wanted=wanted(key=Key(secret=WORD), name="Models"), actor=owner)
    same = wanted(name="Models")
    change_provider(provider=provider, wanted=same, actor=owner)
    change_provider(provider=provider, wanted=wanted(name="Others", timeout_seconds=9), actor=owner)
    change_provider(
        provider=provider, wanted=wanted(name="Others", timeout_seconds=9, key=Key(secret=WORD)), actor=owner
    )
    delete_provider(provider=provider, actor=owner)
    assert acts() == [
        ("provider.create", {"kind": "openai", "key": "secret"}),
        ("provider.update", {"changed": "name, timeout_seconds"}),
        ("provider.rotate_key", {"key": "secret"}),
        ("provider.delete", {"kind": "openai"}),
    ]
    assert WORD not in str(list(AuditEvent.objects.values()))
    assert not Secret.objects.exists()


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        ({"base_url": "ftp://models.example"}, "base_url"),
        ({"base_url": ""}, "base_url"),
        ({"base_url": "http://127.0.0.1/" + "x" * 400}, "base_url"),
        ({"base_url": "http://169.254.169.254/"}, "base_url"),
        ({"timeout_seconds": 0}, "timeout_seconds"),
        ({"timeout_seconds": 601}, "timeout_seconds"),
        ({"key": Key(variable="MEMORYPROJECT_SECRET_KEY")}, "variable"),
        ({"key": Key(variable="DATABASE_URL")}, "variable"),
        ({"key": Key(variable="models_api_key")}, "variable"),
        ({"key": Key(secret="two words")}, "secret"),
        ({"key": Key(secret="line\r\nHost: x")}, "secret"),
        ({"key": Key(secret="clé")}, "secret"),
        ({"key": Key(secret="x" * 501)}, "secret"),
    ],
)
def test_c05_what_cannot_be_used_is_refused_with_the_field_it_stands_in(bad: dict[str, Any], field: str) -> None:
    with pytest.raises(BadField) as refused:
        add_provider(wanted=wanted(**({"key": Key()} | bad)), actor=None)
    assert refused.value.field == field
    assert not Provider.objects.exists()
    assert not Secret.objects.exists()


def test_c05_the_same_server_is_set_up_once_and_two_accounts_of_it_are_two() -> None:
    add_provider(wanted=wanted(key=Key()), actor=None)
    with pytest.raises(BadField, match="There is a provider"):
        add_provider(wanted=wanted(key=Key()), actor=None)
    first, second = (add_provider(wanted=wanted(key=Key(secret=f"sk-{n}"), name=f"N{n}"), actor=None) for n in (1, 2))
    assert str(first) != str(second)
    with pytest.raises(BadField, match="There is a provider"):
        change_provider(provider=first, wanted=wanted(key=Key()), actor=None)
    first.refresh_from_db()
    assert first.key_source == "secret"


def test_the_database_refuses_two_keys_for_one_provider() -> None:
    provider = add_provider(wanted=wanted(key=Key(secret=WORD)), actor=None)
    with pytest.raises(IntegrityError), transaction.atomic():
        Provider.objects.filter(pk=provider.pk).update(api_key_env="MODELS_API_KEY")


def test_a_provider_that_agents_use_stays_and_one_of_deleted_agents_goes(organization: Organization) -> None:
    provider = add_provider(wanted=wanted(key=Key(secret=WORD)), actor=None)
    agent = serve(provider, organization)
    with pytest.raises(ProviderInUse) as refused:
        delete_provider(provider=provider, actor=None)
    assert refused.value.agents == ["acme/remote"]
    Agent.objects.filter(pk=agent.pk).update(deleted_at=timezone.now())
    delete_provider(provider=provider, actor=None)
    agent.refresh_from_db()
    assert agent.provider.kind == "offline"
    assert not Secret.objects.exists()


def test_c05_a_secret_that_cannot_be_opened_is_a_misconfiguration_and_logged_by_code(
    organization: Organization,
    model_server: Script,
    settings: Any,
) -> None:
    provider = add_provider(wanted=wanted(model_server.url, Key(secret=WORD)), actor=None)
    agent = serve(provider, organization)
    forget_keys()
    settings.KEYRING_JSON, settings.KEYRING_FILE = "", None
    with capture_logs() as logged:
        assert said(agent) == "misconfigured"
    codes = [entry["code"] for entry in logged if entry["event"] == "provider_secret_unavailable"]
    assert codes == ["keyring_missing"]
    assert WORD not in str(logged)
    assert model_server.requests == []


def test_the_right_to_set_up_providers_is_given_and_taken_and_audited(owner: User) -> None:
    assert not is_operator(owner)
    assert operating.set_operator(user=owner, allowed=True)
    assert not operating.set_operator(user=owner, allowed=True)
    assert is_operator(User.objects.get(pk=owner.pk))
    assert operating.set_operator(user=owner, allowed=False)
    assert not is_operator(User.objects.get(pk=owner.pk))
    call_command("operator_staff", owner.email.upper())
    call_command("operator_staff", owner.email, "--revoke")
    with pytest.raises(CommandError, match="no account"):
        call_command("operator_staff", "nobody@acme.example")
    recorded = AuditEvent.objects.filter(action__startswith="operator.").values_list("action", "subject_user_id")
    assert list(recorded.order_by("id")) == [("operator.grant", owner.pk), ("operator.revoke", owner.pk)] * 2


def test_c05_secrets_are_among_what_is_verified(organization: Organization) -> None:
    add_provider(wanted=wanted(key=Key(secret=WORD)), actor=None)
    assert rotation.verify_keys().secrets == 1
    assert "MODELS_API_KEY" not in os.environ
