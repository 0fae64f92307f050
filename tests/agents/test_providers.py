"""C05: a provider's address leads to the public internet over https, unless the deployment allows private ones."""

import socket

import pytest
from django.db import IntegrityError, transaction
from pytest_django.fixtures import Settings

from accounts.models import Organization
from agents.addresses import BadProvider, check_address
from agents.models import Agent, Provider
from agents.providers import model_for
from agents.services import get_or_create_provider, save_agent
from audit.models import AuditEvent
from llm.client import ModelError
from llm.offline import OfflineModel
from tests.factories import make_agent

PUBLIC = "https://93.184.215.14/v1"


@pytest.fixture
def strict(settings: Settings) -> Settings:
    settings.ALLOW_PRIVATE_PROVIDERS = False
    return settings


def resolve_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    def answers(*args: object, **kwargs: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", answers)


@pytest.mark.parametrize("address", [PUBLIC, "https://8.8.8.8:8443", "https://[2606:4700:4700::1111]/v1"])
def test_c05_a_public_https_address_is_accepted(strict: Settings, address: str) -> None:
    check_address(address)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.1.2.3",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "192.0.2.1",
        "192.0.0.8",
        "192.88.99.1",
        "[3fff::1]",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "127.1",
        "localhost",
        "[::1]",
        "[::]",
        "[fe80::1]",
        "[fe80::1%251]",
        "[fc00::1]",
        "[fd00:ec2::254]",
        "[ff02::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::ffff:169.254.169.254]",
        "[::ffff:224.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b::a9fe:a9fe]",
        "[2002:7f00:1::]",
        "[2001:db8::1]",
    ],
)
def test_c05_an_address_that_is_not_public_is_refused(strict: Settings, host: str) -> None:
    with pytest.raises(BadProvider):
        check_address(f"https://{host}/v1")


def test_c05_a_name_is_judged_by_all_that_it_resolves_to(strict: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    for addresses in (["10.0.0.1"], ["93.184.215.14", "10.0.0.1"], ["::1"], ["fe80::1%eth0"]):
        resolve_to(monkeypatch, *addresses)
        with pytest.raises(BadProvider, match="private network"):
            check_address("https://models.example/v1")
    resolve_to(monkeypatch, "93.184.215.14", "64:ff9b::5db8:d70e", "::ffff:93.184.215.14")
    check_address("https://models.example/v1")


def test_c05_a_name_that_does_not_resolve_is_refused(strict: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: object, **kwargs: object) -> None:
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", fails)
    with pytest.raises(BadProvider, match="cannot be resolved"):
        check_address("https://models.example")


NO_ADDRESS = [
    "",
    "models.example/v1",
    "//models.example",
    "https://",
    "https:///v1",
    "ftp://93.184.215.14/",
    "file:///etc/passwd",
    "gopher://93.184.215.14/",
    "https://user@93.184.215.14/",
    "https://user:password@93.184.215.14/",
    "https://:password@93.184.215.14/",
    "https://@93.184.215.14/",
    "https://93.184.215.14/?key=1",
    "https://93.184.215.14/?",
    "https://93.184.215.14/#",
    "https://93.184.215.14:99999/",
    "https://93.184.215.14:port/",
    "https://93.184.215.14:0/v1",
    "https://93.184.215.14/v1 beta",
    "https://[::1/",
    "https://[::zz]/",
]


@pytest.mark.parametrize("allowed", [False, True])
@pytest.mark.parametrize("address", NO_ADDRESS)
def test_c05_what_is_no_plain_address_is_refused_always(settings: Settings, address: str, allowed: bool) -> None:
    settings.ALLOW_PRIVATE_PROVIDERS = allowed
    with pytest.raises(BadProvider):
        check_address(address)


def test_c05_plain_http_needs_the_deployments_leave(strict: Settings) -> None:
    with pytest.raises(BadProvider, match="MEMORYPROJECT_ALLOW_PRIVATE_PROVIDERS"):
        check_address("http://93.184.215.14/v1")


@pytest.mark.parametrize("address", ["http://127.0.0.1:9999/v1", "http://[::1]:9999", "https://10.0.0.1"])
def test_c05_the_deployment_may_allow_private_addresses(settings: Settings, address: str) -> None:
    settings.ALLOW_PRIVATE_PROVIDERS = True
    check_address(address)


@pytest.mark.django_db
def test_c05_a_refused_address_is_not_stored(strict: Settings) -> None:
    with pytest.raises(BadProvider):
        get_or_create_provider(kind="openai", base_url="https://127.0.0.1/v1", actor=None)
    assert not Provider.objects.exists()
    assert not AuditEvent.objects.exists()


@pytest.mark.django_db
def test_c05_the_same_provider_is_made_once_and_audited_once(strict: Settings) -> None:
    made = [get_or_create_provider(kind="openai", base_url=PUBLIC, api_key_env="KEY", actor=None) for _ in range(2)]
    assert made[0] == made[1]
    assert AuditEvent.objects.get().action == "provider.create"
    assert "KEY" not in str(AuditEvent.objects.values())


@pytest.mark.django_db
def test_c05_an_offline_provider_has_no_address() -> None:
    provider = get_or_create_provider(kind="offline", base_url="https://93.184.215.14", api_key_env="KEY", actor=None)
    assert (provider.base_url, provider.api_key_env) == ("", "")
    for broken in ({"kind": "offline", "base_url": PUBLIC}, {"kind": "openai"}, {"kind": "other"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Provider.objects.create(**broken)


@pytest.mark.django_db
def test_c05_the_agents_model_is_the_configured_one(organization: Organization, agent: Agent) -> None:
    assert isinstance(model_for(agent), OfflineModel)
    remote = make_agent(organization, "remote", base_url="http://127.0.0.1:9/v1")
    assert not isinstance(model_for(remote), OfflineModel)


@pytest.mark.django_db
def test_c05_an_address_that_became_private_or_a_missing_key_is_a_misconfiguration(
    organization: Organization, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = make_agent(organization, "remote", base_url="http://127.0.0.1:9/v1")
    settings.ALLOW_PRIVATE_PROVIDERS = False
    with pytest.raises(ModelError) as refused:
        model_for(remote)
    assert (refused.value.code, refused.value.retryable) == ("misconfigured", False)
    settings.ALLOW_PRIVATE_PROVIDERS = True
    remote.provider.api_key_env = "MEMORYPROJECT_TEST_KEY"
    monkeypatch.delenv("MEMORYPROJECT_TEST_KEY", raising=False)
    with pytest.raises(ModelError, match="misconfigured"):
        model_for(remote)
    monkeypatch.setenv("MEMORYPROJECT_TEST_KEY", "secret")
    assert model_for(remote)


@pytest.mark.django_db
def test_saving_an_agent_unchanged_is_not_audited_and_a_change_is(organization: Organization, agent: Agent) -> None:
    same = make_agent(organization, agent.slug)
    assert same == agent
    changed = make_agent(organization, agent.slug, system_prompt="Be brief.")
    assert (changed.pk, changed.system_prompt) == (agent.pk, "Be brief.")
    acts = AuditEvent.objects.filter(agent_id=agent.pk).order_by("id").values_list("action", flat=True)
    assert list(acts) == ["agent.create", "agent.update"]
    assert "brief" not in str(AuditEvent.objects.values())


@pytest.mark.django_db
def test_an_agent_is_saved_with_clean_text(organization: Organization, agent: Agent) -> None:
    saved = save_agent(
        organization=organization,
        slug="second",
        name="Cafe\u0301",
        system_prompt="One.\r\nTwo.",
        provider=agent.provider,
        model="stub-1",
        actor=None,
    )
    assert (saved.name, saved.system_prompt, saved.public_name) == ("Café", "One.\nTwo.", "acme/second")
