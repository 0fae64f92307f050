"""An organization's guardrail policy and what its rules found, by day: columns and constraints, nothing that acts."""

from typing import ClassVar, Final

from django.db import models
from django.db.models.lookups import LessThanOrEqual
from django.utils.translation import gettext_lazy as _

from accounts.models import Organization

MAX_RULES: Final = 40  # of both stages together; each costs a look at every reply
MAX_TEXT: Final = 1_000  # characters of a text that stands in the place of a message or a reply


class GuardrailPolicy(models.Model):
    """The guardrails of one organization (C06). `rules` is a list of `{id, stage, kind, value, action, replacement}`.

    `version` grows with each change, so that two administrators do not overwrite each other.
    """

    organization = models.OneToOneField(Organization, on_delete=models.CASCADE, primary_key=True, related_name="+")
    enabled = models.BooleanField(_("on"), default=True)
    rules = models.JSONField(default=list)
    refusal = models.CharField(_("answer to a blocked message"), max_length=MAX_TEXT)
    restriction = models.CharField(_("text in the place of a withheld reply"), max_length=MAX_TEXT)
    version = models.PositiveIntegerField(default=0)
    updated_at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=LessThanOrEqual(
                    models.Func(models.F("rules"), function="jsonb_array_length", output_field=models.IntegerField()),
                    MAX_RULES,
                ),
                name="guardrail_rules_few",
            )
        ]


class GuardrailCount(models.Model):
    """How often a rule found something on one day (UTC); never what it was, nor whose."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")
    rule_id = models.UUIDField()
    day = models.DateField()
    hits = models.PositiveBigIntegerField(default=0)

    class Meta:
        default_permissions = ()
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organization", "rule_id", "day"], name="guardrail_count_once")
        ]
