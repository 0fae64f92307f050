"""Addresses and readings of the Memory tab for its tests."""

import uuid
from collections.abc import Callable
from typing import Any

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from consent.scope import Scope
from facts.models import Fact
from facts.services import list_facts

NAMES = ["acme", "guide"]

type ClientFor = Callable[..., Client]
HTMX = {"HX-Request": "true"}


def url(action: str = "", fact: Fact | uuid.UUID | None = None) -> str:
    name = f"memory-{action}" if action else "memory"
    return reverse(name, args=[*NAMES, fact.pk if isinstance(fact, Fact) else fact] if fact else NAMES)


def text(response: Any) -> str:
    """Return an answer's text with its spaces collapsed."""
    return " ".join(response.content.decode().split())


def bodies(scope: Scope) -> dict[str, str]:
    """Return the live facts of a scope as body → status."""
    listed = list_facts(scope, now=timezone.now())
    return {fact.opened.body: fact.row.status for fact in listed if fact.opened}
