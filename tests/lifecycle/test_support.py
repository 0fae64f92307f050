"""R04: support staff find a subject, see counts and never texts, delete it, and see and download the result."""

import json
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Organization, User
from agents.models import Agent
from audit.models import AuditEvent
from consent.scope import Scope
from facts.models import Fact
from lifecycle.models import Deletion, PendingWipe, RetentionReport
from lifecycle.receipts import verify
from tests.factories import make_fact, make_member, make_session, make_user
from tests.refusals import refusing

pytestmark = pytest.mark.django_db
type ClientFor = Callable[..., Client]
KINDS = {"user": "supportperson", "agent": "supportagent", "organization": "supportorganization"}


@pytest.fixture(autouse=True)
def ledger_file(settings: Any, tmp_path: Path) -> Path:
    settings.ERASURE_LEDGER = tmp_path / "erasures.jsonl"
    return tmp_path / "erasures.jsonl"


@pytest.fixture
def support(db: None) -> User:
    """Staff with the permission and no superuser flag."""
    user = make_user("sue@support.example", name="Sue", staff=True)
    user.user_permissions.add(Permission.objects.get(codename="delete_subject"))
    return user


@pytest.fixture
def client(support: User, client_for: ClientFor) -> Client:
    return client_for(support)


@pytest.fixture
def full(consented: Scope, owner: User, agent: Agent) -> Scope:
    make_fact(consented)
    make_fact(consented, key="secret.label", body="Keeps bees.")
    make_fact(consented, key="old", status="superseded")
    make_fact(consented, key="older", status="deleted")
    make_session(agent, owner)
    return consented


def address(kind: str, subject: Any, what: str = "change") -> str:
    return reverse(f"admin:lifecycle_{KINDS[kind]}_{what}", args=[subject.pk])


@pytest.fixture
def subjects(owner: User, agent: Agent, organization: Organization) -> dict[str, Any]:
    return {"user": owner, "agent": agent, "organization": organization}


def changelist(kind: str) -> str:
    return reverse(f"admin:lifecycle_{KINDS[kind]}_changelist")


def test_r04_a_person_is_found_by_her_whole_address_or_id(client: Client, owner: User, colleague: User) -> None:
    for term in ("ANA@acme.example", f" {owner.pk} ", str(owner.pk).upper()):
        text = client.get(changelist("user"), {"q": term}).content.decode()
        assert owner.email in text
        assert colleague.email not in text
    for term in ("", "acme", "%", "ana", "\x00"):
        assert owner.email not in client.get(changelist("user"), {"q": term}).content.decode()


def test_r04_an_organization_and_an_agent_are_found_by_slug_or_id(client: Client, subjects: dict[str, Any]) -> None:
    for kind in ("agent", "organization"):
        for term in (subjects[kind].slug, str(subjects[kind].pk)):
            assert str(subjects[kind].pk) in client.get(changelist(kind), {"q": term}).content.decode()


@pytest.mark.parametrize("kind", list(KINDS))
def test_r04_a_subject_s_page_has_counts_history_and_activity_and_no_text(
    kind: str, client: Client, full: Scope, subjects: dict[str, Any]
) -> None:
    deletion = Deletion.objects.create(
        kind=kind, subject_id=subjects[kind].pk, memory_only=True, requested_at=timezone.now() - timedelta(days=9)
    )
    PendingWipe.objects.create(deletion=deletion, attempts=3, error_code="DatabaseError")
    answer = client.get(address(kind, subjects[kind]))
    text = answer.content.decode()
    assert answer.status_code == 200
    (count,) = answer.context["page"].memory
    assert (count.organization, count.agent) == ("acme", "guide")
    assert (count.live, count.superseded, count.tombstones, count.consents) == (2, 1, 1, 1)
    (change,) = answer.context["page"].consent_changes
    assert (change.sentence, change.agent) == ("Memory was turned on for an agent.", "acme/guide")
    assert change.surface == "Memory tab"
    assert ("acme (Member)" in text) == (kind == "user")
    assert "3 attempts" in text
    assert answer.context["page"].last_activity is not None
    sealed = [bytes(fact.sealed).hex() for fact in Fact.objects.all()]
    for secret in ("Porto", "home.city", "bees", "secret.label", *sealed):
        assert secret not in text


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("what", ["erase", "erase_memory"])
def test_r04_a_deletion_is_confirmed_in_writing_with_a_reason_and_shows_its_result_and_receipt(
    what: str, kind: str, client: Client, support: User, full: Scope, subjects: dict[str, Any]
) -> None:
    subject = subjects[kind]
    typed = {"user": "Ana@ACME.example", "agent": "acme/guide", "organization": "acme"}[kind]
    page = address(kind, subject, what)
    asked = client.get(page).content.decode()
    assert "onversations" in asked
    assert Fact.objects.count() == 4
    for wrong in ({"typed": "x", "reason": "T-1"}, {"typed": typed, "reason": " "}, {"typed": typed}):
        assert client.post(page, wrong).status_code == 400
    assert Fact.objects.count() == 4
    answer = client.post(page, {"typed": typed, "reason": "T-1"})
    deletion = Deletion.objects.get()
    assert (answer.status_code, answer["Location"]) == (303, f"/admin/lifecycle/deletion/{deletion.pk}/change/")
    assert (deletion.actor_id, deletion.reason, deletion.facts) == (support.pk, "T-1", 4)
    assert not Fact.objects.exists()
    subject.refresh_from_db()
    assert (subject.deleted_at is not None) == (what == "erase")
    action = f"{kind}.delete" if what == "erase" else "memory.delete"
    event = AuditEvent.objects.get(action=action)
    assert (event.actor_id, event.reason, event.surface) == (support.pk, "T-1", "admin")
    assert address(kind, subject) in client.get(answer["Location"]).content.decode()
    file = client.get(reverse("admin:lifecycle_deletion_receipt", args=[deletion.pk]))
    assert "attachment" in file["Content-Disposition"]
    assert verify(file.content.decode())["removed"]["facts"] == 4
    assert "T-1" not in file.content.decode()
    if what == "erase":
        assert client.post(page, {"typed": typed, "reason": "T-1"}).status_code == 409
        assert Deletion.objects.count() == 1


@pytest.mark.parametrize("who", ["staff", "member", "anonymous"])
def test_r04_nobody_without_the_permission_gets_in(
    who: str, full: Scope, subjects: dict[str, Any], client_for: ClientFor, owner: User
) -> None:
    staff = make_user("pete@staff.example", staff=True)
    client = {"staff": client_for(staff), "member": client_for(owner), "anonymous": Client()}[who]
    deletion = Deletion.objects.create(kind="user", subject_id=owner.pk, memory_only=True, requested_at=timezone.now())
    pages = [changelist(kind) for kind in KINDS]
    pages += [
        address(kind, subject, what)
        for kind, subject in subjects.items()
        for what in ("change", "erase", "erase_memory")
    ]
    pages += [reverse(f"admin:lifecycle_deletion_{what}", args=[deletion.pk]) for what in ("change", "receipt")]
    pages += [reverse("admin:lifecycle_deletion_changelist"), reverse("admin:lifecycle_retentionreport_changelist")]
    for page in pages:
        for answer in (client.get(page), client.post(page, {"typed": "ana@acme.example", "reason": "T-1"})):
            assert answer.status_code in ((403,) if who == "staff" else (302,)), page
    assert Fact.objects.count() == 4


def test_r04_nobody_deletes_herself_and_support_deletes_no_staff(
    client: Client, support: User, client_for: ClientFor
) -> None:
    root = User.objects.create_superuser("root@support.example", "x")
    operator = User.objects.create_user("operator@support.example", "x", is_staff=True)
    for user in (support, root, operator):
        assert "You may not delete" in client.get(address("user", user)).content.decode()
        for what in ("erase", "erase_memory"):
            answer = client.post(address("user", user, what), {"typed": user.email, "reason": "T-1"})
            assert answer.status_code == 403
    other = User.objects.create_superuser("other@support.example", "x")
    for user in (other, operator):
        assert client_for(root).get(address("user", user, "erase")).status_code == 200


def test_r04_an_absent_subject_is_not_found(client: Client) -> None:
    for kind, model in KINDS.items():
        absent = User()
        for what in ("change", "erase", "erase_memory"):
            assert client.get(address(kind, absent, what)).status_code == 404
        assert client.get(f"/admin/lifecycle/{model}/not-an-id/change/").status_code == 404


def test_r04_the_page_warns_before_an_organization_loses_its_only_owner(
    client: Client, organization: Organization
) -> None:
    olga = make_member(organization, None, "olga@acme.example", role="owner")
    assert "no other owner: acme" in client.get(address("user", olga, "erase")).content.decode()
    make_member(organization, None, "otto@acme.example", role="owner")
    assert "no other owner" not in client.get(address("user", olga, "erase")).content.decode()


def test_r04_a_wipe_that_waits_is_said_on_the_result_page(client: Client, owner: User) -> None:
    deletion = Deletion.objects.create(kind="user", subject_id=owner.pk, memory_only=False, requested_at=timezone.now())
    PendingWipe.objects.create(deletion=deletion, attempts=1, error_code="DatabaseError")
    text = client.get(reverse("admin:lifecycle_deletion_change", args=[deletion.pk])).content.decode()
    assert "The wipe waits after 1 attempt (DatabaseError)" in text


def test_r04_a_reason_of_two_lines_is_refused(client: Client, owner: User) -> None:
    answer = client.post(address("user", owner, "erase"), {"typed": owner.email, "reason": "T-1\nT-2"})
    assert answer.status_code == 400
    assert "one line" in answer.content.decode()


@pytest.mark.parametrize("superuser", [False, True])
def test_r03_no_admin_page_offers_stock_delete_bulk_delete_or_export(
    superuser: bool, support: User, client: Client, client_for: ClientFor, owner: User, rf: Any
) -> None:
    user = User.objects.create_superuser("root@support.example", "x") if superuser else support
    request = rf.get("/admin/")
    request.user = user
    for model, model_admin in admin.site._registry.items():
        if model.__module__.partition(".")[0] in {"accounts", "lifecycle"}:
            assert not model_admin.has_delete_permission(request), model
            assert "delete_selected" not in model_admin.get_actions(request), model
    signed_in = client_for(user)
    for kind, model_name in KINDS.items():
        assert signed_in.get(f"/admin/lifecycle/{model_name}/{owner.pk}/delete/").status_code in {403, 404}
        bulk = {"action": "delete_selected", "_selected_action": [str(owner.pk)], "post": "yes"}
        signed_in.post(changelist(kind), bulk)
    signed_in.post("/admin/accounts/user/", {"action": "delete_selected", "_selected_action": [str(owner.pk)]})
    assert User.objects.get(pk=owner.pk).is_live


def test_r02_support_staff_see_the_nights(client: Client) -> None:
    RetentionReport.objects.create(asked_by="schedule", started_at=timezone.now(), waiting={"deleted": 7})
    text = client.get(reverse("admin:lifecycle_retentionreport_changelist")).content.decode()
    assert json.dumps({"deleted": 7}).replace('"', "&quot;") in text


def test_r04_the_index_shows_support_its_pages(client: Client) -> None:
    text = client.get("/admin/").content.decode()
    for page in (*map(changelist, KINDS), reverse("admin:lifecycle_deletion_changelist")):
        assert page in text


def test_r04_operators_give_and_take_the_permission_by_command_and_the_audit_log_tells(
    db: None, client_for: ClientFor
) -> None:
    user = make_user("pat@support.example")
    for _ in range(2):
        call_command("support_staff", "PAT@support.example", stdout=StringIO())
    user = User.objects.get(pk=user.pk)
    assert (user.is_staff, user.is_superuser) == (True, False)
    assert client_for(user).get(changelist("user")).status_code == 200
    call_command("support_staff", "pat@support.example", "--revoke", stdout=StringIO())
    assert client_for(user).get(changelist("user")).status_code == 403
    actions = AuditEvent.objects.filter(action__startswith="support.", subject_user_id=user.pk)
    assert list(actions.order_by("pk").values_list("action", flat=True)) == ["support.grant", "support.revoke"]
    with pytest.raises(CommandError, match="no account"):
        call_command("support_staff", "nobody@support.example")


def test_r04_a_deletion_that_the_database_refuses_changes_nothing_and_says_so(
    client: Client, full: Scope, owner: User
) -> None:
    typed = {"typed": owner.email, "reason": "T-1"}
    with refusing("UPDATE", "facts_fact", "true"):
        answer = client.post(address("user", owner, "erase_memory"), typed)
    assert answer.status_code == 503
    assert "The database refused, so nothing was deleted." in answer.content.decode()
    assert Fact.objects.filter(status="active").count() == 2
    assert not Deletion.objects.exists()
    assert client.post(address("user", owner, "erase_memory"), typed).status_code == 303
