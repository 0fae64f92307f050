"""Writes to agents and providers; each in one transaction with its audit row."""

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from accounts.members import lock_and_administer
from accounts.models import Organization, User
from agents.addresses import check_address
from agents.models import Agent, Provider
from agents.permissions import grant, remove_grants_on
from audit.services import record
from screening.text import clean_text

MAX_SYSTEM_PROMPT = 100_000  # characters
OFFLINE_MODEL = "offline-rules-1"
_CONFIGURATION = ("name", "system_prompt", "provider_id", "model")


class SlugTaken(Exception):
    """A live agent of the organization has this short name."""


class ChangedMeanwhile(Exception):
    """The agent's configuration is not the one that was looked at."""


@transaction.atomic
def get_or_create_provider(*, kind: str, base_url: str = "", api_key_env: str = "", actor: User | None) -> Provider:
    """Return the provider with this address and key name. Raises BadProvider for an address that may not be used."""
    if kind == Provider.Kind.OPENAI:
        check_address(base_url)
    else:
        base_url = api_key_env = ""
    provider, created = Provider.objects.get_or_create(
        kind=kind, base_url=base_url, api_key_env=api_key_env, secret=None
    )
    if created:
        record("provider.create", actor=actor, object_id=provider.id, details={"kind": kind})
    return provider


@transaction.atomic
def save_agent(
    *,
    organization: Organization,
    slug: str,
    name: str,
    system_prompt: str,
    provider: Provider,
    model: str,
    actor: User | None,
) -> Agent:
    """Create the organization's agent of this slug, or change it."""
    values = _values(name, system_prompt, provider, model)
    agent = (
        Agent.objects.select_for_update(no_key=True)
        .filter(organization=organization, slug=slug, deleted_at__isnull=True)
        .first()
    )
    if agent is not None:
        _change(agent, values, actor)
        return agent
    agent = Agent.objects.create(organization=organization, slug=slug, **values)
    record("agent.create", actor=actor, organization_id=organization.pk, agent_id=agent.pk)
    return agent


@transaction.atomic
def create_agent(
    *,
    organization: Organization,
    slug: str,
    name: str,
    system_prompt: str,
    provider: Provider | None,
    model: str,
    actor: User,
    permissions: Iterable[str] = (),
) -> Agent:
    """Create an agent as owner or administrator, who receives `permissions` on it.

    Without a provider it runs on the offline rules. Raises NotAllowed or SlugTaken.
    """
    lock_and_administer(organization, actor)
    values = _values(name, system_prompt, provider or _offline(actor), model)
    try:
        with transaction.atomic():
            agent: Agent = Agent.objects.create(organization=organization, slug=slug, **values)
    except IntegrityError:
        raise SlugTaken from None
    record("agent.create", actor=actor, organization_id=organization.pk, agent_id=agent.pk)
    for permission in permissions:
        grant(agent=agent, user=actor, permission=permission, actor=actor)
    return agent


@transaction.atomic
def configure_agent(
    *, agent: Agent, name: str, system_prompt: str, provider: Provider | None, model: str, seen: str, actor: User
) -> None:
    """Change an agent's configuration (I03) that was looked at as `seen`. Raises ChangedMeanwhile."""
    row = Agent.objects.live().select_for_update(no_key=True, of=("self",)).filter(pk=agent.pk).first()
    if row is None or fingerprint(row) != seen:
        raise ChangedMeanwhile
    _change(row, _values(name, system_prompt, provider or _offline(actor), model), actor)


def _offline(actor: User) -> Provider:
    """Return the offline rules, which need no operator."""
    return get_or_create_provider(kind=Provider.Kind.OFFLINE, actor=actor)


def fingerprint(agent: Agent) -> str:
    """Return what tells two configurations of an agent apart."""
    text = json.dumps([str(getattr(agent, name)) for name in _CONFIGURATION])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _values(name: str, system_prompt: str, provider: Provider, model: str) -> dict[str, Any]:
    return {
        "name": clean_text(name, max_length=120, single_line=True),
        "system_prompt": clean_text(system_prompt, max_length=MAX_SYSTEM_PROMPT, allow_empty=True),
        "provider": provider,
        "model": clean_text(model, max_length=200, single_line=True),
    }


def _change(agent: Agent, values: dict[str, Any], actor: User | None) -> None:
    changed = [name for name, value in values.items() if getattr(agent, name) != value]
    if not changed:
        return
    for field in changed:
        setattr(agent, field, values[field])
    agent.save(update_fields=changed)
    record("agent.update", actor=actor, organization_id=agent.organization_id, agent_id=agent.pk)


@transaction.atomic
def soft_delete_agent(*, agent: Agent, now: datetime, actor: User | None, reason: str = "", surface: str = "") -> int:
    """Mark an agent as deleted and remove the grants on it; return how many. A deleted one is left as it is.

    Its memory is the business of `lifecycle`, its conversations stay with the organization.
    """
    row = Agent.objects.select_for_update(no_key=True).get(pk=agent.pk)
    if row.deleted_at is not None:
        return 0
    row.deleted_at = now
    row.save(update_fields=["deleted_at"])
    grants = remove_grants_on(row.pk)
    record(
        "agent.delete",
        actor=actor,
        organization_id=row.organization_id,
        agent_id=row.pk,
        reason=reason,
        surface=surface,
        details={"grants": grants},
    )
    return grants


@transaction.atomic
def set_tools_enabled(*, agent: Agent, enabled: bool, actor: User) -> None:
    """Let an agent use tools in its turns, or no longer (C08)."""
    row = Agent.objects.select_for_update(no_key=True).get(pk=agent.pk)
    if row.tools_enabled != enabled:
        row.tools_enabled = enabled
        row.save(update_fields=["tools_enabled"])
        details = {"tools_enabled": enabled}
        record("agent.update", actor=actor, organization_id=row.organization_id, agent_id=row.pk, details=details)
