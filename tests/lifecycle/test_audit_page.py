"""`/audit/` through HTTP: whom it shows which events, how it filters and pages, and what it never shows (T03)."""

import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Organization, User
from accounts.services import remove_member, set_membership
from agents.models import Agent
from audit.models import AuditEvent
from audit.services import record
from consent.scope import Scope
from facts.services import delete_fact, edit_fact
from lifecycle.audit_pages import PAGE
from tests import factories

pytestmark = pytest.mark.django_db
type ClientFor = Callable[..., Client]
ADDRESS = "/audit/"


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def ids(response: Any) -> list[int]:
    return [shown.event.pk for shown in response.context["events"]]


def actions(response: Any) -> set[str]:
    return {shown.event.action for shown in response.context["events"]}


@pytest.fixture
def admin(organization: Organization, agent: Agent) -> User:
    return factories.make_member(organization, None, "eve@acme.example", name="Eve", role="admin")


@pytest.fixture
def support(db: None) -> User:
    user = factories.make_user("sue@support.example", name="Sue", staff=True)
    user.user_permissions.add(Permission.objects.get(codename="delete_subject"))
    return User.objects.get(pk=user.pk)


# --- who sees what ----------------------------------------------------------------------------------------------------


def test_t03_a_member_sees_what_was_done_to_her_and_what_she_did(
    client_for: ClientFor, owner: User, colleague: User, consented: Scope, organization: Organization
) -> None:
    record("api_key.revoke", actor=colleague, organization_id=organization.pk, subject_user_id=colleague.pk)
    record("agent.update", actor=owner, organization_id=organization.pk)
    response = client_for(owner).get(ADDRESS)
    assert actions(response) == {"user.create", "member.set", "permission.grant", "consent.grant", "agent.update"}
    assert ids(response) == sorted(ids(response), reverse=True)
    page = text(response)
    for said in ("What concerns you", "Memory was turned on for an agent.", "By you · about you · agent Guide · Acme"):
        assert said in page
    assert "Ben" not in page


def test_t03_an_administrator_sees_all_events_of_the_organization_and_of_no_other(
    client_for: ClientFor, admin: User, owner: User, consented: Scope, stranger: User, organization: Organization
) -> None:
    client = client_for(admin)
    assert "consent.grant" not in actions(client.get(ADDRESS))
    assert "?organization=acme" in text(client.get(ADDRESS))
    response = client.get(ADDRESS, {"organization": "acme"})
    assert {"organization.create", "consent.grant", "agent.create"} <= actions(response)
    assert {shown.event.organization_id for shown in response.context["events"]} == {organization.pk}
    assert "By Ana · about Ana" in text(response)
    assert client.get(ADDRESS, {"organization": "other"}).status_code == 404


def test_i04_a_plain_member_gets_403_for_her_organization_and_404_for_another_or_none(
    client_for: ClientFor, owner: User, stranger: User
) -> None:
    client = client_for(owner)
    assert "organization=" not in text(client.get(ADDRESS))
    for slug, status in (("acme", 403), ("other", 404), ("nothing", 404), ("a\x00b", 404)):
        assert client.get(ADDRESS, {"organization": slug}).status_code == status


def test_an_administrator_who_is_demoted_or_removed_sees_it_no_more(
    client_for: ClientFor, admin: User, organization: Organization
) -> None:
    client = client_for(admin)
    set_membership(organization=organization, user=admin, role="member")
    assert client.get(ADDRESS, {"organization": "acme"}).status_code == 403
    remove_member(organization=organization, user=admin)
    assert client.get(ADDRESS, {"organization": "acme"}).status_code == 404
    assert "member.remove" in actions(client.get(ADDRESS))


def test_t03_support_sees_what_concerns_a_subject_also_one_who_is_gone(
    client_for: ClientFor, support: User, owner: User, consented: Scope
) -> None:
    client = client_for(support)
    assert "What concerns Ana" in text(client.get(ADDRESS, {"subject": str(owner.pk)}))
    owner.deleted_at = timezone.now()
    owner.save(update_fields=["deleted_at"])
    response = client.get(ADDRESS, {"subject": str(owner.pk)})
    assert "consent.grant" in actions(response)
    assert "Ana" not in text(response)
    assert "By deleted · about deleted" in text(response)
    assert client.get(ADDRESS, {"subject": str(uuid.uuid4())}).status_code == 200
    assert client.get(ADDRESS, {"subject": "no id"}).status_code == 404


def test_i04_nobody_else_may_look_a_person_up(client_for: ClientFor, owner: User, admin: User, colleague: User) -> None:
    staff = factories.make_user("tom@support.example", staff=True)
    left = factories.make_user("uma@support.example")  # holds the permission and is no staff any more
    left.user_permissions.add(Permission.objects.get(codename="delete_subject"))
    for user in (owner, admin, staff, left):
        assert "by id" not in text(client_for(user).get(ADDRESS))
        for subject in (colleague.pk, uuid.uuid4()):
            assert client_for(user).get(ADDRESS, {"subject": str(subject)}).status_code == 404
    assert client_for(owner).get(ADDRESS, {"subject": str(owner.pk)}).status_code == 200


def test_anonymous_people_sign_in_first_and_nothing_is_posted(client_for: ClientFor, owner: User) -> None:
    assert Client().get(ADDRESS)["Location"] == f"{reverse('login')}?next={ADDRESS}"
    assert client_for(owner).post(ADDRESS).status_code == 405


# --- filter and pages -------------------------------------------------------------------------------------------------


def test_a_group_of_actions_is_a_link(client_for: ClientFor, owner: User, consented: Scope) -> None:
    client = client_for(owner)
    assert 'href="/audit/?group=consent"' in text(client.get(ADDRESS))
    assert actions(client.get(ADDRESS, {"group": "consent"})) == {"consent.grant"}
    assert "Nothing of this kind has happened" in text(client.get(ADDRESS, {"group": "fact"}))
    assert client.get(ADDRESS, {"group": "no such"}).status_code == 404


def test_pages_follow_one_another_without_a_gap_or_a_double(
    client_for: ClientFor, admin: User, owner: User, organization: Organization
) -> None:
    for number in range(PAGE * 2):
        who = {"actor": owner} if number % 3 else {"actor": owner, "subject_user_id": owner.pk}
        record("agent.update", organization_id=organization.pk, **who)
    for user, query in ((owner, ""), (admin, "?organization=acme"), (owner, "?group=agent")):
        client, seen, address = client_for(user), list[int](), f"{ADDRESS}{query}"
        while address:
            response = client.get(address)
            seen += ids(response)
            older = response.context["older"]
            assert older == "" or len(ids(response)) == PAGE
            address = f"{ADDRESS}{older}" if older else ""
        assert seen == sorted(set(seen), reverse=True)
        assert len(seen) >= PAGE * 2
    assert "There is nothing older" in text(client_for(owner).get(ADDRESS, {"before": "1"}))
    assert client_for(owner).get(ADDRESS, {"before": "x" * 40}).status_code == 200


def test_a_page_takes_few_queries_however_many_events(
    client_for: ClientFor, admin: User, organization: Organization, django_assert_max_num_queries: Any
) -> None:
    for number in range(PAGE):
        user = factories.make_user(f"u{number}@acme.example")
        record("member.set", actor=user, subject_user_id=user.pk, organization_id=organization.pk)
    client = client_for(admin)
    with django_assert_max_num_queries(10):
        client.get(ADDRESS, {"organization": "acme"})


def test_each_filter_of_the_page_has_an_index_in_the_order_of_the_page(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE tablename = %s", [AuditEvent._meta.db_table])
        indexes = " ".join(definition for (definition,) in cursor.fetchall())
    for field in ("organization_id", "subject_user_id", "actor_id"):
        assert f"({field}, id DESC)" in indexes


# --- what is shown ----------------------------------------------------------------------------------------------------


def test_times_are_in_the_members_zone(client_for: ClientFor, owner: User) -> None:
    owner.time_zone = "Asia/Kathmandu"
    owner.save(update_fields=["time_zone"])
    event = AuditEvent(action="agent.update", actor_id=owner.pk)
    event.save()
    at = event.at.astimezone(UTC)
    page = client_for(owner).get(ADDRESS).content.decode()
    assert "+05:45" in page
    assert datetime.fromisoformat(page.split('datetime="')[1].split('"')[0]) == at


def test_the_page_has_no_text_of_a_fact_and_escapes_names(
    client_for: ClientFor, admin: User, owner: User, consented: Scope
) -> None:
    fact = factories.make_fact(consented, body="Plants zinnias.", key="garden.flower")
    successor = edit_fact(scope=consented, fact_id=fact.pk, body="Plants dahlias.", actor=owner, now=timezone.now())
    delete_fact(scope=consented, fact_id=successor.pk, actor=owner, now=timezone.now())
    owner.name = "<b>Ana</b>"
    owner.save(update_fields=["name"])
    for user, query in ((owner, {}), (admin, {"organization": "acme"})):
        page = text(client_for(user).get(ADDRESS, query))
        assert "A fact was deleted." in page
        for planted in ("innias", "ahlias", "garden", "<b>Ana"):
            assert planted not in page


def test_someone_of_whom_nothing_is_known_reads_so(client_for: ClientFor, db: None) -> None:
    user = User.objects.create_user("nobody@acme.example")
    assert "Nothing has been recorded yet" in text(client_for(user).get(ADDRESS))


def test_the_header_leads_to_the_audit(client_for: ClientFor, owner: User) -> None:
    assert f'href="{ADDRESS}"' in text(client_for(owner).get(reverse("agents")))
