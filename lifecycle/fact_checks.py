"""The invariants of fact rows, each as a function that returns sentences of what is wrong; ids only, repairs nothing.

Most are constraints of the database as well; they are asked again because a restore or a hand may have been at work.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from django.db.models import Count, Exists, F, Model, OuterRef, Q, QuerySet
from django.db.models.lookups import GreaterThan
from django.utils import timezone

from accounts.models import Organization, User
from agents.models import Agent
from consent.models import Consent
from facts.inspection import inspect_records
from facts.models import LIFETIME, Fact
from facts.sealing import content_hash, key_hash
from facts.services import MAX_LIVE

MAX_SOURCES = 5
CLOCKS_DIFFER = timedelta(minutes=5)  # between the machines that write and the one that looks
SUBJECTS: Final[Mapping[str, type[Model]]] = {"user": User, "agent": Agent, "organization": Organization}


def _named(rows: QuerySet[Fact], what: str) -> list[str]:
    return [f"fact {fact_id}: {what}" for fact_id in rows.order_by("pk").values_list("pk", flat=True)]


def values() -> list[str]:
    """Status, type and confidence are among those there are, and nothing was written in the future."""
    return [
        *_named(Fact.objects.exclude(status__in=Fact.Status.values), "has no status that there is"),
        *_named(Fact.objects.exclude(memory_type__in=Fact.Type.values), "has no type that there is"),
        *_named(Fact.objects.exclude(confidence__gte=0, confidence__lte=1), "has a confidence outside of 0 to 1"),
        *_named(Fact.objects.filter(created_at__gt=timezone.now() + CLOCKS_DIFFER), "was written in the future"),
    ]


def cap() -> list[str]:
    """At most 200 live facts in a scope (F07)."""
    counts = Fact.objects.live().order_by().values("organization", "user", "agent").annotate(count=Count("pk"))
    return [
        f"organization {row['organization']} user {row['user']} agent {row['agent']}: {row['count']} live facts"
        for row in counts.filter(count__gt=MAX_LIVE)
    ]


def uniqueness() -> list[str]:
    """One live fact of the same type, key and content in a scope (F06)."""
    slot = ("organization", "user", "agent", "memory_type", "key_hash", "content_hash")
    twice = Fact.objects.live().order_by().values(*slot).annotate(count=Count("pk")).filter(count__gt=1)
    return [f"user {row['user']} agent {row['agent']}: {row['count']} live facts in one slot" for row in twice]


def decryptability() -> list[str]:
    """Every record of every status opens, and its keyed hashes are those of what it says (F04, F06)."""
    wrong: dict[str, None] = {}  # a missing key makes every record of its organization unreadable: said once
    for row, keys, found in inspect_records():
        if isinstance(found, str):
            code = found.removeprefix("key_")
            record, key = f"fact {row.pk}: does not open", f"organization {row.organization_id}: key unavailable"
            wrong[f"{record if code == found else key} ({code})"] = None
            continue
        assert keys is not None  # noqa: S101 (the other half of the pair)
        if bytes(row.key_hash) != key_hash(keys, found.label):
            wrong[f"fact {row.pk}: the hash of its key is another one"] = None
        if bytes(row.content_hash) != content_hash(keys, row.memory_type, found.label, found.body):
            wrong[f"fact {row.pk}: the hash of its content is another one"] = None
    return list(wrong)


def sources() -> list[str]:
    """At most five cited messages."""
    return _named(Fact.objects.filter(source_ids__len__gt=MAX_SOURCES), "more than five sources")


def expiry() -> list[str]:
    """At most 180 times 24 hours from the write to the expiry (F05)."""
    too_long = Fact.objects.filter(GreaterThan(F("expires_at") - F("created_at"), LIFETIME))
    return _named(too_long, "expires later than 180 days after its write")


def tombstones() -> list[str]:
    """A deleted row, and only that, has the time of its deletion; a superseded row has its own; none lies ahead."""
    now = timezone.now()
    timeless = Q(status="deleted", deleted_at__isnull=True) | Q(status="superseded", superseded_at__isnull=True)
    stray = ~Q(status="deleted") & Q(deleted_at__isnull=False)
    ahead = Q(deleted_at__gt=now) | Q(superseded_at__gt=now)
    return [
        *_named(Fact.objects.filter(timeless), "deleted or superseded without a time"),
        *_named(Fact.objects.filter(stray), "has a time of deletion and is not deleted"),
        *_named(Fact.objects.filter(ahead), "deleted or superseded in the future"),
    ]


def chains() -> list[str]:
    """A successor's predecessor, while retention keeps it, is of the same scope and no longer live; it has one heir."""
    predecessor = Fact.objects.filter(pk=OuterRef("supersedes_id"))
    scope = {name: OuterRef(name) for name in ("organization", "user", "agent")}
    successors = Fact.objects.filter(supersedes_id__isnull=False)
    heirs = successors.order_by().values("supersedes_id").annotate(count=Count("pk")).filter(count__gt=1)
    return [
        *_named(successors.filter(Exists(predecessor.live())), "supersedes a fact that is still live"),
        *_named(
            successors.filter(Exists(predecessor), ~Exists(predecessor.filter(**scope))),
            "supersedes a fact of another scope",
        ),
        *_named(successors.filter(supersedes_id=F("pk")), "supersedes itself"),
        *[f"fact {row['supersedes_id']}: superseded by {row['count']} facts" for row in heirs],
    ]


def consent() -> list[str]:
    """Every fact's scope has a consent row: granted or withdrawn, it is there (F01)."""
    row = Consent.objects.filter(**{name: OuterRef(name) for name in ("organization", "user", "agent")})
    scopes = Fact.objects.filter(~Exists(row)).order_by().values("organization", "user", "agent")
    return [
        f"organization {scope['organization']} user {scope['user']} agent {scope['agent']}: "
        f"{scope['count']} facts without a consent row"
        for scope in scopes.annotate(count=Count("pk"))
    ]


def orphans() -> list[str]:
    """No fact of a subject that is gone, which would be a wipe that did not finish, or of an agent elsewhere."""
    found = []
    for subject, model in SUBJECTS.items():
        if gone := Fact.objects.filter(~Exists(model._default_manager.filter(pk=OuterRef(f"{subject}_id")))).count():
            found.append(f"{gone} facts of {subject}s that are not in the database")
    for subject in ("user", "agent", "organization"):
        left = Fact.objects.filter(**{f"{subject}__deleted_at__isnull": False})
        live = left.live().count()
        if count := left.count():
            found.append(f"{count} facts of deleted {subject}s ({live} live)")
    elsewhere = Fact.objects.exclude(agent__organization=F("organization")).count()
    return found + ([f"{elsewhere} facts of an agent of another organization"] if elsewhere else [])
