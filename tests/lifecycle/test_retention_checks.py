"""`doctor` notices that the nightly job does not do its work (R01)."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Organization, User
from agents.models import Agent
from consent.scope import Scope
from conversations.models import Session
from facts.models import Fact
from lifecycle import nightly
from lifecycle.models import RetentionReport
from lifecycle.retention_checks import retention
from tests.factories import make_fact, make_session

pytestmark = pytest.mark.django_db
NOW = timezone.now()
NEVER = "the nightly job has never ended: is a worker running?"


def ago(days: float) -> Any:
    return NOW - timedelta(days=days)


def fact(scope: Scope, **changes: Any) -> Fact:
    made = make_fact(scope, key=f"key.{Fact.objects.count()}", status=changes.pop("status", "active"))
    Fact.objects.filter(pk=made.pk).update(**changes)
    return made


def last_night(days: float) -> None:
    RetentionReport.objects.create(asked_by="schedule", started_at=ago(days), finished_at=ago(days))


def test_what_is_not_due_or_waits_for_its_night_is_no_finding(consented: Scope) -> None:
    make_fact(consented)
    fact(consented, created_at=ago(90), expires_at=ago(2))
    fact(consented, status="deleted", created_at=ago(250), expires_at=ago(100), deleted_at=ago(182))
    fact(consented, status="superseded", superseded_at=ago(32))
    assert retention() == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"created_at": ago(90), "expires_at": ago(30)}, f"have expired and are live, the oldest since {ago(30):%F}"),
        (
            {"status": "deleted", "created_at": ago(500), "expires_at": ago(410), "deleted_at": ago(400)},
            f"are tombstones of more than 183 days, the oldest since {ago(400):%F}",
        ),
        (
            {"status": "superseded", "superseded_at": ago(40)},
            f"were superseded and are kept, the oldest since {ago(40):%F}",
        ),
        (
            {"status": "superseded", "superseded_at": ago(9), "created_at": ago(90), "expires_at": ago(8)},
            f"were superseded and are kept, the oldest since {ago(9):%F}",
        ),
    ],
)
def test_work_of_more_than_three_nights_ago_is_counted(consented: Scope, changes: dict[str, Any], said: str) -> None:
    fact(consented, **changes)
    assert retention() == [f"retention is behind: 1 facts {said}", NEVER]
    nightly.run(now=timezone.now(), asked_by="command")
    assert retention() == []


def test_a_last_night_of_long_ago_is_named_when_something_is_due(consented: Scope) -> None:
    last_night(10)
    last_night(4)
    assert retention() == []
    fact(consented, created_at=ago(90), expires_at=ago(1))
    assert retention() == [f"the nightly job last ended on {ago(4):%Y-%m-%d %H:%M} UTC: is a worker running?"]
    last_night(2)
    assert retention() == []


def test_conversations_that_should_have_gone_nights_ago_are_named(agent: Agent, owner: User) -> None:
    make_session(agent, owner)
    Session.objects.update(last_activity_at=ago(12))
    last_night(0.5)
    Organization.objects.update(transcript_days=10)
    assert retention() == []
    Organization.objects.update(transcript_days=8)
    assert retention() == [
        f"retention is behind: 1 conversations are older than their organization keeps them, the oldest of {ago(12):%F}"
    ]
