"""F03–F07, F09, E05: what recording candidates does to the facts of a scope, and what is listed of them."""

import uuid
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings

from accounts.models import User
from agents.models import Agent
from audit.models import AuditEvent
from consent.gate import Closed, open_for_member
from consent.scope import ConsentedScope, Scope
from encryption.services import forget_keys
from facts.models import LIFETIME, Fact
from facts.sealing import scope_keys_for_writing
from facts.services import (
    MAX_LIVE,
    MemoryClosed,
    cited_messages,
    known_keys,
    list_facts,
    record_candidates,
)
from tests.factories import candidate, fill, grant, make_agent, make_fact, make_member, record_facts
from tests.facts.acts import DAY, NOW, bodies, delete, statuses, withdraw

pytestmark = pytest.mark.django_db


# --- recording --------------------------------------------------------------------------------------------------------


def test_f03_a_recorded_fact_has_every_field_and_is_active(consented: Scope) -> None:
    source = uuid.uuid4()
    outcome = record_facts(consented, candidate(confidence=0.7, source_ids=(source,)), now=NOW)
    assert (dict(outcome.by_status), dict(outcome.refusals)) == ({"active": 1}, {})
    (listed,) = list_facts(consented, now=NOW)
    row = listed.row
    assert listed.opened is not None
    assert (listed.opened.label, listed.opened.body, listed.expired) == ("home.city", "Lives in Porto.", False)
    assert (row.memory_type, row.status, row.confidence, row.source_ids) == ("profile", "active", 0.7, [source])
    assert (row.created_at, row.updated_at, row.expires_at) == (NOW, NOW, NOW + LIFETIME)
    assert (row.deleted_at, row.superseded_at, row.supersedes_id) == (None, None, None)
    event = AuditEvent.objects.get(action="fact.record")
    assert (event.actor_id, event.subject_user_id, event.agent_id) == (None, consented.user_id, consented.agent_id)
    assert (event.surface, event.details) == ("api", {"active": 1})


def test_f05_a_candidate_may_expire_earlier_and_never_later(consented: Scope) -> None:
    record_facts(consented, candidate(expires_at=NOW + DAY), now=NOW)
    assert Fact.objects.get().expires_at == NOW + DAY
    with pytest.raises(IntegrityError, match="fact_expiry_at_most_180_days"), transaction.atomic():
        record_facts(consented, candidate("other", expires_at=NOW + LIFETIME + timedelta(seconds=1)), now=NOW)
    assert Fact.objects.count() == 1


@pytest.mark.parametrize(
    ("key", "body"),
    [
        ("home.city", "Lives in Porto."),
        ("HOME.City", "Lives in Porto."),
        ("  home.city ", "Lives in Porto."),
        ("home.city", "  Lives   in\n\tPorto. "),
    ],
)
def test_f06_the_same_fact_in_another_spelling_is_a_duplicate(consented: Scope, key: str, body: str) -> None:
    record_facts(consented, candidate())
    outcome = record_facts(consented, candidate(key, body))
    assert (dict(outcome.by_status), dict(outcome.refusals)) == ({}, {"duplicate": 1})
    assert Fact.objects.count() == 1
    assert AuditEvent.objects.filter(action="fact.record").count() == 1


def test_f03_keys_compare_after_composition_and_folding(consented: Scope) -> None:
    record_facts(consented, candidate("café straße"))
    assert record_facts(consented, candidate("CAFE\u0301  STRASSE")).refusals == {"duplicate": 1}


def test_f06_a_repetition_within_one_batch_is_a_duplicate(consented: Scope) -> None:
    outcome = record_facts(consented, candidate(), candidate("Home.City"), candidate(body="Lives  in Porto."))
    assert (dict(outcome.by_status), dict(outcome.refusals)) == ({"active": 1}, {"duplicate": 2})


@pytest.mark.parametrize("status", ["pending", "conflict", "active"])
def test_f06_every_live_status_holds_the_slot(consented: Scope, status: str) -> None:
    make_fact(consented, status=status)
    assert record_facts(consented, candidate()).refusals == {"duplicate": 1}


@pytest.mark.parametrize("status", ["deleted", "superseded"])
def test_f06_tombstones_and_superseded_rows_hold_neither_slot_nor_key(consented: Scope, status: str) -> None:
    make_fact(consented, status=status)
    make_fact(consented, status=status, body="Lives in Faro.")
    assert record_facts(consented, candidate()).by_status == {"active": 1}


def test_e05_another_type_or_spelling_of_the_key_slips_no_second_fact_past(consented: Scope) -> None:
    record_facts(consented, candidate())
    for other in (
        candidate(memory_type="semantic"),
        candidate("home_city"),
        candidate("Home City", memory_type="episodic"),
    ):
        assert record_facts(consented, other).refusals == {"duplicate": 1}
    for other in (
        candidate(memory_type="semantic", body="Lives in Faro."),
        candidate("home_city", "Lives in Lagos."),
        candidate("Home-City", "Lives in Tavira."),
        candidate("homeCity", "Lives in Olhão."),
    ):
        assert record_facts(consented, other).by_status == {"conflict": 1}


def test_e05_one_batch_that_disagrees_across_types_is_pending(consented: Scope) -> None:
    batch = candidate(), candidate("home city", "Lives in Faro.", memory_type="semantic")
    assert record_facts(consented, *batch).by_status == {"pending": 2}


def test_f06_another_scope_is_another_slot(consented: Scope, colleague: User, agent: Agent) -> None:
    record_facts(consented, candidate())
    second = make_agent(agent.organization, "second")
    for scope in (
        grant(Scope(agent.organization_id, colleague.pk, agent.pk), colleague),
        grant(Scope(agent.organization_id, consented.user_id, second.pk), User.objects.get(pk=consented.user_id)),
    ):
        assert record_facts(scope, candidate()).by_status == {"active": 1}
    assert len(set(Fact.objects.values_list("content_hash", flat=True))) == 3
    assert len(set(Fact.objects.values_list("key_hash", flat=True))) == 3


def test_e05_a_disagreement_with_a_stored_fact_is_a_conflict_and_the_stored_one_stays(consented: Scope) -> None:
    record_facts(consented, candidate())
    outcome = record_facts(consented, candidate("Home.City", "Lives in Faro."), candidate(body="Lives in Lagos."))
    assert outcome.by_status == {"conflict": 2}
    assert bodies(consented) == {
        "Lives in Porto.": "active",
        "Lives in Faro.": "conflict",
        "Lives in Lagos.": "conflict",
    }


def test_e05_a_disagreement_within_a_batch_makes_all_pending(consented: Scope) -> None:
    outcome = record_facts(
        consented, candidate(), candidate("diet", "Vegan."), candidate("home.City", "Lives in Faro.")
    )
    assert outcome.by_status == {"pending": 2, "active": 1}
    assert bodies(consented) == {"Lives in Porto.": "pending", "Lives in Faro.": "pending", "Vegan.": "active"}


def test_e05_a_disagreement_with_a_pending_fact_is_a_conflict(consented: Scope) -> None:
    record_facts(consented, candidate(), candidate(body="Lives in Faro."))
    assert record_facts(consented, candidate(body="Lives in Lagos.")).by_status == {"conflict": 1}
    assert statuses(consented) == {"pending": 2, "conflict": 1}


def test_e05_a_repetition_beside_a_disagreement_counts_each_on_its_own(consented: Scope) -> None:
    record_facts(consented, candidate())
    outcome = record_facts(consented, candidate(), candidate(body="Lives in Faro."))
    assert (dict(outcome.by_status), dict(outcome.refusals)) == ({"conflict": 1}, {"duplicate": 1})


def test_e05_an_expired_fact_is_no_disagreement_and_no_duplicate(consented: Scope) -> None:
    make_fact(consented, created_at=NOW - 9 * DAY, expires_at=NOW)
    make_fact(consented, key="diet", body="Vegan.", created_at=NOW - 9 * DAY, expires_at=NOW - DAY)
    outcome = record_facts(consented, candidate(), candidate("diet", "Eats fish."), now=NOW)
    assert outcome.by_status == {"active": 2}
    assert bodies(consented, NOW) == {"Lives in Porto.": "active", "Eats fish.": "active"}
    assert statuses(consented) == {"active": 2, "deleted": 2}
    assert set(Fact.objects.filter(status="deleted").values_list("deleted_at", flat=True)) == {NOW}


def test_f07_at_the_cap_a_new_candidate_is_refused(consented: Scope) -> None:
    fill(consented, MAX_LIVE - 1)
    outcome = record_facts(consented, candidate("a", "One."), candidate("b", "Two."), candidate("c", "Three."))
    assert (dict(outcome.by_status), dict(outcome.refusals)) == ({"active": 1}, {"cap": 2})
    assert record_facts(consented, candidate("d", "Four.")).refusals == {"cap": 1}
    assert record_facts(consented, candidate("a", "One.")).refusals == {"duplicate": 1}
    assert Fact.objects.for_scope(consented).live().count() == MAX_LIVE == 200


def test_f07_a_disagreeing_group_that_does_not_fit_is_refused_whole(consented: Scope) -> None:
    fill(consented, MAX_LIVE - 2)
    group = [candidate("home.city", f"Lives in {city}.") for city in ("Porto", "Faro", "Lagos")]
    outcome = record_facts(consented, *group, candidate("diet", "Vegan."))
    assert (dict(outcome.by_status), dict(outcome.refusals)) == ({"active": 1}, {"cap": 3})
    assert record_facts(consented, *group[:2]).refusals == {"cap": 2}
    assert record_facts(consented, group[0]).by_status == {"active": 1}


@pytest.mark.parametrize("status", ["pending", "conflict"])
def test_f07_pending_and_conflict_count_toward_the_cap(consented: Scope, status: str) -> None:
    fill(consented, MAX_LIVE)
    Fact.objects.update(status=status)
    assert record_facts(consented, candidate()).refusals == {"cap": 1}


def test_f07_tombstones_superseded_and_expired_rows_do_not_count(consented: Scope, owner: User) -> None:
    fill(consented, MAX_LIVE)
    first, second, third = Fact.objects.all()[:3]
    now = timezone.now()
    delete(consented, owner, first.pk)
    Fact.objects.filter(pk=second.pk).update(status="superseded", superseded_at=now)
    Fact.objects.filter(pk=third.pk).update(expires_at=now)
    outcome = record_facts(consented, *(candidate(f"k{number}") for number in range(4)), now=now)
    assert (dict(outcome.by_status), dict(outcome.refusals)) == ({"active": 3}, {"cap": 1})


def test_f07_the_cap_is_of_one_scope(consented: Scope, colleague: User) -> None:
    fill(consented, MAX_LIVE)
    other = grant(Scope(consented.organization_id, colleague.pk, consented.agent_id), colleague)
    assert record_facts(other, candidate()).by_status == {"active": 1}


def test_recording_takes_few_queries_whatever_the_count(
    consented: Scope, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    opened, keys = open_for_member(consented), scope_keys_for_writing(consented)
    assert isinstance(opened, ConsentedScope)
    many = [candidate(f"k{number}") for number in range(10)]
    with django_assert_num_queries(4):  # lock, gate and stored, insert, audit
        record_candidates(opened, many, keys=keys, now=NOW, surface="api")


def test_f01_nothing_is_recorded_after_consent_has_changed(consented: Scope, owner: User) -> None:
    opened, keys = open_for_member(consented), scope_keys_for_writing(consented)
    assert isinstance(opened, ConsentedScope)
    expired = make_fact(consented, created_at=NOW - 9 * DAY, expires_at=NOW)
    for change, reason in ((withdraw, Closed.WITHDRAWN), (grant, Closed.CHANGED)):
        change(consented, owner)
        with pytest.raises(MemoryClosed) as refused, transaction.atomic():
            record_candidates(opened, [candidate()], keys=keys, now=NOW, surface="api")
        assert refused.value.reason is reason
    expired.refresh_from_db()
    assert (Fact.objects.count(), expired.status) == (1, "active")
    assert not AuditEvent.objects.filter(action="fact.record").exists()


def test_f13_nothing_is_recorded_with_the_kill_switch_on(consented: Scope, settings: Settings) -> None:
    opened, keys = open_for_member(consented), scope_keys_for_writing(consented)
    assert isinstance(opened, ConsentedScope)
    settings.AGENT_MEMORY_KILL_SWITCH = "on"
    with pytest.raises(MemoryClosed, match="kill_switch"), transaction.atomic():
        record_candidates(opened, [candidate()], keys=keys, now=NOW, surface="api")


def test_recording_nothing_leaves_no_trace(consented: Scope) -> None:
    outcome = record_facts(consented)
    assert (dict(outcome.by_status), dict(outcome.refusals)) == ({}, {})
    assert not AuditEvent.objects.filter(action="fact.record").exists()


# --- listing ----------------------------------------------------------------------------------------------------------


def test_f09_the_list_holds_live_rows_only_and_marks_expired_ones(consented: Scope) -> None:
    for number, status in enumerate(["active", "pending", "conflict", "superseded", "deleted"]):
        make_fact(consented, key=f"k{number}", body=status, status=status, created_at=NOW - DAY)
    make_fact(consented, key="old", body="expired", created_at=NOW - 9 * DAY, expires_at=NOW)
    assert set(bodies(consented, NOW)) == {"active", "pending", "conflict", "expired"}
    expired = {f.opened.body: f.expired for f in list_facts(consented, now=NOW) if f.opened}
    assert [body for body, is_expired in expired.items() if is_expired] == ["expired"]


def test_f09_the_newest_comes_first_and_a_page_costs_one_query(
    consented: Scope, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for days in (3, 1, 2):
        make_fact(consented, key=f"k{days}", body=f"{days} days", created_at=NOW - days * DAY)
    with django_assert_num_queries(1):
        assert list(bodies(consented, NOW)) == ["1 days", "2 days", "3 days"]


def test_f02_nobody_elses_facts_are_listed(consented: Scope, colleague: User, stranger: User, agent: Agent) -> None:
    make_fact(consented)
    second = make_agent(agent.organization, "second")
    others = [
        Scope(agent.organization_id, colleague.pk, agent.pk),
        Scope(agent.organization_id, stranger.pk, agent.pk),
        Scope(agent.organization_id, consented.user_id, second.pk),
        Scope(second.pk, consented.user_id, agent.pk),
    ]
    assert [list_facts(scope, now=NOW) for scope in others] == [[]] * 4
    assert [known_keys(scope, now=NOW) for scope in others] == [[]] * 4


def test_f09_listing_works_without_consent_and_with_the_kill_switch(
    consented: Scope, owner: User, settings: Settings
) -> None:
    make_fact(consented)
    withdraw(consented, owner)
    settings.AGENT_MEMORY_KILL_SWITCH = "on"
    assert bodies(consented) == {"Lives in Porto.": "active"}


def test_a_fact_that_cannot_be_decrypted_now_is_listed_without_its_text(consented: Scope, settings: Settings) -> None:
    good, bad = make_fact(consented), make_fact(consented, key="diet", body="Vegan.")
    Fact.objects.filter(pk=bad.pk).update(sealed=bytes(good.sealed))
    assert {f.row.pk: f.opened is not None for f in list_facts(consented, now=NOW)} == {good.pk: True, bad.pk: False}
    settings.KEYRING_JSON, settings.KEYRING_FILE = "", None
    forget_keys()
    assert [(f.opened, f.key_problem) for f in list_facts(consented, now=NOW)] == [(None, "keyring_missing")] * 2


# --- what extraction asks ---------------------------------------------------------------------------------------------


def test_e02_known_keys_are_those_of_live_unexpired_facts(consented: Scope) -> None:
    make_fact(consented, created_at=NOW - 2 * DAY)
    make_fact(consented, key="diet", body="Vegan.", memory_type="semantic", created_at=NOW - DAY)
    make_fact(consented, body="Lives in Faro.", status="conflict", created_at=NOW)
    make_fact(consented, key="gone", status="deleted", created_at=NOW)
    make_fact(consented, key="old", created_at=NOW - 9 * DAY, expires_at=NOW)
    assert known_keys(consented, now=NOW) == [("profile", "home.city"), ("semantic", "diet")]


@pytest.mark.parametrize("status", ["active", "superseded", "deleted"])
def test_e02_messages_cited_by_any_fact_of_the_scope_are_known(consented: Scope, agent: Agent, status: str) -> None:
    cited, other, free = (uuid.uuid4() for _ in range(3))
    make_fact(consented, status=status, source_ids=(cited, other))
    una = make_member(agent.organization, agent, "una@acme.example")
    foreign = Scope(consented.organization_id, una.pk, consented.agent_id)
    make_fact(foreign, source_ids=(free,))
    assert cited_messages(consented, [cited, free]) == {cited}
    assert cited_messages(consented, []) == set()
