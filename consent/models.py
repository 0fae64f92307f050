"""The consent row: one per scope. It is also the lock of the scope."""

from typing import ClassVar

from django.db import models

from accounts.models import Organization, User
from agents.models import Agent


class Consent(models.Model):
    """Whether one member lets one agent remember her. `epoch` grows with every grant and withdrawal."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="+")
    granted = models.BooleanField()
    epoch = models.PositiveIntegerField(default=1)
    text_version = models.PositiveSmallIntegerField()  # which consent text she saw
    granted_at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organization", "user", "agent"], name="consent_once"),
            models.CheckConstraint(
                condition=models.Q(granted=True, withdrawn_at__isnull=True)
                | models.Q(granted=False, withdrawn_at__isnull=False),
                name="consent_state",
            ),
        ]
