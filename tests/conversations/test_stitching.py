"""C02: a resent history finds the one session whose whole current transcript it is, and no other."""

import uuid
from collections.abc import Sequence

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import Organization, User
from agents.models import Agent
from conversations import digest
from conversations.models import Session, Turn
from conversations.services import Reply, Said, begin_turn, find_continued, finish_turn, new_session
from conversations.surfaces import Surface
from tests.factories import make_agent

pytestmark = pytest.mark.django_db
KEY = uuid.UUID(int=1)
type Pair = tuple[str, str]
HISTORY: list[Pair] = [("user", "Hello."), ("assistant", "Good day.")]
LONGER: list[Pair] = [*HISTORY, ("user", "How are you?"), ("assistant", "Well, thank you.")]


def talk(
    agent: Agent,
    user: User,
    history: Sequence[Pair],
    *,
    key: uuid.UUID | None = KEY,
    end_user: str = "",
    surface: Surface = Surface.API,
) -> Session:
    """Return a session in which these pairs of messages were completed turns."""
    session = new_session(
        agent=agent, created_by=user, surface=surface, now=timezone.now(), api_key_id=key, end_user_id=end_user
    )
    for said, reply in zip(history[::2], history[1::2], strict=True):
        add_turn(session, said[1], reply[1])
    return session


def add_turn(session: Session, said: str, reply: str, status: Turn.Status = Turn.Status.COMPLETED) -> Turn:
    now = timezone.now()
    turn = begin_turn(session=session, speaker=session.created_by, said=[Said("user", said, now)], now=now)
    finish_turn(turn=turn, status=status, reply=Reply(reply), at=now, now=now)
    return turn


def found(
    agent: Agent, user: User, history: Sequence[Pair], *, key: uuid.UUID = KEY, end_user: str = ""
) -> Session | None:
    continued = find_continued(agent=agent, created_by=user, api_key_id=key, end_user_id=end_user, history=history)
    return continued.session if continued else None


def test_c02_a_resent_history_finds_its_session_after_each_turn(agent: Agent, owner: User) -> None:
    session = talk(agent, owner, HISTORY)
    assert found(agent, owner, HISTORY) == session
    add_turn(session, "How are you?", "Well, thank you.")
    assert found(agent, owner, LONGER) == session


def test_c02_only_the_same_key_agent_user_and_end_user_continue_a_session(
    organization: Organization, agent: Agent, owner: User, colleague: User
) -> None:
    session = talk(agent, owner, HISTORY, end_user="end-1")
    assert found(agent, owner, HISTORY, end_user="end-1") == session
    assert found(agent, owner, HISTORY, end_user="end-2") is None
    assert found(agent, owner, HISTORY) is None
    assert found(agent, owner, HISTORY, key=uuid.UUID(int=2), end_user="end-1") is None
    assert found(agent, colleague, HISTORY, end_user="end-1") is None
    assert found(make_agent(organization, "second"), owner, HISTORY, end_user="end-1") is None


def test_c02_sessions_of_other_surfaces_and_deleted_ones_are_not_continued(agent: Agent, owner: User) -> None:
    talk(agent, owner, HISTORY, surface=Surface.STUDIO)
    talk(agent, owner, HISTORY, key=None)
    gone = talk(agent, owner, HISTORY)
    Session.objects.filter(pk=gone.pk).update(deleted_at=timezone.now())
    assert found(agent, owner, HISTORY) is None


@pytest.mark.parametrize(
    "history",
    [
        [],
        HISTORY,
        LONGER[2:],
        LONGER[:3],
        [*LONGER, ("user", "Bye.")],
        [*LONGER, ("user", "Bye."), ("assistant", "Bye.")],
        [("user", "Hello!"), *LONGER[1:]],
        [("assistant", "Hello."), *LONGER[1:]],
        [*LONGER[:3], ("assistant", "Well, thank you!")],
        [LONGER[0], LONGER[1], LONGER[3], LONGER[2]],
        [("system", "Be kind.")],
    ],
)
def test_c02_a_part_a_branch_or_another_text_is_no_continuation(agent: Agent, owner: User, history: list[Pair]) -> None:
    talk(agent, owner, LONGER)
    assert found(agent, owner, history) is None


def test_c02_a_history_that_two_sessions_share_is_ambiguous(agent: Agent, owner: User) -> None:
    talk(agent, owner, HISTORY)
    other = talk(agent, owner, HISTORY)
    assert found(agent, owner, HISTORY) is None
    add_turn(other, "How are you?", "Well, thank you.")  # now the texts differ
    assert found(agent, owner, LONGER) == other
    assert found(agent, owner, HISTORY) is not None


def test_c02_sessions_that_have_moved_on_hide_no_current_one(agent: Agent, owner: User) -> None:
    for number in range(25):
        add_turn(talk(agent, owner, HISTORY), f"Question {number}", "Answer.")
    current = talk(agent, owner, HISTORY)
    assert found(agent, owner, HISTORY) == current
    talk(agent, owner, HISTORY)
    assert found(agent, owner, HISTORY) is None


@pytest.mark.parametrize("status", ["failed", "stopped", "output_restricted", "input_blocked"])
def test_c02_turns_that_did_not_complete_do_not_count(agent: Agent, owner: User, status: str) -> None:
    session = talk(agent, owner, HISTORY)
    add_turn(session, "Broken.", "Half a rep", Turn.Status(status))
    assert found(agent, owner, HISTORY) == session
    add_turn(session, "How are you?", "Well, thank you.")
    assert found(agent, owner, LONGER) == session
    assert found(agent, owner, [*HISTORY, ("user", "Broken."), ("assistant", "Half a rep")]) is None


def test_c02_line_ends_outer_space_and_composition_do_not_count(agent: Agent, owner: User) -> None:
    session = talk(agent, owner, [("user", "Café\nau lait"), ("assistant", "Yes.\n")])
    assert found(agent, owner, [("user", "  Cafe\u0301\r\nau lait \n"), ("assistant", "Yes.")]) == session
    assert found(agent, owner, [("user", "Café au lait"), ("assistant", "Yes.")]) is None


def test_c02_a_clients_own_system_messages_do_not_count(agent: Agent, owner: User) -> None:
    session = talk(agent, owner, HISTORY)
    assert found(agent, owner, [("system", "One."), HISTORY[0], ("system", "Two."), HISTORY[1]]) == session


def test_c02_a_new_session_with_a_resent_past_is_found_by_the_whole(agent: Agent, owner: User) -> None:
    now = timezone.now()
    session = talk(agent, owner, [])
    said = [Said(role, text, now, passed=True) for role, text in HISTORY] + [Said("user", "How are you?", now)]
    turn = begin_turn(session=session, speaker=owner, said=said, now=now)
    finish_turn(turn=turn, status=Turn.Status.COMPLETED, reply=Reply("Well, thank you."), at=now, now=now)
    assert found(agent, owner, LONGER) == session
    passed = turn.messages.order_by("position").values_list("passed_at", flat=True)
    assert [at is not None for at in passed] == [True, True, False, False]


pairs = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text(max_size=5)), max_size=4)


@given(pairs, pairs)
def test_c02_digests_agree_only_for_the_same_spoken_text(one: list[Pair], other: list[Pair]) -> None:
    start = digest.start(organization_id=KEY, agent_id=KEY, api_key_id=None, end_user_id="")

    def spoken(history: list[Pair]) -> list[bytes]:
        return [digest.extend(b"", [pair]) for pair in history]

    assert (digest.extend(start, one) == digest.extend(start, other)) == (spoken(one) == spoken(other))


@given(pairs, st.integers(0, 4))
def test_c02_a_digest_can_be_extended_turn_by_turn(history: list[Pair], cut: int) -> None:
    start = digest.start(organization_id=KEY, agent_id=KEY, api_key_id=KEY, end_user_id="x")
    assert digest.extend(digest.extend(start, history[:cut]), history[cut:]) == digest.extend(start, history)


def test_c02_a_digest_tells_nothing_without_the_deployments_key(settings: object) -> None:
    before = digest.extend(b"", HISTORY)
    settings.SECRET_KEY = "another key of the deployment, long enough"  # type: ignore[attr-defined]
    assert digest.extend(b"", HISTORY) != before
