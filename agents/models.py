"""Agents and the providers of their models: columns and constraints."""

import uuid
from typing import ClassVar, Self

from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models import Organization
from encryption.models import Secret


class Provider(models.Model):
    """Where models are reached. Only operators set these (C05).

    The key is named by an environment variable, or sealed as a secret for exactly this provider at exactly this
    address, so that a changed address opens nothing; or there is none.
    """

    class Kind(models.TextChoices):
        OPENAI = "openai", _("OpenAI-compatible server")
        OFFLINE = "offline", _("Offline rules (no network)")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=8, choices=Kind)
    name = models.CharField(_("name"), max_length=80, blank=True, default="", db_default="")
    base_url = models.URLField(max_length=400, blank=True)
    api_key_env = models.CharField(max_length=120, blank=True)
    secret = models.OneToOneField(Secret, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    timeout_seconds = models.PositiveSmallIntegerField(default=60)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        default_permissions = ()
        constraints: ClassVar = [
            # Two accounts at one address are two providers, told apart by their names.
            models.UniqueConstraint(
                fields=["kind", "base_url", "api_key_env"],
                name="provider_once",
                condition=models.Q(secret__isnull=True),
            ),
            models.CheckConstraint(
                condition=models.Q(kind="offline", base_url="") | (models.Q(kind="openai") & ~models.Q(base_url="")),
                name="provider_kind",
            ),
            models.CheckConstraint(
                condition=models.Q(secret__isnull=True) | models.Q(kind="openai", api_key_env=""),
                name="provider_one_key",
            ),
        ]

    def __str__(self) -> str:
        return self.name or self.base_url or self.get_kind_display()

    @property
    def key_source(self) -> str:
        """Where its key comes from: secret, environment or none."""
        return "secret" if self.secret_id else "environment" if self.api_key_env else "none"

    @property
    def secret_place(self) -> list[str]:
        """The place that its secret is sealed for."""
        return ["provider", str(self.pk), self.kind, self.base_url]


class ProviderState(models.Model):
    """What all processes know of a provider that gave trouble; a provider without a row never did."""

    provider = models.OneToOneField(Provider, on_delete=models.CASCADE, primary_key=True, related_name="+")
    failures = models.PositiveIntegerField(default=0)  # one after another
    open_until = models.DateTimeField(null=True)  # not called before then
    last_code = models.CharField(max_length=40, blank=True)
    quirks = models.JSONField(default=dict)  # what it does not take -> the instant until which that is believed

    class Meta:
        default_permissions = ()


class AgentQuerySet(models.QuerySet["Agent"]):
    def live(self) -> Self:
        return self.filter(deleted_at__isnull=True, organization__deleted_at__isnull=True)


class Agent(models.Model):
    """An Action Agent of one organization."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")
    slug = models.SlugField(max_length=63)
    name = models.CharField(_("name"), max_length=120)
    system_prompt = models.TextField(_("system prompt"), blank=True)
    provider = models.ForeignKey(Provider, on_delete=models.PROTECT, related_name="+")
    model = models.CharField(_("model"), max_length=200)
    tools_enabled = models.BooleanField(_("may use tools"), default=True)  # C08
    created_at = models.DateTimeField(auto_now_add=True)
    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects: ClassVar = AgentQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        permissions = (
            ("read_agent", "agent:read"),
            ("update_agent", "agent:update"),
            ("manage_agent", "agent:manage"),
            ("view_preference", "preference:view"),
            ("manage_preference", "preference:manage"),
            ("view_memory", "memory:view"),
            ("manage_memory", "memory:manage"),
            ("operate", "agents.operate"),
        )
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["organization", "slug"], name="agent_slug_live", condition=models.Q(deleted_at__isnull=True)
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def public_name(self) -> str:
        """The agent's name in the API: `ORGANIZATION/AGENT`."""
        return f"{self.organization.slug}/{self.slug}"
