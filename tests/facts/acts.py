"""What tests of the fact store do and look at, in one word each."""

import uuid
from collections import Counter
from datetime import UTC, datetime, timedelta

from django.utils import timezone

from accounts.models import User
from consent.scope import Scope
from consent.services import withdraw_consent
from facts.models import Fact
from facts.services import delete_fact, edit_fact, list_facts

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def statuses(scope: Scope) -> Counter[str]:
    return Counter(Fact.objects.for_scope(scope).values_list("status", flat=True))


def bodies(scope: Scope, now: datetime | None = None) -> dict[str, str]:
    """Return the status of each listed fact by its body."""
    listed = list_facts(scope, now=now or timezone.now())
    return {fact.opened.body: fact.row.status for fact in listed if fact.opened}


def withdraw(scope: Scope, user: User) -> None:
    withdraw_consent(scope=scope, actor=user, now=timezone.now(), surface="memoryTab")


def fact_of(scope: Scope, body: str) -> uuid.UUID:
    """Return the id of the listed fact with this body."""
    (found,) = (f.row.pk for f in list_facts(scope, now=NOW) if f.opened and f.opened.body == body)
    return found


def edit(scope: Scope, user: User, fact_id: uuid.UUID, body: str, now: datetime | None = None) -> Fact:
    return edit_fact(scope=scope, fact_id=fact_id, body=body, actor=user, now=now or timezone.now())


def delete(scope: Scope, user: User, fact_id: uuid.UUID, now: datetime | None = None) -> None:
    delete_fact(scope=scope, fact_id=fact_id, actor=user, now=now or timezone.now())
