"""The append-only audit event and its seals; ids are copied, no foreign keys, so an event outlives its row (T03)."""

import uuid
from typing import ClassVar, Self

from django.db import models
from django.db.models import Q


class AuditEventQuerySet(models.QuerySet["AuditEvent"]):
    """Reads by those whom the events concern (T03)."""

    def of_memory(self, *, organization_id: uuid.UUID, user_id: uuid.UUID, agent_id: uuid.UUID) -> Self:
        """Return what happened to one member's consent and facts with one agent, wipes of more than them included."""
        own = Q(organization_id=organization_id, subject_user_id=user_id, agent_id=agent_id)
        own &= Q(action__startswith="consent.") | Q(action__startswith="fact.")
        of_member = Q(subject_user_id=user_id, organization_id=None)
        of_agent_or_all = Q(subject_user_id=None, organization_id=organization_id)
        of_agent_or_all &= Q(agent_id=agent_id) | Q(agent_id=None)
        return self.filter(own | Q(of_member | of_agent_or_all, action="memory.delete"))

    def newest(self, count: int, *, before: int | None = None) -> Self:
        """Return at most `count` events, newest first; `before` is the id of the last one on the page before."""
        older = self if before is None else self.filter(id__lt=before)
        return older.order_by("-id")[:count]


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

    objects: ClassVar = AuditEventQuerySet.as_manager()

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["organization_id", "-id"], name="audit_by_organization"),
            models.Index(fields=["subject_user_id", "-id"], name="audit_by_subject"),
            models.Index(fields=["actor_id", "-id"], name="audit_by_actor"),
        ]


class AuditSeal(models.Model):
    """One link of a chain: the events of one organization (or of none) after the link before, up to `up_to_id`.

    Append-only like the events. `value` is a SHA-256 over the value before, this link's numbers and time, and every
    sealed row; `leaves` holds 16 bytes for each row, its id and the beginning of its own digest, so that a finding can
    name rows.
    """

    organization_id = models.UUIDField(null=True)
    number = models.PositiveIntegerField()  # 1, 2, … in each chain
    up_to_id = models.BigIntegerField(db_index=True)
    count = models.PositiveIntegerField()
    value = models.BinaryField(max_length=32)
    leaves = models.BinaryField()
    sealed_at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organization_id", "number"], name="audit_seal_once", nulls_distinct=False)
        ]
