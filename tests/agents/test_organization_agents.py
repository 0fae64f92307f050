"""Agents for owners and administrators: created, configured, and permissions handed out in a grid (I03, I04)."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.members import NotAllowed
from accounts.models import Membership, Organization, User
from accounts.services import remove_member
from agents.access import agents_for
from agents.models import Agent, Provider
from agents.permissions import CODENAMES, change_grants, grants_on
from agents.services import get_or_create_provider
from audit.models import AuditEvent
from tests import factories

pytestmark = pytest.mark.django_db
type ClientFor = Callable[..., Client]


@pytest.fixture
def ada(organization: Organization) -> User:
    return factories.make_member(organization, None, "ada@acme.example", name="Ada", role="admin")


def text(response: Any) -> str:
    return str(response.content.decode())


def url(name: str, *more: object) -> str:
    return reverse(name, args=["acme", *more])


def create(client: Client, **changes: str) -> Any:
    typed = {"name": "Helper", "slug": "helper", "provider": "offline", "model": "", "system_prompt": "Be\nkind."}
    return client.post(url("organization-agent-new"), typed | changes)


def configure(client: Client, **changes: str) -> Any:
    page = client.get(url("agent-settings", "guide"))
    typed = dict(page.context["form"].initial) | changes
    return client.post(url("agent-settings", "guide"), typed)


# --- create and configure ---------------------------------------------------------------------------------------------


def test_an_agent_is_created_without_the_command_line_and_its_creator_gives_herself_what_she_ticked(
    ada: User, client_for: ClientFor
) -> None:
    client = client_for(ada)
    assert "There is no agent yet" in text(client.get(url("organization-agents")))
    assert create(client, mine="on")["Location"] == url("organization-permissions", "helper")
    agent = Agent.objects.get()
    assert (agent.name, agent.system_prompt, agent.model) == ("Helper", "Be\nkind.", "offline-rules-1")
    assert agent.provider.kind == "offline"
    assert {name for _user, name in grants_on(agent, [ada.pk])} == {"agent:read", "agent:update", "agent:manage"}
    assert AuditEvent.objects.filter(action="permission.grant", actor_id=ada.pk, subject_user_id=ada.pk).count() == 3
    assert create(client, slug="second").status_code == 303
    assert not grants_on(Agent.objects.get(slug="second"), [ada.pk])
    page = text(client.get(url("organization-agents")))
    assert "acme/second" in page


def test_providers_are_those_that_an_operator_set_up(ada: User, client_for: ClientFor) -> None:
    provider = get_or_create_provider(kind="openai", base_url="http://127.0.0.1:9/v1", actor=None)
    client = client_for(ada)
    assert "http://127.0.0.1:9/v1" in text(client.get(url("organization-agent-new")))
    assert "Name a model" in text(create(client, provider=str(provider.pk)))
    assert create(client, provider=str(provider.pk), model="stub-1").status_code == 303
    assert Agent.objects.get().provider == provider
    for odd in (str(uuid.uuid4()), "http://evil.example"):
        assert create(client, slug="odd", provider=odd).status_code == 400
    assert Provider.objects.count() == 1


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"slug": "Guide Two"}, "Use lower-case letters"),
        ({"slug": "guide"}, "Another agent has this short name"),
        ({"name": "x" * 121}, "at most 120 are allowed"),
        ({"system_prompt": "x" * 100_001}, "at most 100000 are allowed"),
    ],
)
def test_a_bad_agent_is_refused_and_what_was_typed_stays(
    ada: User, agent: Agent, client_for: ClientFor, typed: dict[str, str], said: str
) -> None:
    response = create(client_for(ada), **typed)
    assert response.status_code == 400
    assert said in text(response)
    assert "Be\nkind." in text(response) or "system_prompt" in typed
    assert Agent.objects.count() == 1


def test_i03_settings_need_agent_manage_and_the_next_turn_uses_them(
    organization: Organization, agent: Agent, owner: User, ada: User, client_for: ClientFor
) -> None:
    max_ = factories.make_member(organization, agent, "max@acme.example", permissions=("agent:read", "agent:manage"))
    assert client_for(owner).get(url("agent-settings", "guide")).status_code == 403
    assert client_for(ada).get(url("agent-settings", "guide")).status_code == 404
    client = client_for(max_)
    assert "Saved" in text(configure(client, name="Guide 2", system_prompt="Be brief.").client.get(reverse("agents")))
    agent.refresh_from_db()
    assert (agent.name, agent.system_prompt, agent.model) == ("Guide 2", "Be brief.", "offline-rules-1")
    assert AuditEvent.objects.get(action="agent.update").actor_id == max_.pk
    assert configure(client).status_code == 303  # nothing changed, nothing recorded
    assert AuditEvent.objects.filter(action="agent.update").count() == 1
    assert configure(client, name="").status_code == 400


def test_settings_that_somebody_else_changed_meanwhile_are_not_overwritten_unseen(
    organization: Organization, agent: Agent, client_for: ClientFor
) -> None:
    max_ = factories.make_member(organization, agent, "max@acme.example", permissions=("agent:manage",))
    client = client_for(max_)
    typed = dict(client.get(url("agent-settings", "guide")).context["form"].initial) | {"system_prompt": "Mine."}
    configure(client, system_prompt="Theirs.")
    refused = client.post(url("agent-settings", "guide"), typed)
    assert refused.status_code == 409
    assert "Somebody changed these settings" in text(refused)
    assert "Theirs." in text(refused)
    assert "Mine." in text(refused)
    agent.refresh_from_db()
    assert agent.system_prompt == "Theirs."
    again = typed | {"seen": refused.context["form"].data["seen"]}
    assert client.post(url("agent-settings", "guide"), again).status_code == 303
    agent.refresh_from_db()
    assert agent.system_prompt == "Mine."


# --- permissions ------------------------------------------------------------------------------------------------------


def tick(client: Client, was: set[tuple[User, str]], has: set[tuple[User, str]]) -> Any:
    data = {
        name: [f"{user.pk}/{permission}" for user, permission in pairs] for name, pairs in (("was", was), ("has", has))
    }
    return client.post(url("organization-permissions", "guide"), data)


def test_i03_permissions_are_given_and_taken_in_the_grid_also_to_oneself_and_audited(
    agent: Agent, owner: User, ada: User, client_for: ClientFor
) -> None:
    client = client_for(ada)
    page = client.get(url("organization-permissions", "guide"))
    assert f'value="{owner.pk}/agent:read" checked' in " ".join(text(page).split())
    assert text(page).count('type="checkbox"') == 2 * len(CODENAMES)
    tick(client, {(owner, "agent:read"), (owner, "agent:update")}, {(owner, "agent:read"), (ada, "agent:manage")})
    assert grants_on(agent, [owner.pk, ada.pk]) == {(owner.pk, "agent:read"), (ada.pk, "agent:manage")}
    assert list(agents_for(ada, "agent:manage")) == [agent]
    events = AuditEvent.objects.filter(actor_id=ada.pk).order_by("id")
    assert [(event.action, event.subject_user_id, event.details) for event in events] == [
        ("permission.grant", ada.pk, {"permission": "agent:manage"}),
        ("permission.revoke", owner.pk, {"permission": "agent:update"}),
    ]


def test_what_others_changed_since_the_page_was_opened_stays(
    agent: Agent, owner: User, ada: User, client_for: ClientFor
) -> None:
    seen = {(owner, "agent:read"), (owner, "agent:update")}
    change_grants(agent=agent, given={(owner.pk, "memory:view")}, taken={(owner.pk, "agent:update")}, actor=ada)
    tick(client_for(ada), seen, seen | {(owner, "memory:manage")})
    names = {name for _user, name in grants_on(agent, [owner.pk])}
    assert names == {"agent:read", "memory:view", "memory:manage"}


def test_nobody_outside_the_organization_is_given_anything_and_nonsense_is_left_out(
    agent: Agent, owner: User, ada: User, stranger: User, client_for: ClientFor
) -> None:
    gone = factories.make_member(agent.organization, None, "gone@acme.example")
    remove_member(organization=agent.organization, user=gone)
    client = client_for(ada)
    tick(client, set(), {(stranger, "agent:read"), (gone, "agent:read"), (owner, "agents.operate")})
    client.post(url("organization-permissions", "guide"), {"has": ["x", "/agent:read", "\x00/agent:read", "1/2/3"]})
    assert not grants_on(agent, [stranger.pk, gone.pk])
    assert not AuditEvent.objects.filter(actor_id=ada.pk).exists()


def test_only_owners_and_administrators_hand_out_permissions_and_that_is_judged_again_in_the_service(
    agent: Agent, owner: User, ada: User, stranger: User, client_for: ClientFor
) -> None:
    assert client_for(owner).get(url("organization-permissions", "guide")).status_code == 403
    assert client_for(stranger).get(url("organization-permissions", "guide")).status_code == 404
    for actor in (owner, stranger):
        with pytest.raises(NotAllowed):
            change_grants(agent=agent, given={(actor.pk, "agent:manage")}, taken=(), actor=actor)
    Membership.objects.filter(user=ada).update(role="member")
    with pytest.raises(NotAllowed):
        change_grants(agent=agent, given={(ada.pk, "agent:manage")}, taken=(), actor=ada)


def test_the_grid_of_a_large_organization_comes_in_pages_that_fit_a_form(
    agent: Agent, organization: Organization, ada: User, client_for: ClientFor
) -> None:
    users = User.objects.bulk_create(
        User(email=f"u{number}@acme.example", name=f"U{number:03}") for number in range(60)
    )
    Membership.objects.bulk_create(Membership(organization=organization, user=user) for user in users)
    client = client_for(ada)
    first = client.get(url("organization-permissions", "guide"))
    assert text(first).count('type="checkbox"') == 50 * len(CODENAMES)
    assert "Page 1 of 2" in text(first)
    everything = {(user, name) for user in users[:49] for name in CODENAMES}
    assert tick(client, set(), everything).status_code == 303
    assert tick(client, everything, everything).status_code == 303  # 686 fields
    assert len(grants_on(agent, [user.pk for user in users])) == 49 * len(CODENAMES)
    assert text(client.get(url("organization-permissions", "guide") + "?page=2")).count("checkbox") == 11 * 7


def test_who_manages_an_agent_without_using_it_still_gets_to_its_pages_by_clicks(
    agent: Agent, organization: Organization, client_for: ClientFor
) -> None:
    manager = factories.make_member(organization, agent, "mia@acme.example", permissions=("agent:manage",))
    client = client_for(manager)
    listed = text(client.get("/agents/"))
    assert "/agents/acme/guide/settings/" in listed
    assert "/agents/acme/guide/chat/" not in listed
    tabs = text(client.get("/agents/acme/guide/settings/"))
    for name in ("extraction", "settings"):
        assert f'href="/agents/acme/guide/{name}/"' in tabs
    for name in ("chat", "sessions", "memory", "studio"):
        assert f'href="/agents/acme/guide/{name}/"' not in tabs
