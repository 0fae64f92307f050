"""What disagrees with what on the Memory tab, and the views of its list by status, type and order (F09, F11, F12)."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client, override_settings
from django.utils import timezone

from accounts.models import User
from consent.scope import Scope
from facts.models import Fact
from facts.selection import Selection
from tests import factories
from tests.facts.page import bodies, text, url

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture
def client(owner: User, client_for: Callable[..., Client]) -> Client:
    return client_for(owner)


def order(page: str, *words: str) -> bool:
    return [page.index(word) for word in words] == sorted(page.index(word) for word in words)


def test_both_sides_of_a_conflict_are_shown_together_the_active_one_first(client: Client, consented: Scope) -> None:
    factories.make_fact(consented, body="Lives in Porto.", created_at=timezone.now() - 3 * HOUR)
    factories.make_fact(consented, body="Likes tea.", key="drink.tea", created_at=timezone.now() - 2 * HOUR)
    factories.make_fact(consented, body="Lives in Lisbon.", status="conflict", created_at=timezone.now() - HOUR)
    page = text(client.get(url()))
    assert page.count('class="group"') == 1
    assert "Not used: it disagrees with “Lives in Porto.”" in page
    assert "Deleting one does not make another active." in page
    assert order(page, "These facts disagree", ">Lives in Porto.", ">Lives in Lisbon.", ">Likes tea.")


def test_only_the_same_key_makes_two_sides(client: Client, consented: Scope) -> None:
    factories.make_fact(consented, body="Lives in Porto.")
    factories.make_fact(consented, body="Lives in Lisbon.", key="home.town", status="conflict")
    factories.make_fact(consented, body="Likes tea.", key="drink", status="conflict")
    page = text(client.get(url()))
    assert 'class="group"' not in page
    assert page.count("the fact it disagreed with is no longer there. To use this one, edit it") == 2


def test_keys_are_compared_as_their_hash_is(client: Client, consented: Scope) -> None:
    factories.make_fact(consented, body="Lives in Porto.", key="home.city")
    factories.make_fact(consented, body="Lives in Lisbon.", key="Home.City ", status="conflict")
    assert 'class="group"' in text(client.get(url()))


def test_pending_facts_name_each_other_and_how_many_more(client: Client, consented: Scope) -> None:
    for city in ("Porto", "Lisbon", "Faro"):
        factories.make_fact(consented, body=f"Lives in {city}.", status="pending")
    page = text(client.get(url()))
    assert "These facts disagree, and none is active" in page
    assert page.count("and 1 other<") == 3


def test_after_an_edit_two_active_facts_of_one_key_are_pointed_out(client: Client, consented: Scope) -> None:
    factories.make_fact(consented, body="Lives in Porto.")
    doubted = factories.make_fact(consented, body="Lives in Lisbon.", status="conflict")
    assert "What disagrees with it stays as it is" in text(client.get(url("edit", doubted)))
    page = text(client.post(url("edit", doubted), {"body": "Lives in Lisbon since May."}, follow=True))
    assert bodies(consented) == {"Lives in Porto.": "active", "Lives in Lisbon since May.": "active"}
    assert "These facts have the same key, and all of them are active" in page


def test_an_expired_side_is_no_side(client: Client, consented: Scope) -> None:
    made = timezone.now() - timedelta(days=9)
    factories.make_fact(consented, body="Lives in Porto.", created_at=made, expires_at=made + timedelta(days=2))
    factories.make_fact(consented, body="Lives in Lisbon.", status="conflict")
    page = text(client.get(url()))
    assert 'class="group"' not in page
    assert "is no longer there" in page


def test_where_editing_is_off_no_edit_is_offered_as_a_choice(client: Client, consented: Scope) -> None:
    factories.make_fact(consented, body="Lives in Porto.")
    factories.make_fact(consented, body="Lives in Lisbon.", status="conflict")
    with override_settings(AGENT_MEMORY_KILL_SWITCH="1"):
        page = text(client.get(url()))
    assert "Editing is possible only while memory is on" in page
    assert "/edit/" not in page


# --- views of the list ------------------------------------------------------------------------------------------------


@pytest.fixture
def mixed(consented: Scope) -> Scope:
    """Two active facts and one in conflict with the first; two of them profile."""
    factories.make_fact(consented, body="Lives in Porto.", created_at=timezone.now() - HOUR)
    factories.make_fact(consented, body="Lives in Lisbon.", status="conflict", created_at=timezone.now() - HOUR)
    factories.make_fact(consented, body="Likes tea.", key="drink.tea", memory_type="semantic")
    return consented


def test_a_view_shows_what_matches_and_what_it_disagrees_with(client: Client, mixed: Scope) -> None:
    page = text(client.get(url() + "?status=conflict"))
    assert "Lives in Lisbon." in page
    assert "Lives in Porto." in page
    assert "Likes tea." not in page
    assert "3 of 200" in page  # the count is of all facts


def test_the_filters_count_within_each_other(client: Client, mixed: Scope) -> None:
    page = text(client.get(url() + "?type=semantic"))
    for label, tally in (("Active", 1), ("Conflict", 0), ("Semantic", 1), ("Profile", 2)):
        assert f'{label} <span class="tally">{tally}</span>' in page
    assert f'href="{url()}?status=conflict&amp;type=semantic#facts"' in page
    assert f'href="{url()}#facts"' in page


def test_an_expired_fact_has_a_view_of_its_own(client: Client, mixed: Scope) -> None:
    made = timezone.now() - timedelta(days=9)
    factories.make_fact(mixed, body="Old.", key="old", created_at=made, expires_at=made + timedelta(days=2))
    page = text(client.get(url() + "?status=expired"))
    assert ">Old.<" in page
    assert "Likes tea." not in page


def test_the_order_by_key_is_alphabetical(client: Client, mixed: Scope) -> None:
    assert order(text(client.get(url())), "drink.tea", "home.city")
    factories.make_fact(mixed, body="Works.", key="Animals", created_at=timezone.now() - 9 * HOUR)
    assert order(text(client.get(url() + "?order=key")), "Animals", "drink.tea", "home.city")


def test_an_empty_view_says_so_and_leads_to_all_facts(client: Client, mixed: Scope) -> None:
    page = text(client.get(url() + "?status=pending"))
    assert "No fact is in this view." in page
    assert "Show all facts" in page


@pytest.mark.parametrize(
    "query", ["?status=deleted", "?status=%00", "?type=secret", "?order=body", "?q=tea", "?status="]
)
def test_unknown_words_in_the_address_choose_nothing_and_there_is_no_search(
    client: Client, mixed: Scope, query: str
) -> None:
    page = text(client.get(url() + query))
    assert all(body in page for body in ("Lives in Porto.", "Lives in Lisbon.", "Likes tea."))
    assert 'type="search"' not in page


def test_actions_keep_the_view(client: Client, mixed: Scope) -> None:
    page = text(client.get(url() + "?type=semantic&order=key"))
    query = Selection(memory_type="semantic", order="key").query
    assert query == "?type=semantic&order=key"
    assert "/delete/?type=semantic&amp;order=key" in page
    tea = Fact.objects.for_scope(mixed).get(memory_type="semantic")
    response = client.post(url("edit", tea) + query, {"body": "Likes green tea."})
    assert response["Location"] == url() + query
