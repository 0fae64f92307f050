"""A stale edit or delete: what became of the fact, what is stored, what was typed, and how to go on (F10, F11)."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from consent.scope import Scope
from consent.services import withdraw_consent
from facts.meanwhile import Fate, what_became_of
from facts.models import TOMBSTONE_KEPT, Fact
from facts.services import delete_fact, edit_fact, tombstone_expired
from tests import factories
from tests.facts.page import bodies, text, url

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


@pytest.fixture
def client(owner: User, client_for: Callable[..., Client]) -> Client:
    return client_for(owner)


@pytest.fixture
def fact(consented: Scope) -> Fact:
    return factories.make_fact(consented, body="Lives in Porto.")


def edit(scope: Scope, fact_id: uuid.UUID, body: str, user: User) -> Fact:
    return edit_fact(scope=scope, fact_id=fact_id, body=body, actor=user, now=timezone.now())


def test_an_edited_fact_leads_to_its_newest_version(consented: Scope, fact: Fact, owner: User) -> None:
    now = timezone.now()
    second = edit(consented, fact.pk, "Lives in Lisbon.", owner)
    third = edit(consented, second.pk, "Lives in Faro.", owner)
    found = what_became_of(consented, fact.pk, now=now)
    assert (found.fate, found.current_id) == (Fate.EDITED, third.pk)
    assert what_became_of(consented, second.pk, now=now).current_id == third.pk
    delete_fact(scope=consented, fact_id=third.pk, actor=owner, now=now)
    found = what_became_of(consented, fact.pk, now=now)
    assert (found.fate, found.at, found.removed_at) == (Fate.DELETED, now, now + TOMBSTONE_KEPT)
    Fact.objects.filter(pk=third.pk).delete()
    assert what_became_of(consented, fact.pk, now=now).fate == Fate.GONE


def test_an_expired_fact_is_told_from_a_deleted_one(consented: Scope, owner: User) -> None:
    made = timezone.now() - 9 * DAY
    old = factories.make_fact(consented, created_at=made, expires_at=made + DAY)
    now = timezone.now()
    assert what_became_of(consented, old.pk, now=now).fate == Fate.EXPIRED
    assert tombstone_expired(consented, now=now) == 1
    found = what_became_of(consented, old.pk, now=now)
    assert (found.fate, found.at) == (Fate.EXPIRED, made + DAY)


def test_a_fact_of_somebody_else_became_nothing(consented: Scope, fact: Fact, colleague: User, owner: User) -> None:
    edit(consented, fact.pk, "Lives in Lisbon.", owner)
    foreign = Scope(consented.organization_id, colleague.pk, consented.agent_id)
    assert what_became_of(foreign, fact.pk, now=timezone.now()).fate == Fate.GONE


def test_the_way_to_go_on_saves_the_typed_text_over_the_current_version(
    client: Client, consented: Scope, fact: Fact, owner: User
) -> None:
    current = edit(consented, fact.pk, "Lives in Lisbon.", owner)
    page = text(client.post(url("edit", fact), {"body": "Lives in Braga & Porto."}))
    assert "It was edited at" in page
    assert "Lives in Lisbon." in page
    assert "Lives in Braga &amp; Porto.</textarea>" in page
    assert f'action="{url("edit", current)}"' in page
    assert client.post(url("edit", current), {"body": "Lives in Braga & Porto."}).status_code == 303
    assert bodies(consented) == {"Lives in Braga & Porto.": "active"}


@pytest.mark.parametrize("fate", ["deleted", "expired"])
def test_for_a_fact_that_is_gone_the_text_is_kept_and_no_way_back_is_offered(
    client: Client, consented: Scope, owner: User, fate: str
) -> None:
    made = timezone.now() - 9 * DAY
    expires = made + DAY if fate == "expired" else made + 20 * DAY
    gone = factories.make_fact(consented, created_at=made, expires_at=expires)
    if fate == "deleted":
        delete_fact(scope=consented, fact_id=gone.pk, actor=owner, now=timezone.now())
    response = client.post(url("edit", gone), {"body": "Lives in Braga."})
    page = text(response)
    assert response.status_code == 409
    assert ("It expired at" if fate == "expired" else "It was deleted (") in page
    assert "Lives in Braga.</textarea>" in page
    assert "cannot be brought back here" in page
    assert "Save this instead" not in page


def test_a_stale_page_without_typed_text_leads_to_the_current_version(
    client: Client, consented: Scope, fact: Fact, owner: User
) -> None:
    current = edit(consented, fact.pk, "Lives in Lisbon.", owner)
    page = text(client.get(url("edit", fact)))
    assert f'href="{url("edit", current)}">Edit what is stored now' in page
    for response in (client.get(url("delete", fact)), client.post(url("delete", fact))):
        assert response.status_code == 409
        assert f'href="{url("delete", current)}">Delete what is stored now' in text(response)
    assert bodies(consented) == {"Lives in Lisbon.": "active"}


def test_after_a_withdrawal_a_stale_edit_keeps_the_text_but_offers_no_save(
    client: Client, consented: Scope, fact: Fact, owner: User
) -> None:
    edit(consented, fact.pk, "Lives in Lisbon.", owner)
    withdraw_consent(scope=consented, actor=owner, now=timezone.now(), surface="memoryTab")
    page = text(client.post(url("edit", fact), {"body": "Lives in Braga."}))
    assert "not saved; copy it from here" in page
    assert "Save this instead" not in page


def test_following_versions_takes_a_constant_number_of_queries(
    consented: Scope, fact: Fact, owner: User, django_assert_num_queries: Any
) -> None:
    newest = fact
    for number in range(10):
        newest = edit(consented, newest.pk, f"Lives in city {number}.", owner)
    with django_assert_num_queries(2):
        assert what_became_of(consented, fact.pk, now=timezone.now()).current_id == newest.pk
