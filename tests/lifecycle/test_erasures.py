"""R03: a replay of the erasure ledger does what a restore undid, each entry by itself, and nothing more."""

import uuid
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.models import Organization, User
from agents.models import Agent
from audit.models import AuditEvent
from consent.models import Consent
from consent.scope import Scope
from consent.services import withdraw_consent
from conversations.models import Message, Session
from conversations.sharing import delete_session
from encryption import ledger
from encryption.models import OrganizationKey
from facts.models import Fact
from facts.services import delete_fact
from lifecycle.ledger_checks import unrecorded
from lifecycle.models import Deletion, PendingWipe
from lifecycle.services import retry_wipes
from tests.factories import grant, make_fact, make_session, make_turn
from tests.refusals import among, refusing

pytestmark = pytest.mark.django_db
NOW = timezone.now()
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def ledger_file(settings: Any, tmp_path: Path) -> Path:
    settings.ERASURE_LEDGER = tmp_path / "erasures.jsonl"
    return tmp_path / "erasures.jsonl"


@pytest.fixture
def others(colleague: User, agent: Agent) -> Scope:
    """A colleague's scope with the same agent."""
    return grant(Scope(agent.organization_id, colleague.pk, agent.pk), colleague)


def replay() -> str:
    call_command("memory_replay_erasures", stdout=(out := StringIO()))
    return out.getvalue()


def failed_replay(match: str) -> str:
    with pytest.raises(CommandError, match=match) as raised:
        call_command("memory_replay_erasures", stdout=(out := StringIO()))
    return out.getvalue() + str(raised.value)


# --- one entry that fails ---------------------------------------------------------------------------------------------


def test_a_row_that_is_refused_keeps_neither_its_subject_alive_nor_the_entries_after_it_from_being_done(
    consented: Scope, others: Scope, owner: User, colleague: User, ledger_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    refused = make_fact(consented)
    make_fact(others)
    first = ledger.append(ledger_file, "user", NOW, user=owner.pk)
    ledger.append(ledger_file, "user", NOW + DAY, user=colleague.pk)
    with refusing("DELETE", "facts_fact", among(refused.pk)):
        said = failed_replay("Not finished: user 1")
    assert f"Not finished: user {first.id} (WipeWaits)" in said
    assert not User.objects.filter(deleted_at=None).exists()
    assert list(Fact.objects.all()) == [refused]
    assert PendingWipe.objects.get().deletion.subject_id == owner.pk
    assert "erasure_not_replayed" in caplog.text
    assert "Porto" not in said + caplog.text
    assert "Applied: user 1. Already gone: user 1." in replay()
    assert not Fact.objects.exists()
    assert not PendingWipe.objects.exists()
    assert "Already gone: user 2." in replay()
    assert Deletion.objects.count() == 2


def test_the_night_finishes_what_a_replay_could_not(consented: Scope, owner: User, ledger_file: Path) -> None:
    refused = make_fact(consented)
    ledger.append(ledger_file, "user", NOW, user=owner.pk)
    with refusing("DELETE", "facts_fact", among(refused.pk)):
        failed_replay("Not finished")
    assert retry_wipes(now=timezone.now()) == (1, 0)
    assert "Already gone: user 1." in replay()


def test_a_mark_that_is_refused_is_named_and_keeps_no_other_entry_from_being_done(
    consented: Scope, others: Scope, owner: User, colleague: User, ledger_file: Path
) -> None:
    make_fact(others)
    ledger.append(ledger_file, "user", NOW, user=owner.pk)
    ledger.append(ledger_file, "user", NOW + DAY, user=colleague.pk)
    with refusing("UPDATE", "accounts_user", among(owner.pk)):
        said = failed_replay("Not finished: user 1")
    assert "Porto" not in said
    assert not Fact.objects.exists()
    assert "Applied: user 1. Already gone: user 1." in replay()


def test_a_memory_is_closed_also_when_its_rows_can_be_neither_changed_nor_removed(
    consented: Scope, owner: User, ledger_file: Path
) -> None:
    refused = make_fact(consented)
    ledger.append(ledger_file, "memory", timezone.now(), user=owner.pk)
    with refusing("UPDATE OR DELETE", "facts_fact", among(refused.pk)):
        failed_replay("Not finished: memory 1")
    assert not Consent.objects.get().granted
    assert PendingWipe.objects.get().deletion.memory_only
    assert "Applied: memory 1." in replay()
    assert not Fact.objects.exists()
    assert User.objects.get(pk=owner.pk).is_live
    assert AuditEvent.objects.get(action="memory.delete").reason == "replay of the erasure ledger"


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_is_lost_in_one_entry_does_not_fail_those_after_it(
    consented: Scope, others: Scope, owner: User, colleague: User, ledger_file: Path
) -> None:
    deadly = make_fact(consented)
    make_fact(others)
    ledger.append(ledger_file, "user", NOW, user=owner.pk)
    ledger.append(ledger_file, "user", NOW + DAY, user=colleague.pk)
    with refusing("DELETE", "facts_fact", among(deadly.pk), by="PERFORM pg_terminate_backend(pg_backend_pid())"):
        failed_replay("Not finished: user 1")
    assert list(Fact.objects.all()) == [deadly]
    assert not User.objects.filter(deleted_at=None).exists()
    assert "Applied: user 1. Already gone: user 1." in replay()


# --- what an entry reaches --------------------------------------------------------------------------------------------


def test_the_keys_of_a_deleted_organization_are_destroyed_also_when_only_its_deletion_is_recorded(
    consented: Scope, organization: Organization, ledger_file: Path
) -> None:
    make_fact(consented)
    ledger.append(ledger_file, "organization", NOW, organization=organization.pk)
    before = ledger_file.read_bytes()
    assert "Applied: organization 1." in replay()
    assert set(OrganizationKey.objects.values_list("state", flat=True)) == {"destroyed"}
    assert not PendingWipe.objects.exists()
    assert Deletion.objects.get().keys_destroyed == 2
    assert "Already gone: organization 1." in replay()
    assert ledger_file.read_bytes() == before


def test_keys_that_are_left_of_a_marked_organization_are_destroyed(
    consented: Scope, organization: Organization, ledger_file: Path
) -> None:
    make_fact(consented)
    Fact.objects.all().delete()
    Consent.objects.all().delete()
    Organization.objects.update(deleted_at=NOW)
    ledger.append(ledger_file, "organization", NOW, organization=organization.pk)
    assert "Applied: organization 1." in replay()
    assert set(OrganizationKey.objects.values_list("state", flat=True)) == {"destroyed"}


def test_an_old_memory_entry_spares_tombstones_of_later(consented: Scope, owner: User, ledger_file: Path) -> None:
    ledger.append(ledger_file, "memory", NOW - 300 * DAY, user=owner.pk)
    make_fact(consented, key="then", status="deleted", created_at=NOW - 301 * DAY)
    today = make_fact(consented, key="today", status="deleted")
    assert "Applied: memory 1." in replay()
    assert list(Fact.objects.all()) == [today]
    assert Consent.objects.get().granted
    assert "Already gone: memory 1." in replay()


# --- what members did themselves --------------------------------------------------------------------------------------


def test_a_withdrawal_that_a_restore_undid_is_done_again(consented: Scope, owner: User, ledger_file: Path) -> None:
    withdraw_consent(scope=consented, actor=owner, now=timezone.now(), surface="web")
    (entry,) = ledger.read(ledger_file)[0]
    assert entry.kind == "withdrawal"
    assert set(entry.subjects.values()) == {consented.organization_id, consented.user_id, consented.agent_id}
    Consent.objects.update(granted=True, withdrawn_at=None)
    fact = make_fact(consented)
    epoch = Consent.objects.get().epoch
    assert "Applied: withdrawal 1." in replay()
    row = Consent.objects.get()
    assert (row.granted, row.withdrawn_at, row.epoch) == (False, entry.at, epoch + 1)
    assert list(Fact.objects.all()) == [fact]
    assert "Already gone: withdrawal 1." in replay()
    event = AuditEvent.objects.filter(action="consent.withdraw").latest("id")
    assert (event.actor_id, event.reason) == (None, "replay of the erasure ledger")


def test_consent_that_was_granted_after_a_withdrawal_is_spared(consented: Scope, owner: User) -> None:
    withdraw_consent(scope=consented, actor=owner, now=timezone.now(), surface="web")
    grant(consented, owner)
    assert "Already gone: withdrawal 1." in replay()
    assert Consent.objects.get().granted


def test_a_withdrawal_by_a_clock_that_lags_is_done_again_all_the_same(consented: Scope, owner: User) -> None:
    Consent.objects.update(granted_at=NOW + timedelta(hours=1))
    withdraw_consent(scope=consented, actor=owner, now=NOW, surface="web")
    Consent.objects.update(granted=True, withdrawn_at=None)
    assert "Applied: withdrawal 1." in replay()


def test_a_fact_that_its_member_deleted_is_a_tombstone_of_then_again(
    consented: Scope, owner: User, ledger_file: Path
) -> None:
    fact, kept = make_fact(consented), make_fact(consented, key="kept")
    deleted_at = timezone.now()
    delete_fact(scope=consented, fact_id=fact.pk, actor=owner, now=deleted_at)
    Fact.objects.filter(pk=fact.pk).update(status="active", deleted_at=None)
    assert "Applied: fact 1." in replay()
    fact.refresh_from_db()
    kept.refresh_from_db()
    assert (fact.status, fact.deleted_at, kept.status) == ("deleted", deleted_at, "active")
    assert "Already gone: fact 1." in replay()
    assert AuditEvent.objects.filter(action="fact.delete", object_id=fact.pk).count() == 2
    assert "Porto" not in ledger_file.read_text()


def test_a_session_that_its_member_deleted_is_emptied_again(agent: Agent, owner: User, colleague: User) -> None:
    session, kept = make_session(agent, owner), make_session(agent, colleague)
    for one in (session, kept):
        make_turn(one, "I live in Porto.")
    backup = list(Message.objects.filter(session=session))
    deleted_at = timezone.now()
    delete_session(session=session, actor=owner, now=deleted_at)
    Session.objects.filter(pk=session.pk).update(deleted_at=None, title="Porto")
    Message.objects.bulk_create(backup)
    assert "Applied: session 1." in replay()
    session.refresh_from_db()
    assert (session.title, session.deleted_at) == ("", deleted_at)
    assert set(Message.objects.values_list("session", flat=True)) == {kept.pk}
    assert "Already gone: session 1." in replay()


def test_a_member_s_own_act_goes_on_without_a_ledger_and_the_log_names_it(
    consented: Scope, owner: User, settings: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings.ERASURE_LEDGER = tmp_path  # a folder
    withdraw_consent(scope=consented, actor=owner, now=timezone.now(), surface="web")
    assert not Consent.objects.get().granted
    assert "erasure_not_in_ledger" in caplog.text
    assert str(consented.agent_id) in caplog.text


def test_a_withdrawal_does_not_pass_for_the_deletion_of_a_person(owner: User) -> None:
    Deletion.objects.create(kind="user", subject_id=owner.pk, memory_only=False, requested_at=NOW)
    subjects = {"organization": uuid.uuid4(), "user": owner.pk, "agent": uuid.uuid4()}
    entries = [ledger.Entry(uuid.uuid4(), "withdrawal", subjects, NOW)]
    assert unrecorded(entries) == 1
    assert unrecorded([*entries, ledger.Entry(uuid.uuid4(), "user", {"user": owner.pk}, NOW)]) == 0


def test_entries_that_lack_an_id_and_ids_that_the_backup_does_not_know_change_nothing(
    consented: Scope, ledger_file: Path
) -> None:
    names = {"withdrawal": ["organization", "user", "agent"], "fact": ["fact"], "session": ["session"]}
    for kind, subjects in names.items():
        ledger.append(ledger_file, kind, NOW, **{name: uuid.uuid4() for name in subjects})
        ledger.append(ledger_file, kind, NOW, somebody=uuid.uuid4())
    said = failed_replay("Not applied: fact 1, session 1, withdrawal 1; lines")
    assert "Already gone: fact 1, session 1, withdrawal 1." in said
    assert Consent.objects.get().granted
