"""The history page: everything that happened to one's own consent and facts, and no text of any (T01, T03)."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from agents.models import Agent
from audit.services import record
from consent.scope import Scope
from consent.services import withdraw_consent
from facts.history import PAGE, read_history
from facts.models import Fact
from facts.services import delete_fact, edit_fact
from tests import factories
from tests.facts.page import text, url

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(owner: User, client_for: Callable[..., Client]) -> Client:
    return client_for(owner)


def told(scope: Scope) -> list[str]:
    return [entry.what for entry in read_history(scope).entries]


def test_everything_is_told_newest_first_with_who_and_where(client: Client, consented: Scope, owner: User) -> None:
    made = timezone.now() - timedelta(days=9)
    factories.make_fact(consented, key="old", body="Old.", created_at=made, expires_at=made + timedelta(days=1))
    factories.make_fact(consented, key="older", body="Older.", created_at=made, expires_at=made + timedelta(days=1))
    factories.record_facts(
        consented,
        factories.candidate(),
        factories.candidate("diet", "Vegan."),
        factories.candidate("sport", "Swims."),
        factories.candidate("sport", "Never swims."),
    )
    factories.record_facts(consented, factories.candidate("diet", "Eats all."))
    doubted = Fact.objects.for_scope(consented).get(status="conflict")
    saved = edit_fact(scope=consented, fact_id=doubted.pk, body="Eats fish.", actor=owner, now=timezone.now())
    again = edit_fact(scope=consented, fact_id=saved.pk, body="Eats fish now.", actor=owner, now=timezone.now())
    delete_fact(scope=consented, fact_id=again.pk, actor=owner, now=timezone.now())
    withdraw_consent(scope=consented, actor=owner, now=timezone.now(), surface="memoryTab")
    assert told(consented) == [
        "Memory turned off",
        "A fact deleted",
        "A fact edited",
        "A fact in conflict edited; its new text is active",
        "1 fact set aside",
        "2 facts learned, 2 facts set aside",
        "2 facts expired",
        "Memory turned on",
    ]
    page = text(client.get(url("history")))
    for said in ("You · Memory tab", "Automatically · API", "2 disagree with each other", "Consent text, version 1"):
        assert said in page
    for body in ("Vegan", "Eats fish", "Swims", "Old."):
        assert body not in page


def test_an_edit_of_a_fact_that_is_still_listed_links_to_it(client: Client, consented: Scope, owner: User) -> None:
    fact = factories.make_fact(consented)
    saved = edit_fact(scope=consented, fact_id=fact.pk, body="Lives in Faro.", actor=owner, now=timezone.now())
    assert f'href="{url()}#fact-{saved.pk}"' in text(client.get(url("history")))
    delete_fact(scope=consented, fact_id=saved.pk, actor=owner, now=timezone.now())
    assert "#fact-" not in text(client.get(url("history")))


def test_the_pages_are_cut_by_id_and_show_each_event_once(client: Client, scope: Scope, owner: User) -> None:
    for number in range(2 * PAGE + 3):
        record(
            "fact.record",
            actor=None,
            organization_id=scope.organization_id,
            subject_user_id=scope.user_id,
            agent_id=scope.agent_id,
            surface="dashboardChat",
            details={"active": number + 2},
        )
    seen: list[str] = []
    before, sizes = None, []
    while True:
        page = read_history(scope, before=before)
        seen += [entry.what for entry in page.entries]
        sizes.append(len(page.entries))
        before = page.older
        if before is None:
            break
    assert sizes == [PAGE, PAGE, 3]
    assert seen == [f"{number + 2} facts learned" for number in reversed(range(2 * PAGE + 3))]
    older = read_history(scope).older
    assert f'href="?before={older}"' in text(client.get(url("history")))
    assert "Newest" in text(client.get(url("history") + f"?before={older}"))


@pytest.mark.parametrize("before", ["", "x", "-1", "1.5", "9" * 40, "²", "%00"])
def test_an_unreadable_page_is_the_newest_one(client: Client, consented: Scope, before: str) -> None:
    response = client.get(url("history") + f"?before={before}")
    assert response.status_code == 200
    assert "Memory turned on" in text(response)


def test_nobody_elses_events_and_no_other_agents_are_told(
    client_for: Callable[..., Client], consented: Scope, colleague: User, agent: Agent, owner: User
) -> None:
    other = factories.make_agent(agent.organization, "other")
    factories.grant(Scope(agent.organization_id, owner.pk, other.pk), owner)
    assert "Nothing has happened yet" in text(client_for(colleague).get(url("history")))
    assert len(read_history(consented).entries) == 1


def test_what_others_and_later_versions_record_is_told_too(consented: Scope, colleague: User) -> None:
    ids: dict[str, Any] = {
        "organization_id": consented.organization_id,
        "subject_user_id": consented.user_id,
        "agent_id": consented.agent_id,
    }
    record("consent.withdraw", actor=colleague, **ids)
    record("fact.unheard_of", actor=None, surface="elsewhere", **ids)
    record("agent.update", actor=colleague, **ids)
    newest, second, _granted = read_history(consented).entries
    assert (newest.what, newest.place) == ("Another act on your memory: fact.unheard_of", "elsewhere")
    assert second.who == "Somebody else"


def test_the_page_takes_a_constant_number_of_queries(
    consented: Scope, owner: User, django_assert_num_queries: Any
) -> None:
    fact = factories.make_fact(consented)
    for number in range(20):
        fact = edit_fact(scope=consented, fact_id=fact.pk, body=f"City {number}.", actor=owner, now=timezone.now())
    with django_assert_num_queries(2):
        assert len(read_history(consented).entries) == 21


def test_times_are_in_the_members_zone(client: Client, consented: Scope, owner: User) -> None:
    owner.time_zone = "Asia/Tokyo"
    owner.save(update_fields=["time_zone"])
    assert 'title="JST"' in text(client.get(url("history")))
