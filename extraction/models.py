"""The extraction run: one per completed turn, with its lease and its counts; never text (E01, E06)."""

import uuid
from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models import Organization, User
from agents.models import Agent
from conversations.models import Session, Turn


class Run(models.Model):
    """One attempt-counted piece of extraction work. `attempt` is also the fencing token of the lease."""

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        SKIPPED = "skipped", _("Skipped")
        FAILED = "failed", _("Failed")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="+")
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="+")
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="+")
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    attempt = models.PositiveSmallIntegerField(default=0)
    # Attempts that do not count: the provider was not called. The database's default lets older code insert rows.
    excused = models.PositiveSmallIntegerField(default=0, db_default=0)
    lease_until = models.DateTimeField(null=True)
    due_at = models.DateTimeField()
    error_code = models.CharField(max_length=40, blank=True)
    outcomes = models.JSONField(default=dict)  # counts: active, conflict, pending
    refusals = models.JSONField(default=dict)  # counts by reason
    model = models.CharField(max_length=200, blank=True)
    duration_ms = models.PositiveIntegerField(default=0)
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organization", "turn"], name="run_once_per_turn"),
            # One at a time in a scope: a second one would send the same messages again.
            models.UniqueConstraint(
                fields=["organization", "user", "agent"],
                name="run_one_running_per_scope",
                condition=models.Q(state="running"),
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=["waiting", "running", "done", "skipped", "failed"]), name="run_state"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["due_at"], name="run_open", condition=models.Q(state__in=["waiting", "running"])),
            models.Index(fields=["organization", "agent", "created_at"], name="run_by_agent"),
            models.Index(fields=["-created_at"], name="run_newest"),
        ]

    @property
    def tries(self) -> int:
        """The attempts that count; one that took its worker down is among them."""
        return self.attempt - self.excused
