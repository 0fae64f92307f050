"""R01, R02: the nightly schedule, its task and `manage.py retention`."""

from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection, transaction
from django.utils import timezone
from django.utils.module_loading import import_string
from django_q.models import Schedule

from accounts import rates
from accounts.models import User
from consent.scope import Scope
from database import patience
from facts.erasure import Erased
from facts.models import Fact
from lifecycle import nightly, services, tasks, transcript_retention
from lifecycle.models import Deletion, PendingWipe, RetentionReport
from tests.factories import make_fact
from tests.refusals import QUIETLY, among, refusing
from tests.threads import together

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 30, 17, 0, tzinfo=UTC)


def retention(*arguments: str) -> str:
    call_command("retention", *arguments, stdout=(out := StringIO()))
    return out.getvalue()


@pytest.fixture
def over(consented: Scope) -> Scope:
    """The owner's scope with an expired fact and two old tombstones."""
    now = timezone.now()
    make_fact(consented, created_at=now - timedelta(days=2), expires_at=now)
    for days in (181, 200):
        make_fact(consented, key=f"k{days}", status="deleted", created_at=now - timedelta(days=days))
    return consented


def test_r01_the_schedule_is_made_once_in_utc_and_names_a_task_that_exists() -> None:
    for _ in range(2):
        nightly.ensure_schedule(now=NOW)
    schedule = Schedule.objects.get()
    assert schedule.next_run == datetime(2026, 12, 1, 2, 30, tzinfo=UTC)
    assert (schedule.schedule_type, schedule.repeats) == (Schedule.DAILY, -1)
    assert import_string(schedule.func) is tasks.nightly


def test_r01_a_schedule_that_a_hand_changed_is_put_right_and_keeps_its_time() -> None:
    nightly.ensure_schedule(now=NOW)
    Schedule.objects.update(func="os.system", repeats=3)
    nightly.ensure_schedule(now=NOW + timedelta(days=3))
    schedule = Schedule.objects.get()
    assert (schedule.func, schedule.repeats) == (nightly.TASK, -1)
    assert schedule.next_run == nightly.next_night(NOW)


@pytest.mark.django_db(transaction=True)
def test_r01_workers_that_start_at_once_make_one_schedule() -> None:
    together(*[lambda: nightly.ensure_schedule(now=NOW)] * 4)
    assert Schedule.objects.count() == 1


def test_r01_missed_nights_are_not_made_up_for() -> None:
    """However long the worker was away, the queue runs the job once and goes on with the coming night."""
    assert settings.Q_CLUSTER["catch_up"] is False
    assert settings.TIME_ZONE == "UTC"
    nightly.ensure_schedule(now=NOW)
    schedule = Schedule.objects.get()
    assert schedule.calculate_next_run(schedule.next_run) - schedule.next_run == timedelta(hours=24)


@pytest.mark.parametrize(
    ("now", "then"),
    [
        (datetime(2026, 3, 29, 2, 29, tzinfo=UTC), datetime(2026, 3, 29, 2, 30, tzinfo=UTC)),
        (datetime(2026, 3, 29, 2, 30, tzinfo=UTC), datetime(2026, 3, 30, 2, 30, tzinfo=UTC)),
        (datetime(2026, 12, 31, 23, 59, tzinfo=UTC), datetime(2027, 1, 1, 2, 30, tzinfo=UTC)),
    ],
)
def test_r01_the_night_is_at_half_past_two_utc(now: datetime, then: datetime) -> None:
    assert nightly.next_night(now) == then


def test_r01_the_task_does_the_night_s_work(over: Scope) -> None:
    tasks.nightly()
    report = RetentionReport.objects.get()
    assert (report.asked_by, report.expired, report.deleted, report.batches) == ("schedule", 1, 2, 2)
    assert report.finished_at is not None


def test_r01_an_exception_leaves_the_task_without_its_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: Any) -> None:
        raise ValueError("Lives in Porto.")

    monkeypatch.setattr(tasks, "run", fail)
    with pytest.raises(tasks.NightlyCrashed) as caught:
        tasks.nightly()
    assert caught.value.__cause__ is None
    assert caught.value.args == ("ValueError",)
    assert "Porto" not in capsys.readouterr().err


def test_r01_a_dry_run_says_what_is_due_and_changes_nothing(over: Scope) -> None:
    assert retention("--dry-run").splitlines() == [
        "Due: expired 1, deleted 2. Within the limits: 3.",
        "Conversations due: 0.",
        "Pending wipes: 0. Nothing was changed.",
    ]
    assert Fact.objects.count() == 3
    assert not RetentionReport.objects.exists()


def test_r01_the_command_prints_the_report(over: Scope) -> None:
    lines = retention("--limit", "2").splitlines()
    assert lines[0] == "Due: expired 1, deleted 2. Within the limits: 2."
    assert lines[2] == "Done: expired 1, deleted 1, in 2 batches. Waiting: deleted 1."
    assert lines[3] == "Conversations deleted: 0. Waiting: 0."
    assert lines[4] == "Wipes done: 0. Wipes pending: 0."
    assert RetentionReport.objects.get().waiting == {"deleted": 1}
    assert "Waiting: none" in retention()


def test_r01_the_command_fails_when_a_wipe_cannot_be_done_and_refuses_limits_of_nothing(
    monkeypatch: pytest.MonkeyPatch, owner: User
) -> None:
    monkeypatch.setattr(nightly, "retry_wipes", lambda now: (0, 1))
    with pytest.raises(CommandError, match="could not be done"):
        retention()
    with pytest.raises(CommandError, match="at least 1"):
        retention("--limit", "0")


def test_r03_the_oldest_wipe_is_tried_first_and_a_failure_stops_no_other(
    monkeypatch: pytest.MonkeyPatch, owner: User, colleague: User
) -> None:
    from django.db import DatabaseError

    from lifecycle import services

    for days, user in ((1, owner), (2, colleague)):
        deletion = Deletion.objects.create(
            kind="user", subject_id=user.pk, memory_only=False, requested_at=NOW - timedelta(days=days)
        )
        PendingWipe.objects.create(deletion=deletion)
    tried: list[object] = []

    def refuse_first(subject: Any) -> Any:
        tried.append(subject.id)
        if len(tried) == 1:
            raise DatabaseError("refused")
        return Erased(0, 0)

    monkeypatch.setattr(services, "erase", refuse_first)
    assert services.retry_wipes(now=NOW) == (1, 1)
    assert tried == [colleague.pk, owner.pk]
    assert PendingWipe.objects.get().error_code == "DatabaseError"


def test_r01_what_the_database_refuses_of_facts_keeps_nothing_else_from_being_done(
    over: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_arguments: Any) -> None:
        raise OperationalError("planted")

    monkeypatch.setattr(nightly, "sweep", refuse)
    aged: list[bool] = []

    def age(**_arguments: Any) -> transcript_retention.Aged:
        aged.append(True)
        return transcript_retention.Aged()

    monkeypatch.setattr(transcript_retention, "sweep", age)
    with pytest.raises(OperationalError):
        nightly.run(now=timezone.now(), asked_by="schedule")
    assert aged == [True]
    assert RetentionReport.objects.get().finished_at is None


@pytest.mark.django_db(transaction=True)
def test_r01_a_night_waits_for_nobody_who_holds_a_row(
    over: Scope, monkeypatch: pytest.MonkeyPatch, colleague: User
) -> None:
    monkeypatch.setattr(patience, "PATIENCE", "50ms")
    deletion = Deletion.objects.create(
        kind="user", subject_id=colleague.pk, memory_only=False, requested_at=timezone.now()
    )
    PendingWipe.objects.create(deletion=deletion)
    with transaction.atomic():
        User.objects.select_for_update().get(pk=colleague.pk)
        PendingWipe.objects.select_for_update().get()
        (report,) = together(lambda: nightly.run(now=timezone.now(), asked_by="schedule"))
    assert not isinstance(report, Exception)
    assert (report.expired, report.deleted, report.wipes_done, report.wipes_pending) == (1, 2, 0, 1)
    assert nightly.run(now=timezone.now(), asked_by="schedule").wipes_done == 1
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("0",)


def test_r01_a_part_that_fails_leaves_the_report_of_the_others(over: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_arguments: Any) -> None:
        raise OperationalError("planted")

    for module, name in ((nightly, "retry_wipes"), (transcript_retention, "sweep")):
        monkeypatch.setattr(module, name, fail)
    forgotten: list[bool] = []

    def forget() -> int:
        forgotten.append(True)
        return 0

    monkeypatch.setattr(rates, "forget_unused", forget)
    with pytest.raises(OperationalError):
        nightly.run(now=timezone.now(), asked_by="schedule")
    report = RetentionReport.objects.get()
    assert (report.expired, report.deleted, report.finished_at, forgotten) == (1, 2, None, [True])


def test_r03_a_wipe_whose_failure_cannot_be_recorded_stops_no_other_part(
    over: Scope, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    deletion = Deletion.objects.create(kind="user", subject_id=owner.pk, memory_only=False, requested_at=NOW)
    PendingWipe.objects.create(deletion=deletion)

    def fail(*_arguments: Any) -> None:
        raise OperationalError("planted")

    monkeypatch.setattr(services, "_wipe", fail)
    monkeypatch.setattr(services, "_record_failure", fail)
    report = nightly.run(now=timezone.now(), asked_by="schedule")
    assert (report.wipes_pending, report.deleted) == (1, 2)


def test_r03_a_wipe_that_leaves_a_row_behind_without_an_error_is_not_done(over: Scope, owner: User) -> None:
    deletion = Deletion.objects.create(kind="user", subject_id=owner.pk, memory_only=False, requested_at=NOW)
    PendingWipe.objects.create(deletion=deletion)
    with refusing("DELETE", "facts_fact", among(Fact.objects.first()), by=QUIETLY):
        assert services.retry_wipes(now=NOW) == (0, 1)
    assert PendingWipe.objects.get().error_code == "LeftOver"
    assert services.retry_wipes(now=NOW) == (1, 0)
    assert not Fact.objects.exists()
