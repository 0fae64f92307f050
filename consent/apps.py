"""Registers the check of the kill switch (F13)."""

from typing import Any

from django.apps import AppConfig
from django.core.checks import Warning as CheckWarning
from django.core.checks import register


class ConsentConfig(AppConfig):
    name = "consent"

    def ready(self) -> None:
        register(check_kill_switch)


def check_kill_switch(**_options: Any) -> list[CheckWarning]:
    """Warn loudly about a value that cannot be read: memory stays on with it."""
    from consent.gate import kill_switch_readable

    if kill_switch_readable():
        return []
    return [
        CheckWarning(
            "AGENT_MEMORY_KILL_SWITCH has a value that cannot be read, so memory is ON.",
            hint="Use 1, true, on or enabled to turn memory off; 0, false, off or nothing to leave it on.",
            id="consent.W001",
        )
    ]
