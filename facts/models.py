"""The fact row: sealed bytes and the columns that retention and uniqueness need; nothing that decrypts (F03, F04)."""

import uuid
from datetime import datetime, timedelta
from typing import ClassVar, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.lookups import LessThanOrEqual
from django.utils.translation import gettext_lazy as _

from accounts.models import Organization, User
from agents.models import Agent
from consent.scope import Scope

LIFETIME = timedelta(days=180)  # default and maximum (F05)
TOMBSTONE_KEPT = timedelta(days=180)  # a tombstone's row is removed by the first nightly job after that (R01)
LIVE = ("active", "pending", "conflict")


class FactQuerySet(models.QuerySet["Fact"]):
    """Every read starts at `for_scope`, so that no filter can be forgotten."""

    def for_scope(self, scope: Scope) -> Self:
        return self.filter(organization=scope.organization_id, user=scope.user_id, agent=scope.agent_id)

    def live(self) -> Self:
        return self.filter(status__in=LIVE)

    def unexpired(self, now: datetime) -> Self:
        return self.filter(expires_at__gt=now)


class Fact(models.Model):
    """One fact of one scope. Key and body are inside `sealed`; the hashes are keyed."""

    class Type(models.TextChoices):
        PROFILE = "profile", _("Profile")
        SEMANTIC = "semantic", _("Semantic")
        EPISODIC = "episodic", _("Episodic")

    class Status(models.TextChoices):
        ACTIVE = "active", _("Active")
        PENDING = "pending", _("Pending")
        CONFLICT = "conflict", _("Conflict")
        SUPERSEDED = "superseded", _("Superseded")
        DELETED = "deleted", _("Deleted")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="+")
    memory_type = models.CharField(max_length=8, choices=Type)
    status = models.CharField(max_length=10, choices=Status)
    key_hash = models.BinaryField(max_length=32)
    content_hash = models.BinaryField(max_length=32)
    sealed = models.BinaryField()
    dek_version = models.PositiveIntegerField()
    row_version = models.PositiveIntegerField(default=1)
    confidence = models.FloatField()
    source_ids = ArrayField(models.UUIDField(), default=list)  # cited messages; those may be removed
    supersedes_id = models.UUIDField(null=True)  # copied, so that retention may remove the predecessor
    expires_at = models.DateTimeField()
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    superseded_at = models.DateTimeField(null=True)
    deleted_at = models.DateTimeField(null=True)

    objects: ClassVar = FactQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["organization", "user", "agent", "memory_type", "key_hash", "content_hash"],
                name="fact_live_once",
                condition=Q(status__in=LIVE),
            ),
            models.CheckConstraint(
                condition=Q(status__in=["active", "pending", "conflict", "superseded", "deleted"]), name="fact_status"
            ),
            models.CheckConstraint(
                condition=Q(memory_type__in=["profile", "semantic", "episodic"]), name="fact_memory_type"
            ),
            models.CheckConstraint(condition=Q(confidence__gte=0, confidence__lte=1), name="fact_confidence"),
            models.CheckConstraint(
                # Not `created_at + LIFETIME`: days added to an instant follow the clock changes of the session's zone.
                condition=Q(LessThanOrEqual(F("expires_at") - F("created_at"), LIFETIME)),
                name="fact_expiry_at_most_180_days",
            ),
            models.CheckConstraint(condition=Q(source_ids__len__lte=5), name="fact_sources_at_most_5"),
            models.CheckConstraint(
                condition=(Q(status="deleted") & Q(deleted_at__isnull=False))
                | (~Q(status="deleted") & Q(deleted_at__isnull=True)),
                name="fact_tombstone_has_time",
            ),
            models.CheckConstraint(
                condition=Q(status="superseded", superseded_at__isnull=False) | ~Q(status="superseded"),
                name="fact_superseded_has_time",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["organization", "user", "agent", "status"], name="fact_by_scope"),
            models.Index(fields=["deleted_at"], name="fact_tombstones", condition=Q(status="deleted")),
            models.Index(fields=["expires_at"], name="fact_expiring", condition=Q(status__in=LIVE)),
            models.Index(fields=["superseded_at"], name="fact_superseded", condition=Q(status="superseded")),
            models.Index(fields=["expires_at"], name="fact_superseded_expiring", condition=Q(status="superseded")),
        ]
