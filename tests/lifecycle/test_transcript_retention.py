"""T04: conversations older than their organization keeps them are deleted by the night, and facts stay."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import DatabaseError, IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from accounts.models import Organization, User
from accounts.services import TranscriptDays, set_transcript_days
from agents.models import Agent
from audit.models import AuditEvent
from consent.scope import Scope
from conversations.models import Message, Participant, Session, Turn
from conversations.services import Said, SessionGone, begin_turn
from database import patience
from extraction.models import Run
from lifecycle import nightly, transcript_retention
from lifecycle.models import RetentionReport
from lifecycle.transcript_retention import count_due, sweep
from tests import factories
from tests.factories import make_agent, make_fact, make_member, make_session, make_turn
from tests.refusals import refusing
from tests.threads import together

pytestmark = pytest.mark.django_db(transaction=True)
NOW = datetime(2026, 11, 30, 17, 0, tzinfo=UTC)


def aged(agent: Agent, user: User, age: timedelta, *, said: str = "I live in Porto.") -> Session:
    """Return a session with one completed turn, in which the last thing was said so long before `NOW`."""
    session = make_session(agent, user)
    make_turn(session, said)
    Session.objects.filter(pk=session.pk).update(last_activity_at=NOW - age)
    return session


def keep(organization: Organization, days: int | None) -> None:
    set_transcript_days(organization=organization, days=days, actor=None)


def left() -> set[object]:
    return set(Session.objects.values_list("pk", flat=True))


def test_t04_conversations_are_kept_unless_the_organization_says_otherwise(agent: Agent, owner: User) -> None:
    aged(agent, owner, timedelta(days=4000))
    assert sweep(now=NOW).sessions == 0
    assert Session.objects.count() == 1


def test_t04_a_session_goes_so_many_times_24_hours_after_its_last_message(
    organization: Organization, agent: Agent, owner: User, stranger: User
) -> None:
    keep(organization, 30)
    gone = aged(agent, owner, timedelta(days=30))
    Participant.objects.create(organization=organization, session=gone, user=owner)
    young = aged(agent, owner, timedelta(days=30) - timedelta(microseconds=1))
    elsewhere = aged(Agent.objects.exclude(pk=agent.pk).get(), stranger, timedelta(days=300))
    assert sweep(now=NOW).sessions == 1
    assert left() == {young.pk, elsewhere.pk}
    assert not Turn.objects.filter(session=gone.pk).exists()
    assert not Message.objects.filter(session=gone.pk).exists()
    event = AuditEvent.objects.get(action="retention.transcripts")
    assert (event.organization_id, event.actor_id, event.details) == (organization.pk, None, {"sessions": 1})


def test_t04_facts_stay_and_their_source_says_that_it_was_removed(
    consented: Scope, organization: Organization, agent: Agent, owner: User, client_for: Callable[..., Client]
) -> None:
    keep(organization, 1)
    session = aged(agent, owner, timedelta(days=2))
    turn = Turn.objects.get(session=session)
    Run.objects.create(
        organization=organization, user=owner, agent=agent, session=session, turn=turn, due_at=NOW, state="waiting"
    )
    message = Message.objects.get(session=session, role="user")
    make_fact(consented, source_ids=(message.pk,))
    client = client_for(owner)
    assert "source removed" not in client.get("/agents/acme/guide/memory/").content.decode()
    assert sweep(now=NOW).sessions == 1
    assert not Run.objects.exists()
    text = client.get("/agents/acme/guide/memory/").content.decode()
    assert "Lives in Porto." in text
    assert "source removed" in text
    assert client.get(f"/agents/acme/guide/chat/{session.pk}/").status_code == 404


def test_t04_a_running_turn_or_extraction_is_left_alone_and_an_abandoned_one_is_not(
    organization: Organization, agent: Agent, owner: User
) -> None:
    keep(organization, 1)
    talking, extracting, abandoned = (aged(agent, owner, timedelta(days=9)) for _ in range(3))
    for session, age in ((talking, timedelta(minutes=14)), (abandoned, timedelta(minutes=16))):
        turn = begin_turn(session=session, speaker=owner, said=[Said("user", "Hello.", NOW)], now=NOW)
        Turn.objects.filter(pk=turn.pk).update(created_at=NOW - age)
    Run.objects.create(
        organization=organization,
        user=owner,
        agent=agent,
        session=extracting,
        turn=Turn.objects.get(session=extracting),
        due_at=NOW,
        state="running",
        lease_until=NOW + timedelta(seconds=1),
    )
    Session.objects.update(last_activity_at=NOW - timedelta(days=9))
    assert sweep(now=NOW).sessions == 1
    assert left() == {talking.pk, extracting.pk}
    assert sweep(now=NOW + timedelta(seconds=2)).sessions == 1
    assert left() == {talking.pk}


def test_t04_a_night_is_capped_takes_the_oldest_first_and_organizations_take_turns(
    organization: Organization, agent: Agent, owner: User
) -> None:
    other = factories.make_organization("other")
    guide = make_agent(other, "guide")
    sam = make_member(other, guide, "sam@other.example")
    keep(organization, 1)
    keep(other, 1)
    ours = [aged(agent, owner, timedelta(days=days)) for days in (50, 40, 30, 20)]
    theirs = [aged(guide, sam, timedelta(days=days)) for days in (5, 4)]
    sizes: list[int] = []
    outcome = sweep(now=NOW, limit=3, batch=2, step=sizes.append)
    assert (outcome.sessions, sizes, outcome.waiting) == (3, [2, 1], {"transcripts": 3})
    assert left() == {ours[2].pk, ours[3].pk, theirs[1].pk}
    assert sweep(now=NOW).waiting == {}
    assert left() == set()


def test_t04_a_session_that_somebody_holds_is_skipped_and_counted(
    organization: Organization, agent: Agent, owner: User
) -> None:
    keep(organization, 1)
    held, free = aged(agent, owner, timedelta(days=9)), aged(agent, owner, timedelta(days=8))
    with transaction.atomic():
        Session.objects.select_for_update(no_key=True).get(pk=held.pk)
        (outcome,) = together(lambda: sweep(now=NOW))
    assert not isinstance(outcome, Exception)
    assert (outcome.sessions, outcome.waiting) == (1, {"transcripts": 1})
    assert left() == {held.pk}
    assert free.pk not in left()


def test_t04_an_organization_that_somebody_holds_waits_and_the_others_go_on(
    organization: Organization, agent: Agent, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "PATIENCE", "20ms")
    other = factories.make_organization("other")
    guide = make_agent(other, "guide")
    for one in (organization, other):
        keep(one, 1)
    held = aged(agent, owner, timedelta(days=9))
    aged(guide, make_member(other, guide, "sam@other.example"), timedelta(days=8))
    with transaction.atomic():
        Organization.objects.select_for_update(no_key=True).get(pk=organization.pk)
        (outcome,) = together(lambda: sweep(now=NOW))
    assert not isinstance(outcome, Exception)
    assert (outcome.sessions, outcome.waiting) == (1, {"transcripts": 1})
    assert left() == {held.pk}


def test_t04_a_run_that_dies_after_a_batch_keeps_it_and_the_next_goes_on(
    organization: Organization, agent: Agent, owner: User
) -> None:
    keep(organization, 1)
    sessions = [aged(agent, owner, timedelta(days=days)) for days in (9, 8, 7)]

    def die(_count: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(now=NOW, batch=1, step=die)
    assert left() == {session.pk for session in sessions[1:]}
    assert AuditEvent.objects.filter(action="retention.transcripts").count() == 1
    assert sweep(now=NOW).sessions == 2


def test_t04_a_setting_that_is_taken_back_stops_the_night_at_once(
    organization: Organization, agent: Agent, owner: User
) -> None:
    keep(organization, 1)
    for days in (9, 8):
        aged(agent, owner, timedelta(days=days))
    assert sweep(now=NOW, batch=1, step=lambda _: keep(organization, None)).sessions == 1
    assert Session.objects.count() == 1


def test_t04_two_runs_at_once_share_the_work(organization: Organization, agent: Agent, owner: User) -> None:
    keep(organization, 1)
    for days in range(2, 12):
        aged(agent, owner, timedelta(days=days))
    outcomes = together(*[lambda: sweep(now=NOW, batch=2)] * 2)
    sessions = [outcome.sessions for outcome in outcomes if not isinstance(outcome, Exception)]
    assert len(sessions) == 2
    assert sum(sessions) == 10
    counts = AuditEvent.objects.filter(action="retention.transcripts").values_list("details__sessions", flat=True)
    assert sum(counts) == 10


def test_t04_a_message_that_comes_in_while_the_night_runs_saves_its_session_or_is_not_found(
    organization: Organization, agent: Agent, owner: User
) -> None:
    keep(organization, 1)
    for _ in range(8):
        session = aged(agent, owner, timedelta(days=2))

        def speak(session: Session = session) -> Turn:
            return begin_turn(session=session, speaker=owner, said=[Said("user", "Hello.", NOW)], now=NOW)

        spoken, swept = together(speak, lambda: sweep(now=NOW))
        assert not isinstance(swept, Exception)
        if isinstance(spoken, Turn):
            assert Message.objects.filter(session=session).count() == 3
        else:
            assert isinstance(spoken, SessionGone)
            assert session.pk not in left()


def test_t04_a_message_on_a_deleted_session_is_not_found(agent: Agent, owner: User) -> None:
    session = make_session(agent, owner)
    Session.objects.all().delete()
    with pytest.raises(SessionGone):
        begin_turn(session=session, speaker=owner, said=[Said("user", "Hello.", NOW)], now=NOW)


def test_t04_what_an_organization_asked_for_holds_after_it_was_deleted(
    organization: Organization, agent: Agent, owner: User
) -> None:
    keep(organization, 1)
    aged(agent, owner, timedelta(days=2))
    Organization.objects.update(deleted_at=NOW)
    assert sweep(now=NOW).sessions == 1


def test_t04_a_batch_that_the_database_refuses_waits_and_the_night_goes_on(
    organization: Organization, agent: Agent, owner: User
) -> None:
    keep(organization, 1)
    aged(agent, owner, timedelta(days=2))
    with refusing("DELETE", "conversations_message", "true"):
        report = nightly.run(now=NOW, asked_by="schedule")
    assert (report.transcripts, report.waiting) == (0, {"transcripts": 1})
    assert report.finished_at is not None
    assert Message.objects.count() == 2
    assert nightly.run(now=NOW, asked_by="schedule").transcripts == 1


def test_t04_the_night_reports_and_a_dry_run_only_counts(organization: Organization, agent: Agent, owner: User) -> None:
    keep(organization, 1)
    for days in (2, 3):
        session = aged(agent, owner, timedelta(days=days))
        Session.objects.filter(pk=session.pk).update(last_activity_at=timezone.now() - timedelta(days=days))
    call_command("retention", "--dry-run", stdout=(out := StringIO()))
    assert "Conversations due: 2." in out.getvalue()
    assert Session.objects.count() == 2
    call_command("retention", stdout=(out := StringIO()))
    assert "Conversations deleted: 2. Waiting: 0." in out.getvalue()
    assert RetentionReport.objects.get().transcripts == 2
    assert count_due(now=timezone.now()) == 0


@pytest.mark.parametrize("days", [0, -1, 3651])
def test_t04_less_than_a_day_or_more_than_ten_years_is_refused(organization: Organization, days: int) -> None:
    with pytest.raises(TranscriptDays):
        keep(organization, days)
    with pytest.raises(IntegrityError), transaction.atomic():
        Organization.objects.update(transcript_days=max(days, 0))


def test_t04_the_audit_log_tells_of_each_change_of_the_setting_once(organization: Organization, owner: User) -> None:
    for days in (90, 90, None):
        set_transcript_days(organization=organization, days=days, actor=owner)
    events = AuditEvent.objects.filter(action="organization.set_transcripts").order_by("pk")
    assert [event.details for event in events] == [{"days": 90, "before": None}, {"days": None, "before": 90}]
    assert {(event.actor_id, event.organization_id) for event in events} == {(owner.pk, organization.pk)}


def test_t04_one_session_that_the_database_refuses_keeps_no_other_from_going(
    organization: Organization, agent: Agent, owner: User
) -> None:
    keep(organization, 1)
    sessions = [aged(agent, owner, timedelta(days=9 - number)) for number in range(5)]
    with refusing("DELETE", "conversations_message", of(sessions[1])):
        swept = sweep(now=NOW, batch=3)
    assert (swept.sessions, swept.waiting) == (4, {"transcripts": 1})
    assert left() == {sessions[1].pk}


def of(*sessions: Session) -> str:
    """Return the condition that a message is one of these sessions'."""
    return f"OLD.session_id IN ({', '.join(repr(str(session.pk)) for session in sessions)})"


def test_t04_a_setting_that_is_shortened_meanwhile_ends_with_what_is_refused(
    organization: Organization, agent: Agent, owner: User
) -> None:
    keep(organization, 50)
    aged(agent, owner, timedelta(days=60))
    refused = aged(agent, owner, timedelta(days=10))
    with refusing("DELETE", "conversations_message", of(refused)):
        swept = sweep(now=NOW, batch=1, step=lambda _count: keep(organization, 5))
    assert (swept.sessions, swept.waiting, swept.failure) == (1, {"transcripts": 1}, None)


def test_t04_what_somebody_holds_is_not_counted_as_refused(
    organization: Organization, agent: Agent, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript_retention, "MOST_REFUSED", 1)
    keep(organization, 1)
    sessions = [aged(agent, owner, timedelta(days=20 - number)) for number in range(8)]
    with refusing("DELETE", "conversations_message", of(sessions[3])), transaction.atomic():
        list(Session.objects.select_for_update(no_key=True).filter(pk__in=[s.pk for s in sessions[:3]]))
        (swept,) = together(lambda: sweep(now=NOW, batch=4))
    assert not isinstance(swept, Exception)
    assert (swept.sessions, swept.waiting, swept.failure) == (4, {"transcripts": 4}, None)


def test_t04_an_organization_with_too_much_refused_is_given_up_and_the_night_says_so(
    organization: Organization, agent: Agent, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript_retention, "MOST_REFUSED", 2)
    keep(organization, 1)
    sessions = [aged(agent, owner, timedelta(days=20 - number)) for number in range(5)]
    with refusing("DELETE", "conversations_message", of(*sessions[:3])), pytest.raises(DatabaseError):
        nightly.run(now=NOW, asked_by="schedule")
    report = RetentionReport.objects.get()
    assert (report.finished_at, report.waiting) == (None, {"transcripts": 5})
