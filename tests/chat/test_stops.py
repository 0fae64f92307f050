"""C03: one look finds the stop requests of all turns that stream in a process."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from chat.stops import STOP_CHECK_SECONDS, Stops
from conversations.models import Session, Turn
from conversations.services import Said, begin_turn, request_stop
from tests import factories

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
