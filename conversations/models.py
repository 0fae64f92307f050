"""Sessions, participants, turns and messages: columns, constraints and filters, nothing that acts."""

import uuid
from typing import ClassVar, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models import Organization, User
from agents.models import Agent
from conversations.surfaces import Surface, uses_facts


class SessionQuerySet(models.QuerySet["Session"]):
    def live(self) -> Self:
        return self.filter(deleted_at__isnull=True)


class Session(models.Model):
    """One conversation with one agent; its memory subject is `created_by`."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="+")
    created_by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    surface = models.CharField(max_length=13, choices=Surface)
    title = models.CharField(_("title"), max_length=120, blank=True)
    is_public = models.BooleanField(_("public"), default=False)
    api_key_id = models.UUIDField(null=True)
    end_user_id = models.CharField(max_length=512, blank=True)
    external_thread_id = models.CharField(max_length=200, blank=True)  # the connector's own name of the thread (C04)
    created_at = models.DateTimeField(auto_now_add=True)
    last_activity_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True)

    objects: ClassVar = SessionQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            # A thread is one session for whoever's connector it is; what two people's connectors call alike are two.
            models.UniqueConstraint(
                fields=["organization", "agent", "surface", "created_by", "external_thread_id"],
                name="session_thread_once",
                condition=models.Q(deleted_at__isnull=True) & ~models.Q(external_thread_id=""),
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["organization", "agent", "created_by", "-last_activity_at"], name="session_by_scope"),
            models.Index(fields=["organization", "last_activity_at"], name="session_by_age"),  # T04
        ]

    @property
    def uses_memory(self) -> bool:
        """Whether the place of the session lets memory act, whoever reads it (C04)."""
        return uses_facts(self.surface)

    @property
    def is_new(self) -> bool:
        """Whether it is not stored yet: it is inserted with its first turn, and nobody else knows it."""
        return self._state.adding


class Participant(models.Model):
    """A user who may read a session besides its creator."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organization", "session", "user"], name="participant_once")
        ]


class Outsider(models.Model):
    """Who spoke in a connector's thread, by the connector's own name; `user` is the member that it was mapped to.

    Whoever is mapped to nobody reads along where the thread is, and fails every subset test.
    """

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="+")
    external_user_id = models.CharField(max_length=200)
    user = models.ForeignKey(User, on_delete=models.CASCADE, null=True, related_name="+")

    class Meta:
        default_permissions = ()
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organization", "session", "external_user_id"], name="outsider_once")
        ]


class Turn(models.Model):
    """One user message, the agent's work and its reply."""

    class Status(models.TextChoices):
        RUNNING = "running", _("Running")
        COMPLETED = "completed", _("Completed")
        FAILED = "failed", _("Failed")
        STOPPED = "stopped", _("Stopped")
        OUTPUT_RESTRICTED = "output_restricted", _("Reply withheld")
        INPUT_BLOCKED = "input_blocked", _("Message blocked")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="+")
    speaker = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    # Who spoke where that is no member; `speaker` is then the member whose connector it is, and said nothing.
    external_speaker_id = models.CharField(max_length=200, blank=True)
    status = models.CharField(max_length=17, choices=Status, default=Status.RUNNING)
    error_code = models.CharField(max_length=40, blank=True)
    uses_memory = models.BooleanField(default=True)  # false: the API key's switch is off (I05), or others hear it (C10)
    memory_state = models.CharField(max_length=24, blank=True)  # why memory did or did not act
    fact_ids = ArrayField(models.UUIDField(), default=list)  # what was put in the prompt (C09)
    prompt_cache_key = models.CharField(max_length=64, blank=True)
    model = models.CharField(max_length=200, blank=True)
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    # Keyed digest of the transcript up to and with this turn's reply; finds the session of a resent history (C02).
    transcript_digest = models.BinaryField(max_length=32, null=True)
    stop_requested_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            # One turn at a time: a second request on a busy session is told so.
            models.UniqueConstraint(
                fields=["organization", "session"], name="turn_one_running", condition=models.Q(status="running")
            ),
            models.CheckConstraint(
                condition=models.Q(
                    status__in=["running", "completed", "failed", "stopped", "output_restricted", "input_blocked"]
                ),
                name="turn_status",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["session", "created_at"], name="turn_by_session"),
            models.Index(fields=["organization", "transcript_digest"], name="turn_by_digest"),
        ]


class MessageQuerySet(models.QuerySet["Message"]):
    def final(self) -> Self:
        """Messages of completed turns."""
        return self.filter(turn__status=Turn.Status.COMPLETED)


class Message(models.Model):
    """One message. `at` orders and dates it; `created_at` is when this system received it."""

    class Role(models.TextChoices):
        SYSTEM = "system", _("System")
        USER = "user", _("User")
        ASSISTANT = "assistant", _("Assistant")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="+")
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="messages")
    position = models.PositiveIntegerField()
    role = models.CharField(max_length=9, choices=Role)
    speaker = models.ForeignKey(User, on_delete=models.CASCADE, null=True, related_name="+")
    content = models.TextField()
    at = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)
    passed_at = models.DateTimeField(null=True)  # extraction is done with it, or must never see it (E02, C02)

    objects: ClassVar = MessageQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organization", "session", "position"], name="message_position"),
            models.CheckConstraint(condition=models.Q(role__in=["system", "user", "assistant"]), name="message_role"),
        ]
