"""F01, F13: the gate stands open only when everything allows it, and says in one query why it does not."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from threading import Event

import pytest
from django.db import transaction
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings

from accounts.models import Membership, Organization, User
from accounts.services import remove_member, set_membership
from agents.models import Agent
from consent import gate
from consent.gate import Closed
from consent.models import Consent
from consent.scope import ConsentedScope, Scope
from consent.services import withdraw_consent
from conversations.surfaces import USES_FACTS, Surface
from facts.models import Fact
from facts.prompt import injectable
from tests.factories import grant, make_agent, make_fact, make_member, make_organization
from tests.threads import together

pytestmark = pytest.mark.django_db


def gone(scope: Scope, owner: User) -> None:
    User.objects.filter(pk=owner.pk).update(deleted_at=timezone.now())


def suspended(scope: Scope, owner: User) -> None:
    User.objects.filter(pk=owner.pk).update(is_active=False)


def left(scope: Scope, owner: User) -> None:
    Membership.objects.filter(user=owner).delete()


def agent_gone(scope: Scope, owner: User) -> None:
    Agent.objects.filter(pk=scope.agent_id).update(deleted_at=timezone.now())


def organization_gone(scope: Scope, owner: User) -> None:
    Organization.objects.filter(pk=scope.organization_id).update(deleted_at=timezone.now())


def never_asked(scope: Scope, owner: User) -> None:
    Consent.objects.all().delete()


def withdrawn(scope: Scope, owner: User) -> None:
    withdraw_consent(scope=scope, actor=owner, now=timezone.now(), surface="memoryTab")


STATES = [
    pytest.param(gone, Closed.USER, id="user deleted"),
    pytest.param(suspended, Closed.USER, id="user inactive"),
    pytest.param(left, Closed.MEMBERSHIP, id="membership removed"),
    pytest.param(agent_gone, Closed.AGENT, id="agent deleted"),
    pytest.param(organization_gone, Closed.AGENT, id="organization deleted"),
    pytest.param(never_asked, Closed.NO_CONSENT, id="no consent"),
    pytest.param(withdrawn, Closed.WITHDRAWN, id="consent withdrawn"),
]


def answers(scope: Scope) -> list[ConsentedScope | Closed]:
    """Return what each entry of the gate says."""
    with transaction.atomic():
        held = gate.hold(scope)
    asked, rows = gate.open_with(scope, injectable(scope, timezone.now()), surface="api")
    assert bool(rows) == isinstance(asked, ConsentedScope)
    return [gate.open_gate(scope, surface="api"), gate.open_for_member(scope), asked, held]


def test_f01_the_gate_stands_open_with_consent(consented: Scope) -> None:
    make_fact(consented)
    row = Consent.objects.get()
    assert answers(consented) == [ConsentedScope(consented, row.epoch, row.granted_at)] * 4


@pytest.mark.parametrize(("shut", "reason"), STATES)
def test_f01_the_gate_is_shut(
    consented: Scope, owner: User, shut: Callable[[Scope, User], None], reason: Closed
) -> None:
    make_fact(consented)
    shut(consented, owner)
    assert answers(consented) == [reason] * 4


def test_i02_readding_a_removed_member_opens_the_gate_again(
    consented: Scope, owner: User, organization: Organization
) -> None:
    make_fact(consented)
    remove_member(organization=organization, user=owner)
    assert answers(consented) == [Closed.MEMBERSHIP] * 4
    assert Fact.objects.count() == Consent.objects.count() == 1
    set_membership(organization=organization, user=owner, role="member")
    assert all(isinstance(answer, ConsentedScope) for answer in answers(consented))


def test_f02_nobody_elses_consent_opens_the_gate(
    consented: Scope, colleague: User, stranger: User, organization: Organization
) -> None:
    agent = make_agent(organization, "second")
    other = make_agent(make_organization("third"), "guide")
    cases = {
        Scope(consented.organization_id, colleague.pk, consented.agent_id): Closed.NO_CONSENT,
        Scope(consented.organization_id, consented.user_id, agent.pk): Closed.NO_CONSENT,
        Scope(consented.organization_id, stranger.pk, consented.agent_id): Closed.MEMBERSHIP,
        Scope(other.organization_id, consented.user_id, other.pk): Closed.MEMBERSHIP,
        # An agent of another organization, an absent user, absent everything.
        Scope(consented.organization_id, consented.user_id, other.pk): Closed.AGENT,
        Scope(consented.organization_id, uuid.UUID(int=1), consented.agent_id): Closed.AGENT,
        Scope(*[uuid.UUID(int=1)] * 3): Closed.AGENT,
    }
    for scope, reason in cases.items():
        assert answers(scope) == [reason] * 4


@pytest.mark.parametrize("value", ["1", "true", "on", "enabled", "TRUE", "On", " enabled \n", "\t1"])
def test_f13_the_kill_switch_shuts_the_gate_without_a_query(
    consented: Scope, settings: Settings, value: str, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    make_fact(consented)
    settings.AGENT_MEMORY_KILL_SWITCH = value
    now = timezone.now()
    with django_assert_num_queries(0):
        assert gate.open_gate(consented, surface="api") is Closed.KILL_SWITCH
        assert gate.open_for_member(consented) is Closed.KILL_SWITCH
        assert gate.open_with(consented, injectable(consented, now), surface="api") == (Closed.KILL_SWITCH, [])
        assert gate.hold(consented) is Closed.KILL_SWITCH
    assert gate.kill_switch_readable()


@pytest.mark.parametrize("value", ["", "0", "false", "off", "disabled", "no", " OFF "])
def test_f13_the_switch_is_off_by_default_and_when_it_says_so(consented: Scope, settings: Settings, value: str) -> None:
    settings.AGENT_MEMORY_KILL_SWITCH = value
    assert gate.kill_switch_readable()
    assert isinstance(gate.open_for_member(consented), ConsentedScope)


@pytest.mark.parametrize("value", ["yes", "2", "oui", "truee", "1 1", "\u200b1", "none", "enable"])
def test_f13_an_unreadable_switch_leaves_memory_on_and_is_known_as_unreadable(
    consented: Scope, settings: Settings, value: str
) -> None:
    settings.AGENT_MEMORY_KILL_SWITCH = value
    assert not gate.kill_switch_readable()
    assert isinstance(gate.open_for_member(consented), ConsentedScope)


def test_c04_only_three_surfaces_use_the_fact_store() -> None:
    assert set(USES_FACTS) == set(Surface)
    assert {surface.value for surface, uses in USES_FACTS.items() if uses} == {"studio", "dashboardChat", "api"}


@pytest.mark.parametrize("surface", [*Surface.values, "", "API", "unknown"])
def test_c04_the_gate_is_shut_on_every_other_surface_without_a_query(
    consented: Scope, surface: str, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    make_fact(consented)
    now = timezone.now()
    uses = surface in {"studio", "dashboardChat", "api"}
    with django_assert_num_queries(2 if uses else 0):
        opened = gate.open_gate(consented, surface=surface)
        asked, rows = gate.open_with(consented, injectable(consented, now), surface=surface)
    assert isinstance(opened, ConsentedScope) == isinstance(asked, ConsentedScope) == bool(rows) == uses
    assert uses or {opened, asked} == {Closed.SURFACE}


def test_p06_gate_and_rows_come_in_one_query(
    consented: Scope, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    wanted = [make_fact(consented, key=f"key.{number}").pk for number in range(3)]
    with django_assert_num_queries(1):
        state, rows = gate.open_with(consented, injectable(consented, timezone.now()), surface="studio")
    assert isinstance(state, ConsentedScope)
    assert {row[0] for row in rows} == set(wanted)


def test_p06_the_gate_stands_open_when_there_are_no_rows(
    consented: Scope, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(1):
        state, rows = gate.open_with(consented, injectable(consented, timezone.now()), surface="studio")
    assert isinstance(state, ConsentedScope)
    assert rows == []


def test_f01_without_consent_a_turn_costs_one_query_and_gets_no_rows(
    scope: Scope, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    make_fact(scope)
    with django_assert_num_queries(1):
        assert gate.open_with(scope, injectable(scope, timezone.now()), surface="api") == (Closed.NO_CONSENT, [])
    with django_assert_num_queries(1):
        assert gate.open_gate(scope, surface="api") is Closed.NO_CONSENT


def test_p06_the_member_s_own_view_asks_without_a_surface(consented: Scope) -> None:
    make_fact(consented)
    state, rows = gate.open_with(consented, injectable(consented, timezone.now()), surface=None)
    assert isinstance(state, ConsentedScope)
    assert len(rows) == 1


def test_f01_a_hold_with_an_older_epoch_sees_that_consent_changed(consented: Scope, owner: User) -> None:
    before = gate.open_for_member(consented)
    assert isinstance(before, ConsentedScope)
    with transaction.atomic():
        assert gate.hold(consented, epoch=before.epoch) == before
    withdraw_consent(scope=consented, actor=owner, now=timezone.now(), surface="memoryTab")
    with transaction.atomic():
        assert gate.hold(consented, epoch=before.epoch) is Closed.WITHDRAWN
    grant(consented, owner)
    with transaction.atomic():
        assert gate.hold(consented, epoch=before.epoch) is Closed.CHANGED
        after = gate.hold(consented)
    assert isinstance(after, ConsentedScope)
    assert after.epoch == before.epoch + 2


@pytest.mark.django_db(transaction=True)
def test_f01_a_withdrawal_waits_for_a_write_that_holds_the_scope(consented: Scope, owner: User) -> None:
    held, order = Event(), []

    def write() -> None:
        with transaction.atomic():
            assert isinstance(gate.hold(consented), ConsentedScope)
            held.set()
            waiting.wait(timeout=0.3)  # the withdrawal has time to overtake, if it can
            order.append("written")

    waiting = Event()

    def withdraw() -> None:
        assert held.wait(timeout=10)
        withdrawn(consented, owner)
        order.append("withdrawn")
        waiting.set()

    assert together(write, withdraw) == [None, None]
    assert order == ["written", "withdrawn"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("granted_again", [False, True])
def test_f01_a_write_that_waited_for_a_withdrawal_sees_it(consented: Scope, owner: User, granted_again: bool) -> None:
    before = gate.open_for_member(consented)
    assert isinstance(before, ConsentedScope)
    epoch, locked = before.epoch, Event()

    def withdraw() -> None:
        with transaction.atomic():
            withdrawn(consented, owner)
            if granted_again:
                grant(consented, owner, now=timezone.now() + timedelta(seconds=1))
            locked.set()
            Event().wait(timeout=0.2)  # the writer comes to the lock meanwhile

    def write() -> ConsentedScope | Closed:
        assert locked.wait(timeout=10)
        with transaction.atomic():
            return gate.hold(consented, epoch=epoch)

    assert together(withdraw, write)[1] is (Closed.CHANGED if granted_again else Closed.WITHDRAWN)


@pytest.mark.django_db(transaction=True)
def test_holding_one_scope_blocks_no_other_and_no_new_rows(consented: Scope, agent: Agent) -> None:
    other = make_member(agent.organization, agent, "cleo@acme.example")
    second = grant(Scope(consented.organization_id, other.pk, consented.agent_id), other)
    holding, done = Event(), Event()

    def hold_first() -> bool:
        with transaction.atomic():
            gate.hold(consented)
            holding.set()
            return done.wait(timeout=10)

    def write_beside() -> None:
        assert holding.wait(timeout=10)
        make_fact(consented, key="beside")  # refers to the same user, agent and organization as the locked row
        with transaction.atomic():
            gate.hold(second)
            make_fact(second)
        done.set()

    assert together(hold_first, write_beside) == [True, None]
