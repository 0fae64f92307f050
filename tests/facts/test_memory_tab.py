"""The Memory tab through HTTP: list, grant, withdraw, edit, delete, and who may (F01, F09–F13)."""

import uuid
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.test import Client, override_settings
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from pytest_django.fixtures import Settings

from accounts.models import User
from agents.models import Agent
from consent.models import Consent
from consent.scope import Scope
from consent.services import TEXT_VERSION, consent_of, withdraw_consent
from encryption.services import forget_keys
from facts.models import TOMBSTONE_KEPT, Fact
from tests import factories
from tests.facts.page import HTMX, NAMES, ClientFor, bodies, text, url

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(owner: User, client_for: ClientFor) -> Client:
    return client_for(owner)


@pytest.fixture
def fact(consented: Scope) -> Fact:
    return factories.make_fact(consented, body="Lives in Porto.")


# --- list -------------------------------------------------------------------------------------------------------------


def test_f09_the_tab_lists_live_facts_with_all_their_fields(client: Client, consented: Scope) -> None:
    factories.make_fact(consented, body="Lives in Porto.", key="home.city", confidence=0.87)
    factories.make_fact(consented, body="Likes tea.", key="drink", status="conflict", memory_type="semantic")
    factories.make_fact(consented, body="Gone.", key="gone", status="deleted")
    factories.make_fact(consented, body="Old.", key="old", status="superseded")
    page = text(client.get(url()))
    for shown in ("Lives in Porto.", "home.city", "87 %", "Profile", "Active", "(in 179 days)", "2 of 200", "Learned"):
        assert shown in page
    for shown in ("Likes tea.", "Semantic", "Conflict", "Not used: the fact it disagreed with"):
        assert shown in page
    assert "Gone." not in page
    assert "Old." not in page


def test_f02_nobody_else_sees_a_fact(client_for: ClientFor, colleague: User, fact: Fact, agent: Agent) -> None:
    assert "Porto" not in text(client_for(colleague).get(url()))
    admin = factories.make_member(agent.organization, agent, "boss@acme.example", role="owner")
    admin.is_staff = admin.is_superuser = True
    admin.save()
    assert "Porto" not in text(client_for(admin).get(url()))


def test_f09_an_expired_fact_is_marked_and_cannot_be_edited(client: Client, consented: Scope) -> None:
    made = timezone.now() - timedelta(days=10)
    old = factories.make_fact(consented, created_at=made, expires_at=made + timedelta(days=5))
    page = text(client.get(url()))
    assert "expired, removed tonight" in page
    assert url("edit", old) not in page
    assert url("delete", old) in page
    assert client.get(url("edit", old)).status_code == 409


def test_f09_sources_link_to_their_message_or_say_that_it_was_removed(
    client: Client, consented: Scope, agent: Agent, owner: User, colleague: User
) -> None:
    session = factories.make_session(agent, owner)
    _turn, message = factories.make_turn(session, "I live in Porto.")
    _turn, foreign = factories.make_turn(factories.make_session(agent, colleague), "I live in Rome.")
    factories.make_fact(consented, source_ids=(message.pk, uuid.uuid4(), foreign.pk))
    page = text(client.get(url()))
    assert f'href="{reverse("chat-session", args=[*NAMES, session.pk])}#message-{message.pk}"' in page
    assert page.count("source removed") == 2


def test_the_tab_takes_a_constant_number_of_queries(
    client: Client, consented: Scope, agent: Agent, owner: User, django_assert_max_num_queries: Any
) -> None:
    session = factories.make_session(agent, owner)
    for number in range(30):
        _turn, message = factories.make_turn(session, f"I like number {number}.")
        factories.make_fact(consented, key=f"likes.{number}", body=f"Likes {number}.", source_ids=(message.pk,))
    with django_assert_max_num_queries(12):
        assert "30 of 200" in text(client.get(url()))


def test_a_fact_that_cannot_be_decrypted_is_listed_and_can_be_deleted(client: Client, fact: Fact) -> None:
    Fact.objects.filter(pk=fact.pk).update(sealed=b"F1" + b"\0" * 80)
    page = text(client.get(url()))
    assert "cannot be decrypted now" in page
    assert url("edit", fact) not in page
    assert client.get(url("edit", fact)).status_code == 503
    assert client.post(url("edit", fact), {"body": "Lives in Lisbon."}).status_code == 503
    assert "its stored record does not open, though the key is there" in page
    assert "Nothing has been deleted" not in page  # that would be a promise about the wrong trouble
    assert client.post(url("delete", fact)).status_code == 303


def test_without_the_key_the_tab_says_that_nothing_is_lost_and_whom_to_tell(
    client: Client, consented: Scope, fact: Fact, settings: Settings
) -> None:
    settings.KEYRING_JSON, settings.KEYRING_FILE = "", None
    forget_keys()
    page = text(client.get(url()))
    for said in ("Your facts cannot be decrypted now.", "Nothing has been deleted", "Tell the operator", "keyring_"):
        assert said in page
    assert "Porto" not in page
    refused = text(client.post(url("edit", fact), {"body": "Lives in Lisbon."}))
    assert "Lives in Lisbon.</textarea>" in refused
    assert client.post(url("withdraw")).status_code == 303
    assert client.post(url("delete", fact)).status_code == 303
    fact.refresh_from_db()
    assert fact.status == "deleted"


def test_f05_times_are_in_the_members_zone_with_the_exact_instant(
    client: Client, owner: User, consented: Scope
) -> None:
    owner.time_zone = "Asia/Tokyo"
    owner.save(update_fields=["time_zone"])
    expires = (timezone.now() + timedelta(days=12, hours=1)).replace(hour=20, minute=30, second=0, microsecond=0)
    factories.make_fact(consented, created_at=timezone.now() - timedelta(days=1), expires_at=expires)
    page = text(client.get(url()))
    there = expires.astimezone(ZoneInfo("Asia/Tokyo"))
    assert f'datetime="{there.isoformat()}"' in page
    assert f'title="{date_format(there, "DATETIME_FORMAT")} JST">{date_format(there, "DATE_FORMAT")}<' in page


def test_a_full_list_says_so(client: Client, consented: Scope) -> None:
    factories.fill(consented, 200)
    page = text(client.get(url()))
    assert "200 of 200" in page
    assert "The list is full, so nothing new is remembered." in page


def test_a_body_is_shown_as_text(client: Client, consented: Scope) -> None:
    factories.make_fact(consented, body="<img src=x onerror=alert(1)>", key="<b>k</b>")
    page = text(client.get(url()))
    assert "<img src=x" not in page
    assert "<b>k</b>" not in page


# --- consent ----------------------------------------------------------------------------------------------------------


def test_f01_the_consent_text_says_what_is_stored_and_who_sees_it(client: Client) -> None:
    page = text(client.get(url()))
    for said in (
        "Memory is off",
        "encrypted for Acme",
        "offline-rules-1",
        "180 days",
        "Only you",
        "Everyone who uses one of your API keys shares this memory",
        "preferences that are inferred",
        "stay stored until you delete them",
        "What you wrote before you turn memory on",
        "Whoever runs this deployment holds its keys.",
        f"Consent text, version {TEXT_VERSION}",
        "turn memory on",
    ):
        assert said in page


def test_f01_granting_is_explicit_and_turns_memory_on(client: Client, scope: Scope) -> None:
    client.get(url())
    assert consent_of(scope) is None
    response = client.post(url("grant"))
    assert (response.status_code, response["Location"]) == (303, url())
    granted = consent_of(scope)
    assert granted is not None
    assert granted.granted
    assert "Memory is on" in text(client.get(url()))


def test_f01_the_tab_tells_when_an_older_consent_text_was_agreed_to(client: Client, consented: Scope) -> None:
    assert "You agreed to version" not in text(client.get(url()))
    Consent.objects.update(text_version=0)
    assert "You agreed to version 0 of this text" in text(client.get(url()))


def test_withdrawal_asks_first_and_keeps_the_facts(client: Client, consented: Scope, fact: Fact) -> None:
    asked = text(client.get(url("withdraw")))
    assert "Your facts are not deleted" in asked
    assert "Memory is on" in text(client.get(url()))
    assert client.post(url("withdraw")).status_code == 303
    page = text(client.get(url()))
    assert "Memory is off" in page
    assert "Lives in Porto." in page
    assert "Not used now: memory is off." in page
    assert url("edit", fact) not in page


@override_settings(AGENT_MEMORY_KILL_SWITCH=" On ")
def test_f13_the_kill_switch_stops_grant_and_edit_but_not_withdraw_and_delete(
    client: Client, client_for: ClientFor, fact: Fact, consented: Scope, colleague: User
) -> None:
    page = text(client.get(url()))
    assert "turned off for this whole deployment" in page
    assert "Lives in Porto." in page
    assert url("edit", fact) not in page
    assert client.post(url("edit", fact), {"body": "Lives in Lisbon."}).status_code == 409
    assert "disabled" in text(client_for(colleague).get(url()))
    assert client_for(colleague).post(url("grant")).status_code == 409
    assert client.post(url("withdraw")).status_code == 303
    assert client.post(url("delete", fact)).status_code == 303
    assert bodies(consented) == {}


# --- edit -------------------------------------------------------------------------------------------------------------


def test_f10_an_edit_creates_an_active_successor(client: Client, consented: Scope) -> None:
    doubted = factories.make_fact(consented, body="Lives in Porto.", status="conflict", confidence=0.4)
    assert "Lives in Porto." in text(client.get(url("edit", doubted)))
    response = client.post(url("edit", doubted), {"body": "Lives in\r\nLisbon."})
    assert (response.status_code, response["Location"]) == (303, url())
    assert bodies(consented) == {"Lives in\nLisbon.": "active"}


def test_f10_saving_the_same_text_changes_nothing(client: Client, consented: Scope) -> None:
    doubted = factories.make_fact(consented, body="Lives in Porto.", status="pending")
    page = text(client.post(url("edit", doubted), {"body": "Lives in Porto."}, follow=True))
    assert "nothing was changed" in page
    assert bodies(consented) == {"Lives in Porto.": "pending"}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("x" * 4001, "The text has 4001 characters; at most 4000 are allowed."),
        ("Lives in \x00 Lisbon.", "NUL character"),
        ("Lives in \ufffd Lisbon.", "half of a character"),
        ("Lives in \x1b Lisbon.", "control character at position 9"),
        (" \u200b\n", "The text is empty."),
        ("", "The text is empty."),
    ],
)
def test_f08_a_refused_text_is_named_and_stays_in_the_box(
    client: Client, fact: Fact, consented: Scope, body: str, said: str
) -> None:
    response = client.post(url("edit", fact), {"body": body})
    assert response.status_code == 400
    assert said in response.content.decode()
    assert len(body) < 5 or body[:6] in response.content.decode()
    assert bodies(consented) == {"Lives in Porto.": "active"}


def test_f08_bytes_of_a_lone_surrogate_are_refused(client: Client, fact: Fact, consented: Scope) -> None:
    response = client.post(
        url("edit", fact), b"body=Lives+in+%ED%A0%80", content_type="application/x-www-form-urlencoded"
    )
    assert response.status_code == 400
    assert bodies(consented) == {"Lives in Porto.": "active"}


def test_f08_four_thousand_characters_are_accepted(client: Client, fact: Fact, consented: Scope) -> None:
    assert client.post(url("edit", fact), {"body": "🙂" * 4000}).status_code == 303
    assert list(bodies(consented)) == ["🙂" * 4000]


def test_f10_a_stale_edit_shows_what_is_stored_and_what_was_typed(client: Client, fact: Fact, consented: Scope) -> None:
    client.post(url("edit", fact), {"body": "Lives in Lisbon."})
    response = client.post(url("edit", fact), {"body": "Lives in Braga."})
    page = text(response)
    assert response.status_code == 409
    assert "changed meanwhile" in page
    assert "Lives in Braga." in page
    assert "Lives in Lisbon." in page
    assert bodies(consented) == {"Lives in Lisbon.": "active"}
    assert client.post(url("edit", fact), {"body": ""}).status_code == 409  # staleness is told before anything else


def test_f10_an_edit_without_consent_is_refused_and_keeps_the_text(
    client: Client, fact: Fact, consented: Scope, owner: User
) -> None:
    withdraw_consent(scope=consented, actor=owner, now=timezone.now(), surface="memoryTab")
    response = client.post(url("edit", fact), {"body": "Lives in Lisbon."})
    assert response.status_code == 409
    assert "Memory is turned off" in text(response)
    assert "Lives in Lisbon." in text(response)
    assert bodies(consented) == {"Lives in Porto.": "active"}


def test_f10_an_edit_to_what_another_fact_says_is_refused(client: Client, fact: Fact, consented: Scope) -> None:
    factories.make_fact(consented, body="Lives in Lisbon.", status="conflict")
    response = client.post(url("edit", fact), {"body": "Lives in Lisbon."})
    assert response.status_code == 409
    assert "already says exactly this" in text(response)
    assert bodies(consented) == {"Lives in Porto.": "active", "Lives in Lisbon.": "conflict"}


# --- delete -----------------------------------------------------------------------------------------------------------


def test_f11_deleting_asks_first_and_says_what_happens(client: Client, fact: Fact, consented: Scope) -> None:
    page = text(client.get(url("delete", fact)))
    last = date_format(timezone.now() + TOMBSTONE_KEPT, "DATE_FORMAT")
    assert f"encrypted row stays until retention removes it after 180 days, in one of the nights after {last}." in page
    assert "this cannot be undone" in page
    assert bodies(consented) == {"Lives in Porto.": "active"}
    page = text(client.post(url("delete", fact), follow=True))
    assert f"Its encrypted row is removed in one of the nights after {last}." in page
    fact.refresh_from_db()
    assert fact.status == "deleted"
    assert client.post(url("delete", fact)).status_code == 409
    assert client.get(url("delete", fact)).status_code == 409


def test_f11_deleting_one_side_of_a_conflict_does_not_promote_the_other(
    client: Client, fact: Fact, consented: Scope
) -> None:
    factories.make_fact(consented, body="Lives in Lisbon.", status="conflict")
    client.post(url("delete", fact))
    assert bodies(consented) == {"Lives in Lisbon.": "conflict"}


# --- who may ----------------------------------------------------------------------------------------------------------


READ = ("", "history", "prompt")  # doors that change nothing


@pytest.fixture(params=[*READ, "grant", "withdraw", "edit", "delete"])
def door(request: pytest.FixtureRequest, fact: Fact) -> str:
    """The address of every door in turn."""
    return url(request.param, fact if request.param in ("edit", "delete") else None)


def test_anonymous_people_are_sent_to_sign_in(door: str) -> None:
    for response in (Client().get(door), Client().post(door, {"body": "x"})):
        assert response.status_code == 302
        assert response["Location"].startswith(reverse("login"))


def test_i04_a_stranger_gets_404_and_a_reader_403(
    client_for: ClientFor, stranger: User, agent: Agent, door: str
) -> None:
    reader = factories.make_member(agent.organization, agent, "reader@acme.example", permissions=("agent:read",))
    unseeing = factories.make_member(agent.organization, agent, "new@acme.example", permissions=())
    if door in map(url, READ):
        assert client_for(stranger).get(door).status_code == 404
        assert client_for(unseeing).get(door).status_code == 404
        assert client_for(reader).get(door).status_code == 200
        assert client_for(reader).get(door)["Cache-Control"] == "no-store"
    else:
        assert client_for(unseeing).post(door, {"body": "x"}).status_code == 404
        assert client_for(stranger).post(door, {"body": "x"}).status_code == 404
        assert client_for(reader).post(door, {"body": "x"}).status_code == 403


def test_wrong_methods_and_posts_without_the_csrf_token_are_refused(
    client: Client, client_for: ClientFor, owner: User, consented: Scope, door: str
) -> None:
    assert client.put(door).status_code == 405
    if door in map(url, READ):
        assert client.post(door).status_code == 405
    if door == url("grant"):
        assert client.get(door).status_code == 405
    assert client_for(owner, enforce_csrf_checks=True).post(door, {"body": "x"}).status_code == 403
    assert bodies(consented) == {"Lives in Porto.": "active"}


@pytest.mark.parametrize("action", ["edit", "delete"])
def test_i04_a_colleagues_fact_and_one_that_never_was_are_both_absent(
    client_for: ClientFor, colleague: User, fact: Fact, consented: Scope, action: str
) -> None:
    client = client_for(colleague)
    for address in (url(action, fact), url(action, uuid.uuid4())):
        assert client.get(address).status_code == 404
        assert client.post(address, {"body": "Lives in Rome."}).status_code == 404
    assert bodies(consented) == {"Lives in Porto.": "active"}


# --- with htmx --------------------------------------------------------------------------------------------------------


def test_with_htmx_pieces_of_the_page_come_and_say_where_they_go(client: Client, fact: Fact) -> None:
    form = client.get(url("edit", fact), headers=HTMX)
    assert form["HX-Retarget"] == f"#fact-{fact.pk}"
    assert "<html" not in text(form)
    refused = client.post(url("edit", fact), {"body": "x" * 4001}, headers=HTMX)
    assert (refused.status_code, refused["HX-Retarget"]) == (400, f"#fact-{fact.pk}")
    saved = client.post(url("edit", fact), {"body": "Lives in Lisbon."}, headers=HTMX)
    assert (saved.status_code, saved["HX-Retarget"]) == (200, "#memory")
    assert "Saved." in text(saved)
    assert "<html" not in text(saved)
    stale = client.post(url("delete", fact), headers=HTMX)
    assert (stale.status_code, stale["HX-Retarget"]) == (409, "#memory")
