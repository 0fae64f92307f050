"""T04 and R03 through their doors: how long conversations are kept, and an owner who deletes her organization."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Organization, User
from agents.models import Agent
from audit.models import AuditEvent
from consent.models import Consent
from consent.scope import Scope
from conversations.models import Session
from encryption.models import OrganizationKey
from facts.models import Fact
from lifecycle.models import Deletion
from tests.factories import make_fact, make_member, make_session

pytestmark = pytest.mark.django_db
type ClientFor = Callable[..., Client]
TRANSCRIPTS = "/organizations/acme/transcripts/"
DELETE = "/organizations/acme/delete/"


@pytest.fixture(autouse=True)
def ledger_file(settings: Any, tmp_path: Path) -> None:
    settings.ERASURE_LEDGER = tmp_path / "erasures.jsonl"


@pytest.fixture
def boss(organization: Organization) -> User:
    return make_member(organization, None, "olga@acme.example", role="owner")


@pytest.fixture
def administrator(organization: Organization) -> User:
    return make_member(organization, None, "eve@acme.example", role="admin")


def text_of(answer: Any) -> str:
    return str(answer.content.decode())


def test_t04_owners_and_administrators_set_how_long_conversations_are_kept(
    boss: User, administrator: User, organization: Organization, client_for: ClientFor
) -> None:
    for user, typed, days in ((boss, " 90 ", 90), (administrator, "", None), (administrator, "3650", 3650)):
        client = client_for(user)
        answer = client.post(TRANSCRIPTS, {"days": typed})
        assert (answer.status_code, answer["Location"]) == (303, TRANSCRIPTS)
        organization.refresh_from_db()
        assert organization.transcript_days == days
        assert "Saved." in text_of(client.get(TRANSCRIPTS))
        assert AuditEvent.objects.filter(action="organization.set_transcripts").latest("pk").actor_id == user.pk


@pytest.mark.parametrize("typed", ["0", "3651", "-1", "1.5", "soon", "٣", "\x00"])
def test_t04_an_unreadable_number_is_refused_and_kept_in_its_field(
    typed: str, boss: User, organization: Organization, client_for: ClientFor
) -> None:
    answer = client_for(boss).post(TRANSCRIPTS, {"days": typed})
    assert answer.status_code == 400
    assert "from 1 to 3650, or leave the field empty" in text_of(answer)
    assert f'value="{typed}"' in text_of(answer)
    organization.refresh_from_db()
    assert organization.transcript_days is None


def test_t04_a_form_without_its_field_changes_nothing(
    boss: User, organization: Organization, client_for: ClientFor
) -> None:
    Organization.objects.update(transcript_days=90)
    assert client_for(boss).post(TRANSCRIPTS).status_code == 400
    organization.refresh_from_db()
    assert organization.transcript_days == 90


def test_t04_the_page_says_how_many_conversations_go_tonight(
    boss: User, owner: User, agent: Agent, client_for: ClientFor
) -> None:
    make_session(agent, owner)
    Session.objects.update(last_activity_at=timezone.now() - timedelta(days=9))
    client = client_for(boss)
    client.post(TRANSCRIPTS, {"days": "7"})
    text = text_of(client.get(TRANSCRIPTS))
    assert "1 conversation is that old now and is deleted tonight" in text
    assert "1 conversation goes tonight." in text
    assert "Facts are not deleted" in text
    assert Session.objects.exists()


def test_t04_members_are_refused_and_strangers_find_nothing(
    owner: User, stranger: User, boss: User, client_for: ClientFor
) -> None:
    for user, code in ((owner, 403), (stranger, 404)):
        for answer in (client_for(user).get(TRANSCRIPTS), client_for(user).post(TRANSCRIPTS, {"days": "1"})):
            assert answer.status_code == code
    Organization.objects.filter(slug="acme").update(deleted_at=timezone.now())
    assert client_for(boss).get(TRANSCRIPTS).status_code == 404


def test_t04_the_audit_page_leads_administrators_there_and_only_owners_on_to_deletion(
    boss: User, administrator: User, client_for: ClientFor
) -> None:
    assert TRANSCRIPTS in text_of(client_for(administrator).get("/audit/?organization=acme"))
    assert DELETE not in text_of(client_for(administrator).get(TRANSCRIPTS))
    assert DELETE in text_of(client_for(boss).get(TRANSCRIPTS))


def test_r03_an_owner_deletes_her_organization_with_its_keys_and_memory(
    boss: User, owner: User, consented: Scope, client_for: ClientFor, stranger: User
) -> None:
    make_fact(consented)
    client, member = client_for(boss), client_for(owner)
    answer = client.post(DELETE, {"typed": " ACME "})
    assert (answer.status_code, answer["Location"]) == (303, "/organizations/")
    assert "its keys are destroyed" in text_of(client.get("/organizations/"))
    assert not Fact.objects.exists()
    assert not Consent.objects.exists()
    assert not OrganizationKey.objects.exclude(state="destroyed").exists()
    event = AuditEvent.objects.get(action="organization.delete")
    assert (event.actor_id, event.surface) == (boss.pk, "organization")
    assert client.get(DELETE).status_code == 404
    assert member.get("/agents/acme/guide/memory/").status_code == 404
    assert Organization.objects.get(slug="other").deleted_at is None


def test_r03_the_organization_s_page_says_what_goes_and_what_stays_and_looking_deletes_nothing(
    boss: User, client_for: ClientFor
) -> None:
    text = text_of(client_for(boss).get(DELETE))
    for sentence in (
        "data keys are destroyed",
        "Conversations stay",
        "Accounts of members stay",
        "Type acme to confirm",
    ):
        assert sentence in text
    assert not Deletion.objects.exists()


@pytest.mark.parametrize("typed", ["", "acm", "other", "\x00"])
def test_r03_without_the_typed_slug_no_organization_is_deleted(
    typed: str, boss: User, organization: Organization, client_for: ClientFor
) -> None:
    answer = client_for(boss).post(DELETE, {"typed": typed})
    assert answer.status_code == 400
    assert "Nothing was deleted" in text_of(answer)
    organization.refresh_from_db()
    assert organization.deleted_at is None


@pytest.mark.parametrize(("who", "code"), [("owner", 403), ("administrator", 403), ("stranger", 404)])
def test_r03_nobody_but_an_owner_may_delete_the_organization(
    who: str,
    code: int,
    owner: User,
    administrator: User,
    stranger: User,
    client_for: ClientFor,
    organization: Organization,
) -> None:
    client = client_for({"owner": owner, "administrator": administrator, "stranger": stranger}[who])
    for answer in (client.get(DELETE), client.post(DELETE, {"typed": "acme"})):
        assert answer.status_code == code
    organization.refresh_from_db()
    assert organization.deleted_at is None


def test_r03_a_ledger_that_cannot_be_written_keeps_the_organization(
    boss: User, organization: Organization, client_for: ClientFor, settings: Any, tmp_path: Path
) -> None:
    settings.ERASURE_LEDGER = tmp_path  # a folder
    answer = client_for(boss).post(DELETE, {"typed": "acme"})
    assert answer.status_code == 503
    assert "Nothing was deleted" in text_of(answer)
    organization.refresh_from_db()
    assert organization.deleted_at is None
