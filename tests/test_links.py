"""Every page is reached by clicks from the first one, and no page links to one that is not there (I04, chapter 11)."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Final
from urllib.parse import parse_qs, urljoin, urlsplit

import pytest
from django.contrib.auth.models import Permission
from django.http import HttpResponse
from django.test import Client
from django.urls import resolve
from django.utils import timezone

from accounts.models import Organization, User
from agents.models import Agent
from agents.services import get_or_create_provider
from consent.scope import Scope
from extraction import runs
from tests import factories

pytestmark = pytest.mark.django_db
type ClientFor = Callable[..., Client]
MOST: Final = 400  # pages of one person; far more than there are kinds of them

EVERYBODY: Final = frozenset(
    {"agents", "organizations", "settings", "password", "keys", "conversations-download", "audit"}
)
OF_A_MEMBER: Final = EVERYBODY | {"organization", "organization-leave"}
OF_WHO_USES_AN_AGENT: Final = OF_A_MEMBER | {
    *("chat", "chat-session", "sessions", "session", "session-delete"),
    *("memory", "memory-history", "memory-prompt", "memory-withdraw", "memory-edit", "memory-delete", "key-revoke"),
}
OF_A_MANAGER: Final = OF_A_MEMBER | {
    *("chat", "sessions", "memory", "memory-history", "memory-prompt"),
    *("studio", "extraction", "agent-settings", "agent-delete"),
}
OF_AN_ADMINISTRATOR: Final = OF_A_MEMBER | {
    *("organization-role", "organization-remove", "organization-invitations", "organization-keys"),
    *("organization-key-revoke", "organization-agents", "organization-agent-new", "organization-permissions"),
    *("guardrails", "organization-transcripts"),
}
OF_AN_OWNER: Final = OF_AN_ADMINISTRATOR | {"organization-transfer", "organization-delete"}
OF_AN_OPERATOR: Final = EVERYBODY | {
    *("organization-new", "providers", "provider-add", "provider", "provider-delete", "operator-start"),
    *("admin:index",),
}
OF_SUPPORT: Final = EVERYBODY | {
    *("admin:index", "admin:lifecycle_supportperson_changelist"),  # which lists nobody before a search
    *("admin:lifecycle_supportorganization_changelist", "admin:lifecycle_supportagent_changelist"),
    *("admin:lifecycle_supportevent_changelist", "admin:lifecycle_supportrun_changelist"),
    *("admin:lifecycle_deletion_changelist", "admin:lifecycle_retentionreport_changelist"),
    *("admin:lifecycle_queuehealth_changelist",),
}


class Links(HTMLParser):
    """Collects the addresses of a page's links."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a" and (address := dict(attrs).get("href")):
            self.found.append(address)


@dataclass
class Walk:
    """What a walk along the links came to: names of addresses, and what was wrong."""

    names: set[str] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)


def kind_of(address: str) -> tuple[str, ...]:
    """Return what makes an address worth a visit: its path, and which parameters it has, whatever their values."""
    parts = urlsplit(address)
    return parts.path, *sorted(parse_qs(parts.query, keep_blank_values=True))


def walk(get: Callable[[str], tuple[int, str, str]]) -> Walk:
    """Follow every link from the first page on; `get` returns status, place of a redirect, and the page."""
    done, seen, waiting = Walk(), {kind_of("/")}, deque([("/", "")])
    while waiting and len(seen) < MOST:
        address, source = waiting.popleft()
        status, place, html = get(address)
        if status >= 400:
            done.wrong.append(f"{status} {address}, linked from {source}")
            continue
        done.names.add(resolve(urlsplit(address).path).view_name)
        page = Links()
        page.feed(html)
        for link in [place, *page.found]:
            found = urljoin(address, link).partition("#")[0]
            if link and not urlsplit(found).netloc and kind_of(found) not in seen:
                seen.add(kind_of(found))
                waiting.append((found, address))
    return done


def walk_as(client: Client) -> Walk:
    def get(address: str) -> tuple[int, str, str]:
        answer = client.get(address)
        html = answer.content.decode() if isinstance(answer, HttpResponse) else ""
        return answer.status_code, answer.headers.get("Location", ""), html

    return walk(get)


@pytest.fixture
def world(organization: Organization, owner: User, agent: Agent) -> Agent:
    """An agent whose member Ana has consented, said something, is remembered, and has an API key."""
    scope = Scope(organization.pk, owner.pk, agent.pk)
    factories.grant(scope, owner)
    factories.make_fact(scope)
    turn, _message = factories.make_turn(factories.make_session(agent, owner), "I live in Porto.")
    runs.schedule(turn, now=timezone.now())
    factories.make_key(organization, owner)
    return agent


def staff(codename: str) -> User:
    user = factories.make_user(f"{codename}@ops.example", staff=True)
    user.user_permissions.add(Permission.objects.get(codename=codename))
    return user


@pytest.mark.parametrize(
    ("role", "permissions", "expected"),
    [
        ("member", ("agent:read", "agent:manage"), OF_A_MANAGER),
        ("member", ("agent:manage",), OF_A_MEMBER | {"agent-settings", "extraction"}),
        ("member", (), OF_A_MEMBER),
        ("admin", (), OF_AN_ADMINISTRATOR),
        ("owner", (), OF_AN_OWNER),
    ],
)
def test_whoever_belongs_to_an_organization_reaches_by_clicks_what_she_may_open(
    world: Agent, client_for: ClientFor, role: str, permissions: tuple[str, ...], expected: frozenset[str]
) -> None:
    person = factories.make_member(world.organization, world, "pia@acme.example", role=role, permissions=permissions)
    found = walk_as(client_for(person))
    assert found.wrong == []
    assert expected - found.names == set()


def test_a_member_reaches_her_conversations_memory_and_keys_by_clicks(
    world: Agent, owner: User, client_for: ClientFor
) -> None:
    found = walk_as(client_for(owner))
    assert found.wrong == []
    assert OF_WHO_USES_AN_AGENT - found.names == set()


@pytest.mark.parametrize(("codename", "expected"), [("operate", OF_AN_OPERATOR), ("delete_subject", OF_SUPPORT)])
def test_operators_and_support_reach_their_pages_by_clicks(
    world: Agent, client_for: ClientFor, codename: str, expected: frozenset[str]
) -> None:
    get_or_create_provider(kind="openai", base_url="http://127.0.0.1:9/v1", actor=None)
    found = walk_as(client_for(staff(codename)))
    assert found.wrong == []
    assert expected - found.names == set()
