"""Writes to agents and providers; each in one transaction with its audit row."""

from datetime import datetime

from django.db import transaction

from accounts.models import Organization, User
from agents.models import Agent, Provider
from agents.permissions import remove_grants_on
from agents.providers import check_address
from audit.services import record
from screening.text import clean_text

MAX_SYSTEM_PROMPT = 100_000  # characters


@transaction.atomic
def get_or_create_provider(*, kind: str, base_url: str = "", api_key_env: str = "", actor: User | None) -> Provider:
    """Return the provider with this address and key name. Raises BadProvider for an address that may not be used."""
    if kind == Provider.Kind.OPENAI:
        check_address(base_url)
    else:
        base_url = api_key_env = ""
    provider, created = Provider.objects.get_or_create(kind=kind, base_url=base_url, api_key_env=api_key_env)
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
    values = {
        "name": clean_text(name, max_length=120, single_line=True),
        "system_prompt": clean_text(system_prompt, max_length=MAX_SYSTEM_PROMPT, allow_empty=True),
        "provider": provider,
        "model": clean_text(model, max_length=200, single_line=True),
    }
    agent = (
        Agent.objects.select_for_update(no_key=True)
        .filter(organization=organization, slug=slug, deleted_at__isnull=True)
        .first()
    )
    if agent is None:
        agent = Agent.objects.create(organization=organization, slug=slug, **values)
        action = "agent.create"
    else:
        changed = [name for name, value in values.items() if getattr(agent, name) != value]
        if not changed:
            return agent
        for field in changed:
            setattr(agent, field, values[field])
        agent.save(update_fields=changed)
        action = "agent.update"
    record(action, actor=actor, organization_id=organization.pk, agent_id=agent.pk)
    return agent


@transaction.atomic
def set_tools_enabled(*, agent: Agent, enabled: bool, actor: User) -> None:
    """Let an agent use tools in its turns, or no longer (C08)."""
    row = Agent.objects.select_for_update(no_key=True).get(pk=agent.pk)
    if row.tools_enabled != enabled:
        row.tools_enabled = enabled
        row.save(update_fields=["tools_enabled"])
        details = {"tools_enabled": enabled}
        record("agent.update", actor=actor, organization_id=row.organization_id, agent_id=row.pk, details=details)


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
