"""What the tabs of an agent's pages need to know about who looks at them; views decide for themselves."""

from typing import Any

from django import template

from agents.models import Agent
from agents.permissions import CODENAMES, granted_codenames

register = template.Library()


@register.simple_tag(takes_context=True)
def may_manage(context: dict[str, Any], agent: Agent) -> bool:
    """Whether the signed-in member, who may see this agent, also manages it."""
    return CODENAMES["agent:manage"] in granted_codenames(context["request"].user.pk, agent.pk)
