"""R04: support's lists and the page on the background work hold ids, counts, codes and times; nobody writes there."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django_q.models import OrmQ, Task

from accounts.models import User
from agents.models import Agent
from audit.models import AuditEvent
from audit.services import record
from consent.scope import Scope
from extraction.models import Run
from jobs.models import Heartbeat
from jobs.queue import enqueue
from jobs.supervisor import BEAT
from lifecycle import admin_base
from lifecycle.models import Deletion, PendingWipe, RetentionReport
from lifecycle.queue_health import look
from tests.factories import make_session, make_turn, make_user

pytestmark = pytest.mark.django_db
type ClientFor = Callable[..., Client]
EVENTS, RUNS, QUEUE, NIGHTS = (
    f"/admin/lifecycle/{name}/" for name in ("supportevent", "supportrun", "queuehealth", "retentionreport")
)


@pytest.fixture
def support(db: None) -> User:
    user = make_user("sue@support.example", staff=True)
    user.user_permissions.add(Permission.objects.get(codename="delete_subject"))
    return user


@pytest.fixture
def client(support: User, client_for: ClientFor) -> Client:
    return client_for(support)


@pytest.fixture
def run(scope: Scope, owner: User, agent: Agent) -> Run:
    turn, _message = make_turn(make_session(agent, owner), "I live in Porto.")
    return Run.objects.create(
        organization_id=scope.organization_id,
        user=owner,
        agent=agent,
        session=turn.session,
        turn=turn,
        state="failed",
        error_code="timeout",
        refusals={"pii": 2},
        due_at=timezone.now(),
        finished_at=timezone.now(),
    )


def text_of(client: Client, address: str, **query: str) -> str:
    answer = client.get(address, query)
    assert answer.status_code == 200
    return str(answer.content.decode())


def listed(client: Client, address: str, **query: str) -> list[Any]:
    return list(client.get(address, query).context["cl"].result_list)


def test_r04_events_are_listed_newest_first_and_found_by_the_id_of_whom_they_concern(
    client: Client, owner: User, stranger: User
) -> None:
    record("fact.delete", actor=owner, subject_user_id=owner.pk, details={"count": 1})
    record("fact.edit", actor=stranger, subject_user_id=stranger.pk)
    ids = [event.pk for event in listed(client, EVENTS)]
    assert ids == sorted(ids, reverse=True)
    text = text_of(client, EVENTS, q=str(owner.pk))
    assert "fact.delete" in text
    assert "fact.edit" not in text
    for nothing in ("fact", "%", str(uuid.uuid4())):
        assert listed(client, EVENTS, q=nothing) == []
    event = AuditEvent.objects.get(action="fact.delete")
    assert str(owner.pk) in text_of(client, f"{EVENTS}{event.pk}/change/")


def test_r04_runs_are_listed_with_counts_and_codes_and_without_what_was_said(client: Client, run: Run) -> None:
    pages = [text_of(client, RUNS), text_of(client, RUNS, q=str(run.session_id))]
    for text in (*pages, text_of(client, f"{RUNS}{run.pk}/change/")):
        assert "timeout" in text
        assert "&quot;pii&quot;: 2" in text
        assert "Porto" not in text
        assert "ana@acme.example" not in text


@pytest.mark.parametrize(("state", "filtered"), [("failed", "failed"), ("waiting", "open"), ("running", "open")])
def test_r04_runs_are_filtered_by_what_may_be_wrong(state: str, filtered: str, client: Client, run: Run) -> None:
    Run.objects.update(state=state)
    for choice in ("open", "failed"):
        found = [each.pk for each in listed(client, RUNS, state=choice)]
        assert found == ([run.pk] if choice == filtered else [])
    Run.objects.update(state="done")
    assert listed(client, RUNS, state=filtered) == []


def test_r02_a_night_has_a_page_of_its_own(client: Client) -> None:
    report = RetentionReport.objects.create(asked_by="schedule", started_at=timezone.now(), transcripts=41)
    assert "41" in text_of(client, NIGHTS)
    assert "41" in text_of(client, f"{NIGHTS}{report.pk}/change/")


def test_r04_a_deletion_is_found_by_the_id_of_its_subject(client: Client, owner: User, colleague: User) -> None:
    rows = [
        Deletion.objects.create(kind="user", subject_id=user.pk, memory_only=True, requested_at=timezone.now())
        for user in (owner, colleague)
    ]
    for term in (str(owner.pk), str(rows[0].pk)):
        assert [each.pk for each in listed(client, "/admin/lifecycle/deletion/", q=term)] == [rows[0].pk]


def test_r04_no_list_counts_or_sorts_a_whole_table(
    client: Client, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admin_base, "FARTHEST", 60)
    for _ in range(65):
        record("fact.delete", actor=owner)
    with CaptureQueriesContext(connection) as queries:
        answer = client.get(EVENTS, {"o": "2"})
    assert answer.context["cl"].result_count == 60
    asked = [query["sql"] for query in queries if '"audit_auditevent"' in query["sql"]]
    counts = [sql for sql in asked if "COUNT(" in sql]
    assert len(counts) == 1
    assert "LIMIT 60" in counts[0]
    assert "ORDER BY" not in counts[0]
    (rows,) = [sql for sql in asked if sql not in counts]
    assert 'ORDER BY "audit_auditevent"."id" DESC' in rows
    assert "LIMIT 50" in rows


def test_r04_there_is_an_index_in_the_order_of_the_runs(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE indexname = 'run_newest'")
        assert "(created_at DESC)" in cursor.fetchone()[0]


def test_r04_the_page_on_background_work_tells_depths_ages_and_failures_and_no_argument(
    client: Client, run: Run, owner: User
) -> None:
    now, argument = timezone.now(), uuid.uuid4()
    for _ in range(2):
        enqueue("extraction.tasks.extract", argument)
    waiting, taken = OrmQ.objects.order_by("pk")
    OrmQ.objects.filter(pk=waiting.pk).update(lock=now - timedelta(seconds=90))
    OrmQ.objects.filter(pk=taken.pk).update(lock=now + timedelta(hours=9))
    Heartbeat.objects.create(name=BEAT, at=now - timedelta(seconds=5))
    for name in ("Lives in Porto.", "beat"):
        Task.objects.create(
            id=uuid.uuid4().hex,
            name=name,
            func="extraction.tasks.extract",
            args=("Lives in Porto.",),
            result="ValueError: Lives in Porto.",
            started=now,
            stopped=now,
            success=False,
        )
    deletion = Deletion.objects.create(kind="user", subject_id=owner.pk, memory_only=True, requested_at=now)
    PendingWipe.objects.create(deletion=deletion)
    RetentionReport.objects.create(
        asked_by="schedule", started_at=now, finished_at=now, expired=3, waiting={"deleted": 8}
    )
    text = " ".join(text_of(client, QUEUE).split())
    for shown in ("0:00:0", "the oldest for 0:01:3", "expired 3,", "deleted 8", "extraction.tasks.extract", "timeout"):
        assert shown in text
    assert "Porto" not in text
    assert str(argument) not in text
    assert "No worker" not in text
    report = look(now=now)
    assert (report.queue.waiting, report.queue.taken, report.wipes_pending) == (1, 1, 1)
    assert report.heartbeat == timedelta(seconds=5)
    assert [(failed.name, failed.count) for failed in report.failed_tasks] == [("extraction.tasks.extract", 2)]
    assert [(failed.name, failed.count) for failed in report.failed_runs] == [("timeout", 1)]


def test_r04_a_silent_worker_is_said_at_once(client: Client) -> None:
    text = text_of(client, QUEUE)
    assert "No worker has shown a sign of life" in text
    assert "never" in text
    Heartbeat.objects.create(name=BEAT, at=timezone.now() - timedelta(seconds=61))
    assert "No worker has shown a sign of life" in text_of(client, QUEUE)


@pytest.mark.parametrize("who", ["staff", "member", "anonymous"])
def test_r04_nobody_without_the_permission_sees_a_list(who: str, run: Run, owner: User, client_for: ClientFor) -> None:
    record("fact.delete", actor=owner)
    event = AuditEvent.objects.latest("pk")
    staff = make_user("pete@staff.example", staff=True)
    client = {"staff": client_for(staff), "member": client_for(owner), "anonymous": Client()}[who]
    pages = (EVENTS, RUNS, QUEUE, NIGHTS, f"{EVENTS}{event.pk}/change/", f"{RUNS}{run.pk}/change/")
    for page in (*pages, f"{QUEUE}queue/change/"):
        assert client.get(page).status_code == (403 if who == "staff" else 302), page


@pytest.mark.parametrize("superuser", [False, True])
def test_r04_nobody_adds_changes_deletes_or_exports_in_a_list(
    superuser: bool, client: Client, client_for: ClientFor, run: Run, rf: Any, support: User
) -> None:
    user = User.objects.create_superuser("root@support.example", "x") if superuser else support
    asked = rf.get("/admin/")
    asked.user = user
    signed_in = client_for(user)
    for model, model_admin in admin.site._registry.items():
        if model.__module__.partition(".")[0] == "lifecycle":
            assert not model_admin.has_add_permission(asked)
            assert not model_admin.has_change_permission(asked)
            assert not model_admin.has_delete_permission(asked)
            assert model_admin.get_actions(asked) == {}
    for address in (f"{RUNS}add/", f"{EVENTS}add/", f"{QUEUE}add/", f"{RUNS}{run.pk}/delete/"):
        assert signed_in.post(address, {"post": "yes"}).status_code == 403
    assert signed_in.post(f"{RUNS}{run.pk}/change/", {"state": "done"}).status_code == 403
    run.refresh_from_db()
    assert run.state == "failed"


@pytest.mark.parametrize(
    "query",
    [
        "supportperson/?password__startswith=argon2",
        "supportperson/?name__regex=(((",
        "supportperson/?email=%00",
        "supportagent/?system_prompt__icontains=secret",
        "supportorganization/?slug__regex=a(",
        "supportevent/?action=%00",
        "deletion/?reason__startswith=a",
    ],
)
def test_r04_no_column_is_guessed_through_an_address(query: str, client: Client, owner: User) -> None:
    # Django leads a lookup that it does not allow back to the list.
    assert client.get(f"/admin/lifecycle/{query}").status_code in (302, 400)
