"""Wrapped keys and sealed secrets: columns and constraints, nothing that decrypts."""

import uuid
from typing import ClassVar

from django.db import models

from accounts.models import Organization


class OrganizationKey(models.Model):
    """One wrapped 32-byte key. `dek` seals records and can be rotated; `hash` serves uniqueness and is not."""

    class Purpose(models.TextChoices):
        DEK = "dek"
        HASH = "hash"

    class State(models.TextChoices):
        ACTIVE = "active"
        DECRYPT_ONLY = "decrypt_only"
        DESTROYED = "destroyed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")
    purpose = models.CharField(max_length=4, choices=Purpose)
    version = models.PositiveIntegerField()
    kek_id = models.CharField(max_length=64)
    wrapped = models.BinaryField()
    state = models.CharField(max_length=12, choices=State, default=State.ACTIVE)
    created_at = models.DateTimeField(auto_now_add=True)
    destroyed_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organization", "purpose", "version"], name="organization_key_version"),
            models.UniqueConstraint(
                fields=["organization", "purpose"], name="organization_key_active", condition=models.Q(state="active")
            ),
            models.CheckConstraint(condition=models.Q(purpose__in=["dek", "hash"]), name="organization_key_purpose"),
            models.CheckConstraint(
                condition=models.Q(state__in=["active", "decrypt_only", "destroyed"]), name="organization_key_state"
            ),
        ]


class Secret(models.Model):
    """A secret of the deployment, sealed under a key of its own, which a key-encryption key wraps.

    `sealed_for` names the one place where it may be opened; the seal is bound to it, so that changing this column, or
    pointing another row at the secret, opens nothing.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    sealed_for = models.JSONField()  # a list of texts
    kek_id = models.CharField(max_length=64)
    wrapped = models.BinaryField()
    sealed = models.BinaryField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        default_permissions = ()
