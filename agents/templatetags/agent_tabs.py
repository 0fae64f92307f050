"""What the tabs of an agent's pages need to know about who looks at them; views decide for themselves."""

from typing import Any

from django import template

from agents.models import Agent
from agents.permissions import PUBLIC_NAMES, granted_codenames

register = template.Library()


@register.simple_tag(takes_context=True)
def permissions_on(context: dict[str, Any], agent: Agent) -> frozenset[str]:
    """Return what the signed-in member, who may see this agent, may do with it, by public names."""
    codenames = granted_codenames(context["request"].user.pk, agent.pk)
    return frozenset(PUBLIC_NAMES[codename] for codename in codenames if codename in PUBLIC_NAMES)
