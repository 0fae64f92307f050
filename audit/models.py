"""The append-only audit event. Ids are copied, not foreign keys, so that an event survives what it tells of (T03)."""

from typing import ClassVar

from django.db import models


class AuditEvent(models.Model):
    """One act. Holds ids, counts and codes; never memory text."""

    at = models.DateTimeField(auto_now_add=True)
    action = models.CharField(max_length=64)  # dotted: fact.delete
    organization_id = models.UUIDField(null=True)
    actor_id = models.UUIDField(null=True)  # null: the system itself
    subject_user_id = models.UUIDField(null=True)
    agent_id = models.UUIDField(null=True)
    object_id = models.UUIDField(null=True)
    surface = models.CharField(max_length=16, blank=True)
    reason = models.CharField(max_length=200, blank=True)
    request_id = models.CharField(max_length=64, blank=True)
    details = models.JSONField(default=dict)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["organization_id", "-id"], name="audit_by_organization"),
            models.Index(fields=["subject_user_id", "-id"], name="audit_by_subject"),
        ]
