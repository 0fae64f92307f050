"""The Memory tab says only what is so: after a save, a wipe, at the cap, beside a disagreement and on the last day."""

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from unittest import mock
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from consent.scope import Scope
from consent.services import withdraw_consent
from facts.erasure import Subject
from facts.meanwhile import Fate, what_became_of
from facts.models import LIFETIME, Fact
from lifecycle.services import delete_memory
from tests import factories
from tests.facts.page import HTMX, ClientFor, bodies, text, url

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


@pytest.fixture
def client(owner: User, client_for: ClientFor) -> Client:
    return client_for(owner)


@pytest.fixture
def fact(consented: Scope) -> Fact:
    return factories.make_fact(consented, body="Lives in Porto.")


def test_a_saved_text_is_not_called_unsaved(client: Client, fact: Fact, consented: Scope) -> None:
    answer = client.post(url("edit", fact), {"body": "Lives in Rome."}, headers=HTMX)
    assert "Saved." in text(answer)
    assert "not saved" not in text(answer)


def test_f10_the_same_text_with_another_day_says_that_the_day_stays(client: Client, fact: Fact) -> None:
    day = timezone.localdate() + 12 * DAY
    answer = client.post(url("edit", fact), {"body": "Lives in Porto.", "expires_at": day.isoformat()}, headers=HTMX)
    assert "nothing was changed, the day neither" in text(answer)


@pytest.mark.parametrize("status", ["conflict", "pending"])
def test_e05_facts_of_one_key_stand_together_whatever_their_types(
    client: Client, consented: Scope, status: str
) -> None:
    first = "active" if status == "conflict" else "pending"
    factories.make_fact(consented, body="Works at Lindqvist.", key="work.employer", status=first)
    factories.make_fact(consented, body="Works at Globex.", key="work.employer", memory_type="semantic", status=status)
    page = text(client.get(url()))
    assert "These facts disagree" in page
    assert "it disagrees with “Works at Lindqvist.”" in page
    assert "no longer there" not in page


def test_t03_after_a_wipe_tab_and_history_say_so(
    client: Client, fact: Fact, consented: Scope, owner: User, colleague: User
) -> None:
    delete_memory(subject=Subject("user", owner.pk), actor=colleague, reason="asked", now=timezone.now())
    page = text(client.get(url()))
    assert "Memory is off" in page
    assert "No fact is stored." in page
    assert "Your facts stay listed" not in page
    history = text(client.get(url("history")))
    assert "Memory turned off and all facts deleted" in history
    assert "Somebody else" in history


def test_t03_a_wipe_of_an_agents_memory_is_in_its_members_history_and_no_others(
    client: Client, client_for: ClientFor, fact: Fact, consented: Scope, colleague: User
) -> None:
    delete_memory(subject=Subject("agent", consented.agent_id), actor=colleague, now=timezone.now())
    assert "all facts deleted" in text(client.get(url("history")))
    other = factories.make_agent(fact.organization, "other")
    factories.make_member(fact.organization, other, "new@acme.example")
    reader = User.objects.get(email="new@acme.example")
    assert "all facts deleted" not in text(client_for(reader).get(url("history").replace("guide", "other")))


def test_f06_expired_facts_fill_no_place(client: Client, consented: Scope) -> None:
    factories.fill(consented, 199)
    made = timezone.now() - 9 * DAY
    factories.make_fact(consented, created_at=made, expires_at=made + DAY)
    page = text(client.get(url()))
    assert "199 of 200" in page
    assert "The list is full" not in page


def test_f10_a_fact_whose_row_is_gone_keeps_what_was_typed(client: Client, consented: Scope) -> None:
    answer = client.post(url("edit", uuid.uuid4()), {"body": "Lives in Rome."})
    assert answer.status_code == 404
    assert "It is no longer stored." in text(answer)
    assert "Lives in Rome." in text(answer)


def test_the_edit_form_of_a_member_who_may_not_edit_says_why_before_she_types(
    client: Client, fact: Fact, consented: Scope, owner: User
) -> None:
    withdraw_consent(scope=consented, actor=owner, now=timezone.now(), surface="memoryTab")
    answer = client.get(url("edit", fact))
    assert answer.status_code == 409
    assert "Turn it on again before you edit" in text(answer)
    assert "<textarea" not in answer.content.decode()


def test_f10_the_chosen_day_goes_along_with_a_stale_edit(client: Client, fact: Fact, consented: Scope) -> None:
    client.post(url("edit", fact), {"body": "Lives in Lisbon."})
    day = (timezone.localdate() + 12 * DAY).isoformat()
    stale = client.post(url("edit", fact), {"body": "Lives in Rome.", "expires_at": day})
    assert stale.status_code == 409
    assert f'value="{day}"' in stale.content.decode()
    assert bodies(consented) == {"Lives in Lisbon.": "active"}


@pytest.fixture
def autumn() -> Iterator[datetime]:
    """Half an hour into a day in Berlin, with the clocks going back before the lifetime is over."""
    now = datetime(2027, 5, 10, 0, 30, tzinfo=ZoneInfo("Europe/Berlin")).astimezone(UTC)
    with mock.patch("django.utils.timezone.now", return_value=now):
        yield now


def test_f05_the_last_day_that_the_form_offers_is_accepted(
    client_for: ClientFor, owner: User, consented: Scope, autumn: datetime
) -> None:
    User.objects.filter(pk=owner.pk).update(time_zone="Europe/Berlin")
    fact = factories.make_fact(consented, created_at=autumn - DAY)
    client = client_for(owner)
    page = client.get(url("edit", fact)).content.decode()
    last = page.partition('max="')[2][:10]
    assert client.post(url("edit", fact), {"body": "Lives in Rome.", "expires_at": last}).status_code == 303
    successor = Fact.objects.get(supersedes_id=fact.pk)
    assert autumn + LIFETIME - DAY < successor.expires_at <= autumn + LIFETIME


def test_rows_that_supersede_each_other_in_a_circle_end_the_search(consented: Scope, fact: Fact) -> None:
    Fact.objects.filter(pk=fact.pk).update(supersedes_id=fact.pk)
    assert what_became_of(consented, fact.pk, now=timezone.now()).fate == Fate.EDITED
