"""The one table of surfaces (C04): where things come from, in words, and which of them use the fact store."""

from typing import Final

from django.db import models
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class Surface(models.TextChoices):
    """Values are stored exactly as the documents spell them."""

    STUDIO = "studio", _("Studio")
    DASHBOARD_CHAT = "dashboardChat", _("Dashboard chat")
    API = "api", _("API")
    SLACK = "slack", _("Slack")
    TEAMS = "teams", _("Teams")
    DISCORD = "discord", _("Discord")
    EMAIL = "email", _("E-mail")
    SCHEDULE = "schedule", _("Schedule")
    EXPLORE = "explore", _("Explore")
    VISITOR = "visitor", _("Visitor chat")
    ACTIONFLOW = "actionflow", _("ActionFlow")


USES_FACTS: Final[dict[Surface, bool]] = {
    Surface.STUDIO: True,
    Surface.DASHBOARD_CHAT: True,
    Surface.API: True,
    Surface.SLACK: False,
    Surface.TEAMS: False,
    Surface.DISCORD: False,
    Surface.EMAIL: False,
    Surface.SCHEDULE: False,
    Surface.EXPLORE: False,
    Surface.VISITOR: False,
    Surface.ACTIONFLOW: False,
}


# Places where people act and no session comes from, as events name them.
_PLACES: Final[dict[str, Promise]] = {
    "memoryTab": _("Memory tab"),
    "agentSettings": _("Agent settings"),
    "organization": _("Organization settings"),
    "admin": _("Administration"),
    "replay": _("Replay of a transcript"),
    "quickstart": _("Quickstart"),
}


def place(surface: str) -> str:
    """Return the words for where an event happened; a code that nobody knows stays itself."""
    return str(Surface(surface).label if surface in Surface.values else _PLACES.get(surface, surface))


# Where people and programs come in by doors of their own; every other surface is a connector's.
OWN_DOORS: Final = frozenset({Surface.STUDIO, Surface.DASHBOARD_CHAT, Surface.API})
TRIGGERED: Final = tuple(surface for surface in Surface if surface not in OWN_DOORS)


def uses_facts(surface: str) -> bool:
    """Whether sessions of this surface read and write the fact store; an unknown surface does not."""
    return USES_FACTS.get(Surface(surface), False) if surface in Surface.values else False
