"""C02, C03: one turn of a session runs at a time, and it is finished once."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from agents.models import Agent
from conversations.models import Message, Participant, Session, Turn
from conversations.services import (
    ABANDONED_AFTER,
    InPrompt,
    Reply,
    Said,
    SessionBusy,
    begin_turn,
    finish_turn,
    mark_passed,
    new_session,
    request_stop,
    transcript,
)
from conversations.sharing import rename_session
from conversations.surfaces import Surface
from tests.factories import make_session, make_turn
from tests.threads import together

pytestmark = pytest.mark.django_db
COMPLETED = Turn.Status.COMPLETED


@pytest.fixture
def session(agent: Agent, owner: User) -> Session:
    return make_session(agent, owner)


def begin(session: Session, *texts: str) -> Turn:
    now = timezone.now()
    said = [Said("user", text, now) for text in texts or ("Hello.",)]
    return begin_turn(session=session, speaker=session.created_by, said=said, now=now)


def finish(turn: Turn, text: str = "Good day.", status: Turn.Status = COMPLETED) -> bool:
    now = timezone.now()
    return finish_turn(turn=turn, status=status, reply=Reply(text, "stub-1", 3, 2), at=now, now=now)


def texts(session: Session) -> list[str]:
    return list(Message.objects.filter(session=session).order_by("position").values_list("content", flat=True))


def test_c03_a_finished_turn_holds_what_was_said_and_the_reply(session: Session, owner: User) -> None:
    turn = begin(session, "Hello.", "Are you there?")
    assert finish(turn)
    turn.refresh_from_db()
    assert (turn.status, turn.model, turn.prompt_tokens, turn.completion_tokens) == ("completed", "stub-1", 3, 2)
    assert turn.finished_at is not None
    messages = transcript(session)
    assert [(m.position, m.role, m.content) for m in messages] == [
        (0, "user", "Hello."),
        (1, "user", "Are you there?"),
        (2, "assistant", "Good day."),
    ]
    assert [m.speaker_id for m in messages] == [owner.pk, owner.pk, None]


def test_c03_a_second_turn_of_a_busy_session_is_refused_and_stores_nothing(session: Session) -> None:
    running = begin(session)
    with pytest.raises(SessionBusy):
        begin(session, "Me too.")
    assert texts(session) == ["Hello."]
    finish(running)
    finish(begin(session, "Now."))
    assert texts(session) == ["Hello.", "Good day.", "Now.", "Good day."]


def test_c03_another_session_is_not_busy(session: Session, agent: Agent, owner: User) -> None:
    begin(session)
    assert begin(make_session(agent, owner)).status == "running"


@pytest.mark.django_db(transaction=True)
def test_c03_of_many_turns_at_once_one_runs(session: Session) -> None:
    outcomes = together(*[lambda: begin(session)] * 6)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["SessionBusy"] * 5 + ["Turn"]
    assert texts(session) == ["Hello."]


@pytest.mark.django_db(transaction=True)
def test_c03_a_turn_that_is_finished_twice_at_once_is_stored_once(session: Session) -> None:
    turn = begin(session)
    assert sorted(map(str, together(*[lambda: finish(Turn.objects.get(pk=turn.pk))] * 4))) == ["False"] * 3 + ["True"]
    assert texts(session) == ["Hello.", "Good day."]


def test_the_database_allows_one_running_turn_of_a_session(session: Session, owner: User) -> None:
    turn = begin(session)
    turn.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        turn.save(force_insert=True)


def test_c03_an_abandoned_turn_makes_way_and_its_late_reply_is_not_stored(session: Session) -> None:
    lost = begin(session)
    Turn.objects.filter(pk=lost.pk).update(created_at=timezone.now() - ABANDONED_AFTER + timedelta(seconds=30))
    with pytest.raises(SessionBusy):
        begin(session)
    Turn.objects.filter(pk=lost.pk).update(created_at=timezone.now() - ABANDONED_AFTER - timedelta(seconds=1))
    following = begin(session, "Again.")
    assert not finish(lost, "Too late.")
    lost.refresh_from_db()
    assert (lost.status, lost.error_code) == ("failed", "abandoned")
    assert finish(following)
    assert texts(session) == ["Hello.", "Again.", "Good day."]


def test_c03_finishing_twice_stores_once_and_keeps_the_first_status(session: Session) -> None:
    turn = begin(session)
    assert finish(turn)
    assert not finish(Turn.objects.get(pk=turn.pk), "Something else.", Turn.Status.FAILED)
    turn.refresh_from_db()
    assert turn.status == "completed"
    assert texts(session) == ["Hello.", "Good day."]


@pytest.mark.django_db(transaction=True)
def test_c03_a_turn_can_be_finished_without_an_open_transaction(session: Session) -> None:
    assert finish(begin(session), "", Turn.Status.FAILED)
    assert texts(session) == ["Hello."]


@pytest.mark.parametrize("status", ["failed", "stopped", "output_restricted", "input_blocked"])
def test_c03_only_completed_turns_are_shown_to_a_model(session: Session, status: str) -> None:
    make_turn(session, "Hello.", "Good day.")
    make_turn(session, "Lost.", "Half", status=Turn.Status(status))
    assert [message.content for message in transcript(session)] == ["Hello.", "Good day."]
    assert Turn.objects.get(status=status).transcript_digest is None


def test_c03_a_stop_is_asked_of_a_running_turn_and_stays_asked(session: Session, agent: Agent, owner: User) -> None:
    turn, now = begin(session), timezone.now()
    assert not request_stop(turn_id=turn.pk, session=make_session(agent, owner), now=now)
    assert request_stop(turn_id=turn.pk, session=session, now=now)
    finish(turn, "Half", Turn.Status.STOPPED)
    assert Turn.objects.get(pk=turn.pk).stop_requested_at == now
    assert not request_stop(turn_id=turn.pk, session=session, now=now)


def test_c09_finishing_keeps_what_was_put_in_the_prompt(session: Session) -> None:
    turn = begin(session)
    Turn.objects.filter(pk=turn.pk).update(memory_state="used", prompt_cache_key="k")
    finish(turn)
    assert Turn.objects.values_list("memory_state", "prompt_cache_key").get(pk=turn.pk) == ("used", "k")


def test_a_session_is_titled_by_the_first_new_message_of_its_member(session: Session, owner: User) -> None:
    now = timezone.now()
    said = [Said("user", "Old.", now, passed=True), Said("user", "A  new\nquestion " + "x" * 99, now)]
    finish(begin_turn(session=session, speaker=owner, said=said, now=now))
    session.refresh_from_db()
    title = session.title
    assert title.startswith("A new question xxx")
    assert len(title) == 80
    finish(begin(session, "Another."))
    session.refresh_from_db()
    assert session.title == title


def test_a_title_that_was_given_meanwhile_stays(session: Session) -> None:
    rename_session(session=Session.objects.get(pk=session.pk), title="Holidays")
    finish(begin(session, "Where to?"))
    assert Session.objects.get(pk=session.pk).title == "Holidays"


def test_c02_a_new_session_is_stored_with_its_first_turn_in_one_statement(agent: Agent, owner: User) -> None:
    now = timezone.now()
    session = new_session(
        agent=agent, created_by=owner, surface=Surface.API, now=now, api_key_id=owner.pk, end_user_id="somebody"
    )
    with CaptureQueriesContext(connection) as seen:
        turn = begin_turn(
            session=session,
            speaker=owner,
            said=[Said("user", "Hello.", now)],
            now=now,
            external_speaker_id="U1",
            in_prompt=InPrompt("used", [owner.pk, agent.pk], "key"),
        )
    assert [query["sql"][:4] for query in seen.captured_queries] == ["SAVE", "WITH", "RELE"]
    for row in (session, turn):
        assert not row._state.adding
        stored = type(row)._default_manager.get(pk=row.pk)
        assert [getattr(stored, field.attname) for field in row._meta.concrete_fields] == [
            getattr(row, field.attname) for field in row._meta.concrete_fields
        ]
    assert (session.title, session.created_at >= now) == ("Hello.", True)
    assert Message.objects.get().speaker is None  # an outsider
    finish(turn)
    assert begin(session, "Again.").status == "running"


def test_c10_memory_is_not_used_for_a_turn_that_others_hear(session: Session, owner: User, colleague: User) -> None:
    turn = begin(session)
    assert turn.uses_memory
    finish(turn)
    assert not begin_turn(session=session, speaker=colleague, said=[], now=timezone.now(), uses_memory=True).uses_memory
    Turn.objects.filter(session=session).update(status="completed")
    Session.objects.filter(pk=session.pk).update(is_public=True)  # since the session was read
    turn = begin(session)
    assert not turn.uses_memory
    finish(turn)
    Session.objects.filter(pk=session.pk).update(is_public=False)
    Participant.objects.create(organization_id=session.organization_id, session=session, user=colleague)
    assert not begin(session).uses_memory


def test_e02_a_message_is_passed_once_and_only_in_its_organization(session: Session, owner: User) -> None:
    _, message = make_turn(session, "Hello.")
    now = timezone.now()
    mark_passed(message_ids=[message.pk], organization_id=owner.pk, now=now)
    assert Message.objects.get(pk=message.pk).passed_at is None
    for later in (now, now + timedelta(days=1)):
        mark_passed(message_ids=[message.pk], organization_id=session.organization_id, now=later)
    assert Message.objects.get(pk=message.pk).passed_at == now
