"""R03: subjects are deleted also when their wipe fails, leftovers are served to nobody, and the night tries again."""

import json
import uuid
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.contrib.sessions.models import Session as SignIn
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone
from guardian.models import UserObjectPermission

from accounts.models import ApiKey, Membership, Organization, User
from accounts.services import remove_member
from agents.models import Agent
from agents.permissions import grant as grant_permission
from audit.models import AuditEvent
from consent.gate import open_for_member
from consent.models import Consent
from consent.scope import ConsentedScope, Scope
from consent.services import GrantRefused, grant_consent
from conversations.models import Message
from encryption import ledger
from encryption.models import OrganizationKey
from facts.erasure import Subject
from facts.models import Fact
from facts.prompt import read_block
from facts.sealing import scope_keys_for_writing
from facts.services import MemoryClosed, list_facts, record_candidates
from lifecycle import nightly
from lifecycle.doctor import findings
from lifecycle.erasures import replay_erasures
from lifecycle.models import Deletion, PendingWipe, RetentionReport
from lifecycle.services import (
    AlreadyDeleted,
    delete_agent,
    delete_memory,
    delete_organization,
    delete_user,
    retry_wipes,
)
from tests.factories import candidate, grant, make_fact, make_key, make_member, make_session, make_turn, make_user

pytestmark = pytest.mark.django_db
STATUSES = ("active", "pending", "conflict", "superseded", "deleted")
NOW = timezone.now()
type ClientFor = Callable[..., Client]


@pytest.fixture(autouse=True)
def ledger_file(settings: Any, tmp_path: Path) -> Path:
    settings.ERASURE_LEDGER = tmp_path / "erasures.jsonl"
    return tmp_path / "erasures.jsonl"


@pytest.fixture
def support(db: None) -> User:
    return make_user("sue@support.example", staff=True)


@pytest.fixture
def full(consented: Scope, colleague: User, agent: Agent) -> Scope:
    """The owner's scope with a fact of every status; a colleague has one fact with the same agent."""
    for status in STATUSES:
        make_fact(consented, key=f"key.{status}", status=status)
    make_fact(grant(Scope(agent.organization_id, colleague.pk, agent.pk), colleague))
    return consented


@pytest.fixture
def failing(full: Scope) -> Iterator[Callable[[int], None]]:
    """Let the deletion of facts fail from the k-th row on, until `failing(0)`."""

    def fail_from(row: int) -> None:
        with connection.cursor() as cursor:
            cursor.execute("DROP TRIGGER IF EXISTS refuse ON facts_fact")
            cursor.execute("DROP SEQUENCE IF EXISTS refused")
            if not row:
                return
            cursor.execute("CREATE SEQUENCE refused")
            cursor.execute(
                "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                f"IF nextval('refused') >= {row} THEN RAISE EXCEPTION 'no more than that'; END IF; "
                "RETURN OLD; END $$"
            )
            cursor.execute("CREATE TRIGGER refuse BEFORE DELETE ON facts_fact FOR EACH ROW EXECUTE FUNCTION refuse()")

    yield fail_from
    fail_from(0)


def facts_of(user: User) -> int:
    return Fact.objects.filter(user=user).count()


def test_r03_deleting_a_user_removes_her_facts_of_every_status_and_her_consent(
    full: Scope, owner: User, colleague: User, support: User
) -> None:
    done = delete_user(user=owner, actor=support, reason="asked by letter", surface="admin", now=NOW)
    assert (done.facts, done.consents, done.wiped_at) == (5, 1, NOW)
    assert (facts_of(owner), Consent.objects.filter(user=owner).count()) == (0, 0)
    assert (facts_of(colleague), Consent.objects.filter(user=colleague).count()) == (1, 1)
    assert User.objects.get(pk=owner.pk).deleted_at == NOW
    assert not PendingWipe.objects.exists()
    event = AuditEvent.objects.get(action="user.delete")
    assert (event.actor_id, event.subject_user_id, event.reason) == (support.pk, owner.pk, "asked by letter")
    assert AuditEvent.objects.get(action="memory.wipe").details == {"facts": 5, "consents": 1}


def test_r03_a_deleted_user_s_keys_sign_ins_and_grants_end_and_her_conversations_stay(
    full: Scope, owner: User, colleague: User, agent: Agent, client_for: ClientFor
) -> None:
    key = make_key(agent.organization, owner)
    make_turn(make_session(agent, owner), "I live in Porto.")
    page, other_page = client_for(owner), client_for(colleague)
    done = delete_user(user=owner, actor=None, now=NOW)
    assert (done.api_keys, done.sessions, done.grants) == (1, 1, 2)
    assert ApiKey.objects.get().revoked_at == NOW
    assert page.get("/agents/").status_code == 302
    assert other_page.get("/agents/").status_code == 200
    assert SignIn.objects.count() == 1
    answer = Client().get("/v1/models", headers={"Authorization": f"Bearer {key}"})
    assert answer.status_code == 401
    assert set(UserObjectPermission.objects.values_list("user", flat=True)) == {colleague.pk}
    assert Message.objects.filter(session__created_by=owner).count() == 2


def test_r03_deleting_an_agent_removes_all_memory_with_it_and_the_grants_on_it(
    full: Scope, agent: Agent, owner: User
) -> None:
    make_turn(make_session(agent, owner), "I live in Porto.")
    done = delete_agent(agent=agent, actor=owner, now=NOW)
    assert (done.facts, done.consents, done.grants) == (6, 2, 4)
    assert not Fact.objects.exists()
    assert not Consent.objects.exists()
    assert not UserObjectPermission.objects.exists()
    assert Message.objects.count() == 2
    assert Membership.objects.count() == 2
    assert OrganizationKey.objects.exclude(state="destroyed").exists()


def test_r03_deleting_an_organization_destroys_its_keys_and_removes_its_memory_alone(
    full: Scope, organization: Organization, stranger: User
) -> None:
    other = Agent.objects.exclude(organization=organization).get()
    theirs = grant(Scope(other.organization_id, stranger.pk, other.pk), stranger)
    make_fact(theirs)
    done = delete_organization(organization=organization, actor=None, now=NOW)
    assert (done.facts, done.consents, done.keys_destroyed) == (6, 2, 2)
    assert set(Fact.objects.values_list("organization", flat=True)) == {other.organization_id}
    mine = OrganizationKey.objects.filter(organization=organization)
    assert {(key.state, bytes(key.wrapped)) for key in mine} == {("destroyed", b"")}
    assert len(list_facts(theirs, now=NOW)) == 1


def test_r03_removing_a_member_erases_nothing(full: Scope, organization: Organization, owner: User) -> None:
    remove_member(organization=organization, user=owner)
    assert facts_of(owner) == 5
    assert Consent.objects.get(user=owner).granted
    assert not Deletion.objects.exists()


@pytest.mark.parametrize("row", [1, 3])
@pytest.mark.parametrize("kind", ["user", "agent", "organization"])
def test_r03_when_the_wipe_fails_the_subject_is_deleted_and_nobody_is_served(
    kind: str, row: int, failing: Callable[[int], None], full: Scope, owner: User, agent: Agent, client_for: ClientFor
) -> None:
    page = client_for(owner)
    failing(row)
    if kind == "user":
        done = delete_user(user=owner, actor=None, now=NOW)
    elif kind == "agent":
        done = delete_agent(agent=agent, actor=None, now=NOW)
    else:
        done = delete_organization(organization=agent.organization, actor=None, now=NOW)
    assert (done.wiped_at, done.facts) == (None, 0)
    assert facts_of(owner) == 5
    pending = PendingWipe.objects.get()
    assert (pending.deletion_id, pending.attempts, pending.tried_at) == (done.pk, 1, NOW)
    assert AuditEvent.objects.filter(action="memory.wipe_failed").count() == 1
    # the prompt, the tab, the doctor
    assert read_block(full, surface="api", now=NOW).state in {"user", "agent"}
    assert page.get("/agents/acme/guide/memory/").status_code in {302, 404}
    with pytest.raises(GrantRefused):
        grant_consent(scope=full, actor=owner, now=NOW, surface="memoryTab")
    found = dict(findings())
    assert any("deleted" in line for line in found["orphans"])
    assert "1 wipes of deleted subjects or of their memory are not done" in found["backlog"]


def test_r03_leftovers_of_a_failed_wipe_are_counted_in_the_admin_and_shown_to_nobody(
    failing: Callable[[int], None], full: Scope, owner: User, support: User, client_for: ClientFor
) -> None:
    support.user_permissions.add(Permission.objects.get(codename="delete_subject"))
    failing(3)
    done = delete_user(user=owner, actor=support, now=NOW)
    staff = client_for(support)
    for page in (f"supportperson/{owner.pk}/change/", f"deletion/{done.pk}/change/", "queuehealth/", "supportevent/"):
        text = staff.get(f"/admin/lifecycle/{page}").content.decode()
        assert "Porto" not in text
        assert "key.active" not in text
    text = staff.get(f"/admin/lifecycle/supportperson/{owner.pk}/change/").content.decode()
    assert "the wipe waits after 1 attempt" in text
    assert PendingWipe.objects.get().error_code in text


def test_r03_the_nightly_job_tries_again_until_nothing_is_left(
    failing: Callable[[int], None], owner: User, full: Scope
) -> None:
    failing(2)
    delete_user(user=owner, actor=None, now=NOW)
    tomorrow = NOW + timedelta(days=1)
    report = nightly.run(now=tomorrow, asked_by="schedule")
    assert (report.wipes_done, report.wipes_pending) == (0, 1)
    assert PendingWipe.objects.get().attempts == 2
    failing(0)
    report = nightly.run(now=tomorrow, asked_by="schedule")
    assert (report.wipes_done, report.wipes_pending) == (1, 0)
    assert facts_of(owner) == 0
    assert Deletion.objects.get().wiped_at == tomorrow
    assert retry_wipes(now=tomorrow) == (0, 0)
    assert dict(findings())["orphans"] == []


def test_r03_keys_are_destroyed_also_when_the_rows_cannot_be(
    failing: Callable[[int], None], organization: Organization
) -> None:
    failing(1)
    done = delete_organization(organization=organization, actor=None, now=NOW)
    assert done.keys_destroyed == 2
    assert done.wiped_at is None
    assert not OrganizationKey.objects.exclude(state="destroyed").exists()


def test_r03_deleting_a_persons_memory_leaves_her_and_her_colleagues_alone(
    full: Scope, owner: User, colleague: User, support: User
) -> None:
    done = delete_memory(subject=Subject("user", owner.pk), actor=support, reason="asked", now=timezone.now())
    assert (done.memory_only, done.facts, done.consents) == (True, 5, 1)
    assert User.objects.get(pk=owner.pk).is_live
    assert (facts_of(owner), facts_of(colleague)) == (0, 1)
    assert [row.granted for row in Consent.objects.order_by("granted")] == [False, True]
    assert AuditEvent.objects.get(action="memory.delete").reason == "asked"
    grant(full, owner)
    make_fact(full)
    assert len(list_facts(full, now=timezone.now())) == 1


def test_r03_leftovers_of_a_failed_memory_wipe_are_served_to_nobody_and_what_came_after_is_spared(
    failing: Callable[[int], None], full: Scope, owner: User
) -> None:
    failing(1)
    asked_at = timezone.now()
    delete_memory(subject=Subject("user", owner.pk), actor=None, now=asked_at)
    assert set(Fact.objects.filter(user=owner).values_list("status", flat=True)) == {"deleted"}
    assert str(open_for_member(full)) == "withdrawn"
    assert list_facts(full, now=timezone.now()) == []
    grant(full, owner)
    after = make_fact(full, created_at=asked_at + timedelta(seconds=1))
    failing(0)
    assert retry_wipes(now=timezone.now()) == (1, 0)
    assert list(Fact.objects.filter(user=owner).values_list("pk", flat=True)) == [after.pk]
    assert Consent.objects.get(user=owner).granted


def test_r03_a_write_under_way_is_refused_after_the_memory_was_wiped_and_consent_granted_anew(
    full: Scope, owner: User
) -> None:
    before = open_for_member(full)
    assert isinstance(before, ConsentedScope)
    delete_memory(subject=Subject("user", owner.pk), actor=None, now=timezone.now())
    grant(full, owner)
    keys = scope_keys_for_writing(full)
    with pytest.raises(MemoryClosed, match="consent_changed"), transaction.atomic():
        record_candidates(before, [candidate()], keys=keys, now=timezone.now(), surface="api")


def test_r03_a_subject_is_deleted_once(owner: User, agent: Agent, organization: Organization) -> None:
    delete_user(user=owner, actor=None, now=NOW)
    delete_agent(agent=agent, actor=None, now=NOW)
    delete_organization(organization=organization, actor=None, now=NOW)
    with pytest.raises(AlreadyDeleted):
        delete_user(user=owner, actor=None, now=NOW)
    with pytest.raises(AlreadyDeleted):
        delete_agent(agent=agent, actor=None, now=NOW)
    with pytest.raises(AlreadyDeleted):
        delete_organization(organization=organization, actor=None, now=NOW)
    assert Deletion.objects.count() == 3


def test_r03_without_a_ledger_nothing_is_deleted(full: Scope, owner: User, settings: Any, tmp_path: Path) -> None:
    settings.ERASURE_LEDGER = tmp_path  # a folder
    with pytest.raises(ledger.LedgerError):
        delete_user(user=owner, actor=None, now=NOW)
    assert User.objects.get(pk=owner.pk).is_live
    assert facts_of(owner) == 5
    assert not Deletion.objects.exists()
    assert not AuditEvent.objects.filter(action="user.delete").exists()


def test_r03_neither_audit_nor_logs_nor_ledger_hold_what_a_fact_said(
    failing: Callable[[int], None], owner: User, ledger_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failing(1)
    delete_user(user=owner, actor=None, now=NOW)
    written = json.dumps(list(AuditEvent.objects.values()), default=str) + ledger_file.read_text()
    captured = capsys.readouterr()
    assert "Porto" not in written + captured.out + captured.err
    assert "owner@" not in ledger_file.read_text()


def entries(file: Path) -> list[ledger.Entry]:
    return ledger.read(file)[0]


def test_r03_each_deletion_is_in_the_ledger_under_its_kind(
    full: Scope, owner: User, colleague: User, agent: Agent, organization: Organization, ledger_file: Path
) -> None:
    delete_memory(subject=Subject("user", colleague.pk), actor=None, now=NOW)
    delete_user(user=owner, actor=None, now=NOW)
    delete_agent(agent=agent, actor=None, now=NOW)
    delete_organization(organization=organization, actor=None, now=NOW)
    found = {(entry.kind, *entry.subjects.items()) for entry in entries(ledger_file)}
    assert found == {
        ("memory", ("user", colleague.pk)),
        ("user", ("user", owner.pk)),
        ("agent", ("agent", agent.pk)),
        ("organization", ("organization", organization.pk)),
        ("organization_keys", ("organization", organization.pk)),
    }


def entry(kind: str, at: datetime, **subjects: uuid.UUID) -> ledger.Entry:
    return ledger.Entry(uuid.uuid4(), kind, subjects, at)


@pytest.mark.parametrize("kind", ["user", "agent", "organization"])
def test_r03_after_a_restore_the_ledger_deletes_a_subject_again(
    kind: str, full: Scope, owner: User, agent: Agent, organization: Organization, ledger_file: Path
) -> None:
    subjects: dict[str, User | Agent | Organization] = {"user": owner, "agent": agent, "organization": organization}
    subject = subjects[kind]
    erased = entry(kind, NOW, **{kind: subject.pk})
    assert replay_erasures([erased], now=NOW).applied == {kind: 1}
    assert facts_of(owner) == 0
    subject.refresh_from_db()
    assert subject.deleted_at is not None
    assert replay_erasures([erased], now=NOW).already == {kind: 1}
    assert not ledger_file.exists()


def test_r03_a_replayed_memory_erasure_spares_what_came_after_it(full: Scope, owner: User) -> None:
    now = timezone.now()
    after = make_fact(full, key="later", created_at=now + timedelta(hours=1))
    erased = entry("memory", now, user=owner.pk)
    assert replay_erasures([erased], now=now).applied == {"memory": 1}
    assert list(Fact.objects.filter(user=owner).values_list("pk", flat=True)) == [after.pk]
    assert User.objects.get(pk=owner.pk).is_live
    assert replay_erasures([erased], now=now).already == {"memory": 1}


def test_r03_replay_names_entries_that_it_cannot_apply_and_passes_over_subjects_it_does_not_know() -> None:
    strange = [entry("user", NOW, agent=uuid.uuid4()), entry("memory", NOW), entry("planet", NOW, user=uuid.uuid4())]
    outcome = replay_erasures([*strange, entry("user", NOW, user=uuid.uuid4())], now=NOW)
    assert outcome.unknown == {"user": 1, "memory": 1, "planet": 1}
    assert outcome.already == {"user": 1}


def test_r03_grants_on_other_agents_survive_an_agent(organization: Organization, agent: Agent, owner: User) -> None:
    from tests.factories import make_agent

    second = make_agent(organization, "second")
    grant_permission(agent=second, user=owner, permission="agent:read", actor=None)
    delete_agent(agent=agent, actor=None, now=NOW)
    assert list(UserObjectPermission.objects.values_list("object_pk", flat=True)) == [str(second.pk)]


def test_r03_a_new_account_with_a_deleted_person_s_address_inherits_nothing(full: Scope, owner: User) -> None:
    delete_user(user=owner, actor=None, now=NOW)
    again = make_member(owner_organization(full), None, owner.email)
    assert again.pk != owner.pk
    assert not Fact.objects.filter(user=again).exists()


def owner_organization(scope: Scope) -> Organization:
    return Organization.objects.get(pk=scope.organization_id)


def test_r01_a_night_leaves_one_report(full: Scope) -> None:
    make_fact(full, key="over", created_at=NOW - timedelta(days=2), expires_at=NOW)
    nightly.run(now=NOW, asked_by="command", clock=lambda: NOW + timedelta(seconds=3))
    report = RetentionReport.objects.get()
    assert (report.asked_by, report.expired, report.deleted, report.waiting) == ("command", 1, 0, {})
    assert report.finished_at == NOW + timedelta(seconds=3)
