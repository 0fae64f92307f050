"""Names the pages of support staff in Django's admin, and registers the check of the erasure ledger."""

from typing import Any

from django.apps import AppConfig
from django.core.checks import Warning as CheckWarning
from django.core.checks import register
from django.utils.translation import gettext_lazy as _


class LifecycleConfig(AppConfig):
    name = "lifecycle"
    verbose_name = _("Support")

    def ready(self) -> None:
        register(check_ledger)


def check_ledger(**_options: Any) -> list[CheckWarning]:
    """Warn when deletions cannot be recorded outside the database, or what was recorded is gone.

    A warning, so that what deletes nothing still starts; `check --fail-level WARNING` fails. Without a database, or
    before its migrations, only the file is looked at.
    """
    from encryption.apps import unless_silent
    from lifecycle.ledger_checks import lost, unwritable

    hint = "MEMORYPROJECT_ERASURE_LEDGER names the file; without it a restore brings back what was erased."
    found = [("lifecycle.W_LEDGER_UNWRITABLE", sentence) for sentence in unwritable()]
    found += [("lifecycle.W_LEDGER_LOST", sentence) for sentence in unless_silent(lost)]
    return [CheckWarning(sentence, hint=hint, id=name) for name, sentence in found]
