"""What became of deletions and of nightly retention: ids, counts, codes and times; never memory text (R02–R04)."""

import uuid
from typing import ClassVar

from django.db import models
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext_lazy as _

from accounts.models import Organization, User
from agents.models import Agent
from audit.models import AuditEvent
from extraction.models import Run
from jobs.models import Heartbeat


class Deletion(models.Model):
    """One deletion of a subject, or of its memory only. Ids are copied, so that it outlives what it tells of."""

    class Kind(models.TextChoices):
        ORGANIZATION = "organization", _("Organization")
        USER = "user", _("Person")
        AGENT = "agent", _("Agent")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=12, choices=Kind)
    subject_id = models.UUIDField()
    organization_id = models.UUIDField(null=True)  # of an agent or an organization
    memory_only = models.BooleanField()  # the subject itself lives on
    actor_id = models.UUIDField(null=True)
    reason = models.CharField(max_length=200, blank=True)
    requested_at = models.DateTimeField()
    wiped_at = models.DateTimeField(null=True)  # null: the wipe waits
    facts = models.PositiveIntegerField(default=0)
    consents = models.PositiveIntegerField(default=0)
    api_keys = models.PositiveIntegerField(default=0)
    sessions = models.PositiveIntegerField(default=0)  # sign-ins, not conversations
    grants = models.PositiveIntegerField(default=0)
    keys_destroyed = models.PositiveIntegerField(null=True)  # null: not asked for, or not done yet

    class Meta:
        default_permissions = ()
        indexes: ClassVar = [models.Index(fields=["subject_id", "-requested_at"], name="deletion_by_subject")]


class PendingWipe(models.Model):
    """A wipe that is not done. The row is there before the first attempt, so that not even a crash loses it."""

    deletion = models.OneToOneField(Deletion, on_delete=models.CASCADE, primary_key=True, related_name="+")
    attempts = models.PositiveIntegerField(default=0)
    tried_at = models.DateTimeField(null=True)
    error_code = models.CharField(max_length=60, blank=True)  # the class of the failure

    class Meta:
        default_permissions = ()


class RetentionReport(models.Model):
    """One run of the nightly job. Without `finished_at` it was killed: its batches are done and in the audit log."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    asked_by = models.CharField(max_length=8)  # schedule | command
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    expired = models.PositiveIntegerField(default=0)  # tombstoned
    superseded = models.PositiveIntegerField(default=0)  # tombstoned
    deleted = models.PositiveIntegerField(default=0)  # tombstones removed for good
    batches = models.PositiveIntegerField(default=0)
    waiting = models.JSONField(default=dict)  # due rows by kind that the limits, or locks, left for the next night
    transcripts = models.PositiveIntegerField(default=0, db_default=0)  # conversations deleted by age (T04)
    wipes_done = models.PositiveIntegerField(default=0)
    wipes_pending = models.PositiveIntegerField(default=0)

    class Meta:
        default_permissions = ()
        indexes: ClassVar = [models.Index(fields=["-started_at"], name="retention_report_newest")]

    def __str__(self) -> str:
        return date_format(timezone.localtime(self.started_at), "DATETIME_FORMAT")


class SupportPerson(User):
    """A person as support staff find her."""

    class Meta:
        proxy = True
        default_permissions = ()
        verbose_name = _("person")
        verbose_name_plural = _("people")


class SupportOrganization(Organization):
    """An organization as support staff find it."""

    class Meta:
        proxy = True
        default_permissions = ()
        verbose_name = _("organization")
        verbose_name_plural = _("organizations")


class SupportAgent(Agent):
    """An agent as support staff find it."""

    class Meta:
        proxy = True
        default_permissions = ()
        verbose_name = _("agent")
        verbose_name_plural = _("agents")


class SupportEvent(AuditEvent):
    """An event of the audit log as support staff page through it."""

    class Meta:
        proxy = True
        default_permissions = ()
        verbose_name = _("audit event")
        verbose_name_plural = _("audit events")

    def __str__(self) -> str:
        return f"{self.action} ({self.pk})"


class SupportRun(Run):
    """An extraction run as support staff see it: counts and codes."""

    class Meta:
        proxy = True
        default_permissions = ()
        verbose_name = _("extraction run")
        verbose_name_plural = _("extraction runs")

    def __str__(self) -> str:
        return str(self.pk)


class QueueHealth(Heartbeat):
    """The page on the background work; it lists no row of its own."""

    class Meta:
        proxy = True
        default_permissions = ()
        verbose_name = _("background work")
        verbose_name_plural = _("background work")
