"""Guardrail policies in the database: read one for a turn, save one with its audit row, count what was found (C06)."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from typing import Final, Literal

from django.db import transaction
from django.db.models import F, Q, Sum

from accounts.models import Organization, User
from audit.services import record
from chat.guardrails import Policy, Rule, check_rule
from chat.models import MAX_RULES, GuardrailCount, GuardrailPolicy
from database.compiled import Compiled

type Stage = Literal["input", "output"]

NONE: Final = Policy()
_STORED: Final = Compiled(
    lambda *, organization_id: GuardrailPolicy.objects.filter(pk=organization_id),
    examples={"organization_id": uuid.UUID(int=1)},
)
COUNTS_KEPT: Final = timedelta(days=90)  # longer than anybody tunes a rule


class ChangedMeanwhile(Exception):
    """Somebody else saved the policy after it was read."""


class TooManyRules(Exception):
    """A policy has at most MAX_RULES rules, both stages together."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A policy as it is stored, for the administrators' page; `version` 0 says that there is none yet."""

    enabled: bool
    policy: Policy
    version: int


def saved_policy(organization_id: uuid.UUID) -> Saved | None:
    """Return the stored policy, also when it is switched off; None when the organization has none."""
    row = _STORED.first(organization_id=organization_id)
    if row is None:
        return None
    rules: Mapping[Stage, list[Rule]] = {"input": [], "output": []}
    for stored in row.rules:
        fields = dict(stored)
        rules[fields.pop("stage")].append(Rule(**fields))
    policy = Policy(tuple(rules["input"]), tuple(rules["output"]), row.refusal, row.restriction)
    return Saved(row.enabled, policy, row.version)


def policy_for(organization_id: uuid.UUID) -> Policy:
    """Return the policy that acts on a turn; one query by primary key, with or without a policy."""
    saved = saved_policy(organization_id)
    return saved.policy if saved and saved.enabled else NONE


@transaction.atomic
def save_policy(
    *, organization: Organization, policy: Policy, enabled: bool, read_version: int, actor: User, now: datetime
) -> None:
    """Store an organization's policy. Raises ChangedMeanwhile, TooManyRules, or BadPattern for a rule that is none.

    The audit row holds counts only. Counts of rules that are gone go too.
    """
    rules = [*policy.input_rules, *policy.output_rules]
    if len(rules) > MAX_RULES:
        raise TooManyRules
    for rule in rules:
        check_rule(rule)
    Organization.objects.select_for_update(no_key=True).get(pk=organization.pk)
    row = GuardrailPolicy.objects.filter(pk=organization.pk).first() or GuardrailPolicy(organization=organization)
    if row.version != read_version:
        raise ChangedMeanwhile
    row.rules = _stored("input", policy.input_rules) + _stored("output", policy.output_rules)
    row.enabled, row.refusal, row.restriction = enabled, policy.refusal, policy.restriction
    row.version, row.updated_at = read_version + 1, now
    row.save()
    _forget_counts(organization, kept=[rule.id for rule in rules], before=(now - COUNTS_KEPT).date())
    record(
        "guardrail.update",
        actor=actor,
        organization_id=organization.pk,
        details={"enabled": enabled, "input_rules": len(policy.input_rules), "output_rules": len(policy.output_rules)},
    )


def _forget_counts(organization: Organization, *, kept: Sequence[str], before: date) -> None:
    """Delete counts of rules that are gone and of days long past; locked in the order in which turns lock them."""
    gone = GuardrailCount.objects.filter(~Q(rule_id__in=kept) | Q(day__lt=before), organization=organization)
    locked = gone.select_for_update(no_key=True).order_by("rule_id", "day").values_list("pk", flat=True)
    GuardrailCount.objects.filter(pk__in=list(locked)).delete()


def _stored(stage: Stage, rules: Sequence[Rule]) -> list[dict[str, str]]:
    return [{"stage": stage, **asdict(rule)} for rule in rules]


def count_hits(*, organization_id: uuid.UUID, hits: Mapping[str, int], day: date) -> None:
    """Add to the day's counts of these rules; call it last in a transaction, since many turns share the rows."""
    for rule_id in sorted(hits):
        rows = GuardrailCount.objects.filter(organization=organization_id, rule_id=rule_id, day=day)
        if not rows.update(hits=F("hits") + hits[rule_id]):
            GuardrailCount.objects.bulk_create(
                [GuardrailCount(organization_id=organization_id, rule_id=uuid.UUID(rule_id), day=day)],
                ignore_conflicts=True,
            )
            rows.update(hits=F("hits") + hits[rule_id])


def hits_by_rule(organization_id: uuid.UUID, *, since: date) -> dict[str, int]:
    """Return how often each rule, by id, has found something since a day."""
    counted = (
        GuardrailCount.objects.filter(organization=organization_id, day__gte=since)
        .values("rule_id")
        .annotate(total=Sum("hits"))
    )
    return {str(row["rule_id"]): row["total"] for row in counted}
