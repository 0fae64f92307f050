"""C09, C10: beside each reply its owner sees what the agent knew, or why memory did not act, whatever the reason."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Organization, User
from accounts.services import create_api_key, remove_member, set_membership
from agents.models import Agent
from chat import services
from chat.page import NOT_USED
from consent.gate import Closed
from consent.scope import Scope
from consent.services import withdraw_consent
from conversations import sharing
from conversations.models import Session, Turn
from conversations.services import Said
from conversations.surfaces import Surface
from facts.services import delete_fact, edit_fact
from tests import factories

pytestmark = pytest.mark.django_db
type ClientFor = Callable[..., Client]


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def take_turn(session: Session, speaker: User | None = None, *, uses_memory: bool = True) -> Turn:
    """Run one turn as a door does."""
    now = timezone.now()
    started = services.start_turn(
        session=session,
        speaker=speaker or session.created_by,
        said=[Said("user", "Hello", now)],
        now=now,
        uses_memory=uses_memory,
    )
    services.complete(started, clock=timezone.now)
    return started.turn


def line(client: Client, session: Session) -> str:
    return text(client.get(reverse("chat-session", args=["acme", "guide", session.pk])))


@contextmanager
def changed(row: Any, **values: Any) -> Iterator[None]:
    """Change columns for the time of a turn, and back, so that the page can be opened after it."""
    before = {name: getattr(row, name) for name in values}
    type(row)._default_manager.filter(pk=row.pk).update(**values)
    yield
    type(row)._default_manager.filter(pk=row.pk).update(**before)


@pytest.fixture
def client(owner: User, client_for: ClientFor) -> Client:
    return client_for(owner)


@pytest.fixture
def session(agent: Agent, owner: User) -> Session:
    return factories.make_session(agent, owner)


def test_c09_used(client: Client, session: Session, consented: Scope) -> None:
    factories.make_fact(consented, body="Lives in Porto.")
    assert take_turn(session).memory_state == "used"
    page = line(client, session)
    assert "The agent knew 1 fact about you" in page
    assert "Lives in Porto." in page


def test_c09_facts_deleted_or_superseded_since_are_no_longer_listed(
    client: Client, session: Session, consented: Scope, owner: User
) -> None:
    kept, gone, edited = (
        factories.make_fact(consented, body=body, key=key)
        for key, body in (("home", "Lives in Porto."), ("drink", "Likes tea."), ("sport", "Rows."))
    )
    take_turn(session)
    now = timezone.now()
    delete_fact(scope=consented, fact_id=gone.pk, actor=owner, now=now)
    edit_fact(scope=consented, fact_id=edited.pk, body="Rows and sails.", actor=owner, now=now)
    page = line(client, session)
    assert "The agent knew 3 facts about you" in page
    assert "Lives in Porto." in page
    assert "2 are no longer listed" in page
    assert "tea" not in page
    assert "sails" not in page  # the agent did not know that then
    assert f"fact-{kept.pk}" in page


def test_c09_nothing_stored(client: Client, session: Session, consented: Scope) -> None:
    assert take_turn(session).memory_state == "empty"
    assert "no fact was stored that could be used" in line(client, session)


def test_c09_no_consent_and_withdrawn(client: Client, session: Session, scope: Scope, owner: User) -> None:
    assert take_turn(session).memory_state == "no_consent"
    assert "you have not turned it on for this agent" in line(client, session)
    factories.grant(scope, owner)
    withdraw_consent(scope=scope, actor=owner, now=timezone.now(), surface="memoryTab")
    assert take_turn(session).memory_state == "withdrawn"
    assert "you turned it off for this agent" in line(client, session)


def test_c09_kill_switch(client: Client, session: Session, consented: Scope, settings: Any) -> None:
    settings.AGENT_MEMORY_KILL_SWITCH = "on"
    assert take_turn(session).memory_state == "kill_switch"
    assert "turned off for this whole deployment" in line(client, session)


def test_c09_key_switch(
    client: Client, agent: Agent, owner: User, organization: Organization, consented: Scope
) -> None:
    secret = create_api_key(organization=organization, user=owner, name="off", memory_enabled=False).secret
    response = Client().post(
        "/v1/chat/completions",
        data={"model": "acme/guide", "messages": [{"role": "user", "content": "Hello"}]},
        content_type="application/json",
        headers={"Authorization": f"Bearer {secret}"},
    )
    assert response["X-Memory"] == "key_switch"
    assert "switched off for this API key" in line(client, Session.objects.get())


@pytest.mark.parametrize("surface", [Surface.SLACK, Surface.EMAIL, Surface.VISITOR])
def test_c09_surface(client: Client, agent: Agent, owner: User, consented: Scope, surface: Surface) -> None:
    session = factories.make_session(agent, owner, surface=surface)
    assert take_turn(session).memory_state == "surface"
    page = line(client, session)
    assert "conversations from this place never use it" in page
    assert "Memory is not used here" in page


def test_c10_others_can_read(client: Client, session: Session, consented: Scope, owner: User, colleague: User) -> None:
    factories.make_fact(consented)
    sharing.add_participant(session=session, user=colleague, actor=owner)
    assert take_turn(session).memory_state == "shared_session"
    sharing.remove_participant(session=session, user_id=colleague.pk, actor=owner)
    sharing.set_public(session=session, public=True, actor=owner)
    session.refresh_from_db()
    assert take_turn(session).memory_state == "shared_session"
    assert line(client, session).count("others can read this conversation") == 2


def test_c10_another_speaker(client: Client, session: Session, consented: Scope, colleague: User) -> None:
    factories.make_fact(consented)
    assert take_turn(session, colleague).memory_state == "other_speaker"
    assert "somebody else wrote this message" in line(client, session)


def test_p05_read_failure(client: Client, session: Session, consented: Scope, settings: Any) -> None:
    from encryption.services import forget_keys

    factories.make_fact(consented)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "KEYRING_JSON", "")
        patch.setattr(settings, "KEYRING_FILE", None)
        forget_keys()
        assert take_turn(session).memory_state == "read_failed"
    assert "could not be read, so the agent answered without it" in line(client, session)


def test_c09_account_membership_and_agent(
    client: Client, session: Session, consented: Scope, owner: User, agent: Agent, organization: Organization
) -> None:
    with changed(owner, is_active=False):
        assert take_turn(session).memory_state == "user"
    factories.make_member(organization, None, "eva@acme.example", role="owner")
    remove_member(organization=organization, user=owner)
    assert take_turn(session).memory_state == "membership"
    set_membership(organization=organization, user=owner, role="member")
    with changed(agent, deleted_at=timezone.now()):
        assert take_turn(session).memory_state == "agent"
    page = line(client, session)
    assert "your account could not use it" in page
    assert "you were no member of the organization" in page
    assert "the agent did not exist any more" in page


def test_c09_every_state_has_its_sentence() -> None:
    read_here = {"empty", "read_failed", "key_switch", "other_speaker", "shared_session"}
    assert read_here | (set(Closed) - {Closed.CHANGED}) == set(NOT_USED)  # that one is a write's


def test_c09_nobody_but_the_owner_sees_the_line(
    client_for: ClientFor, session: Session, consented: Scope, owner: User, colleague: User
) -> None:
    factories.make_fact(consented, body="Lives in Porto.")
    take_turn(session)
    sharing.add_participant(session=session, user=colleague, actor=owner)
    take_turn(session)
    page = line(client_for(colleague), session)
    assert "Porto" not in page
    assert "Memory was not used" not in page
    assert "Memory tab" not in page


def test_a_turn_that_could_not_be_begun_says_nothing_of_memory(
    client: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(services, "gather", fail)
    with pytest.raises(RuntimeError):
        take_turn(session)
    assert 'class="knew"' not in line(client, session)
