"""C03: one look finds the stop requests of all turns that stream in a process."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import ApiKey, Organization, User
from accounts.services import remove_member, revoke_api_key
from chat.stops import STOP_CHECK_SECONDS, Stops
from conversations.access import replies_to_end
from conversations.models import Session, Turn
from conversations.services import Said, begin_turn, request_stop
from tests import factories
from tests.chat.conftest import Ask
from tests.stub_server import Script

pytestmark = pytest.mark.django_db


def running(session: Session) -> Turn:
    now = timezone.now()
    return begin_turn(session=session, speaker=session.created_by, said=[Said("user", "Hi", now)], now=now)


def test_one_look_serves_all_streams_and_comes_at_most_twice_a_second(
    agent: Any, owner: Any, django_assert_num_queries: Any
) -> None:
    turns = [running(factories.make_session(agent, owner)) for _ in range(3)]
    stops, now = Stops(), timezone.now()
    for turn in turns:
        stops.watch(turn.pk, now=now)
    request_stop(turn_id=turns[1].pk, session=turns[1].session, now=now)
    later = now + timedelta(seconds=STOP_CHECK_SECONDS)
    with django_assert_num_queries(0):
        assert not any(stops.asked(turn.pk, now=now) for turn in turns)
    with django_assert_num_queries(1):
        assert [stops.asked(turn.pk, now=later) for turn in turns] == [False, True, False]
    stops.forget(turns[1].pk)
    assert not stops.asked(turns[1].pk, now=later)


def test_a_turn_that_nobody_watches_is_not_asked_to_stop() -> None:
    assert not Stops().asked(uuid.uuid4(), now=timezone.now())


def left(owner: User, organization: Organization) -> None:
    remove_member(organization=organization, user=owner)


def disabled(owner: User, organization: Organization) -> None:
    User.objects.get_queryset().filter(pk=owner.pk).update(is_active=False)


def revoked(owner: User, organization: Organization) -> None:
    revoke_api_key(key=ApiKey.objects.get(user=owner), now=timezone.now())


@pytest.mark.parametrize("end", [left, disabled, revoked])
def test_i02_a_reply_under_way_ends_with_the_access_of_whoever_reads_it(
    ask: Ask, organization: Organization, owner: User, model_server: Script, monkeypatch: pytest.MonkeyPatch, end: Any
) -> None:
    monkeypatch.setattr("chat.stops.STOP_CHECK_SECONDS", 0.0)
    model_server.answers = ["One two three four five six."]
    pieces = iter(ask(stream=True).streaming_content)
    while b'"content": "One"' not in next(pieces):
        pass
    end(owner, organization)
    rest = b"".join(pieces)
    assert b"six" not in rest
    turn = Turn.objects.get()
    assert (turn.status, turn.error_code) == ("stopped", "asked")


def test_the_end_of_one_members_access_stops_nobody_elses_reply(
    agent: Any, organization: Organization, owner: User, colleague: User
) -> None:
    hers, his = running(factories.make_session(agent, owner)), running(factories.make_session(agent, colleague))
    left(owner, organization)
    assert replies_to_end([hers.pk, his.pk], now=timezone.now()) == {hers.pk}
