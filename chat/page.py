"""What the chat page shows: sessions, turns with their messages, and what the agent knew (C03, C09). Writes nothing."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from agents.models import Agent
from consent.scope import Scope
from conversations.access import sessions_for
from conversations.models import Message, Session, Turn
from conversations.surfaces import Surface
from extraction.figures import Learned, learned
from facts.services import list_facts

PAGE: Final = 400  # messages on one page of a transcript; earlier ones are a link away
SESSIONS: Final = 100  # in the list beside it; the page says when there are more


@dataclass(frozen=True, slots=True)
class Place:
    """Where people chat: the surface, what it takes beside agent:read, and the names of its addresses."""

    name: str
    surface: Surface
    permission: str

    @property
    def new(self) -> str:
        return self.name

    @property
    def send_first(self) -> str:
        return f"{self.name}-send-first"

    @property
    def session(self) -> str:
        return f"{self.name}-session"

    @property
    def send(self) -> str:
        return f"{self.name}-send"

    @property
    def stop(self) -> str:
        return f"{self.name}-stop"

    @property
    def turn(self) -> str:
        return f"{self.name}-turn"


CHAT: Final = Place("chat", Surface.DASHBOARD_CHAT, "agent:read")
STUDIO: Final = Place("studio", Surface.STUDIO, "agent:manage")  # for who builds the agent and tries it out

# Why memory did not act, by Turn.memory_state; `used` is counted instead.
NOT_USED: Final[dict[str, Promise]] = {
    "empty": _("Memory is on; no fact was stored that could be used."),
    "read_failed": _("Memory could not be read, so the agent answered without it."),
    "key_switch": _("Memory was not used: it is switched off for this API key."),
    "other_speaker": _("Memory was not used: somebody else wrote this message."),
    "shared_session": _("Memory was not used: others can read this conversation."),
    "kill_switch": _("Memory was not used: it is turned off for this whole deployment."),
    "surface": _("Memory was not used: conversations from this place never use it."),
    "no_consent": _("Memory is off: you have not turned it on for this agent."),
    "withdrawn": _("Memory is off: you turned it off for this agent."),
    "user": _("Memory was not used: your account could not use it at that time."),
    "membership": _("Memory was not used: you were no member of the organization at that time."),
    "agent": _("Memory was not used: the agent did not exist any more."),
}

# What went wrong, by Turn.error_code.
FAILURES: Final[dict[str, Promise]] = {
    "unreachable": _("The model could not be reached. Try again in a moment."),
    "unavailable": _("The model failed several times just now. Try again in a few minutes."),
    "timeout": _("The model did not answer in time. Try again."),
    "rate_limited": _("The model's provider is overloaded. Try again later."),
    "unauthorized": _("The model's provider refused the deployment's key. Tell the operator."),
    "misconfigured": _("The agent's model is not set up. Tell the operator."),
    "refused_address": _("The model's address may not be called. Tell the operator."),
    "refused_request": _("The model's provider refused the request."),
    "bad_answer": _("The model answered with something that is no reply. Try again."),
    "cut_off": _("The reply broke off. What had arrived was kept."),
    "abandoned": _("The reply was never finished: the server stopped in between."),
}
FAILED: Final = _("The model failed. Try again.")


@dataclass(frozen=True, slots=True)
class KnownFact:
    """A fact that was in the prompt and is still listed; `body` is empty when it cannot be decrypted now."""

    id: uuid.UUID
    key: str
    body: str


@dataclass(frozen=True, slots=True)
class Knew:
    """What the agent knew in one turn: `count` facts, those still listed, and how many no longer are."""

    count: int
    facts: tuple[KnownFact, ...]
    gone: int
    sentence: str


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """One turn with its messages; `knew` is None for everybody but the session's creator."""

    turn: Turn
    messages: tuple[Message, ...]
    failure: str
    knew: Knew | None
    learned: Learned | None  # the same; and None where there was no run
    retry_text: str  # empty: no retry is offered
    may_stop: bool


@dataclass(frozen=True, slots=True)
class Transcript:
    """One page of a session; `earlier` is the position before which more messages exist."""

    turns: tuple[ShownTurn, ...]
    earlier: int | None


@dataclass(frozen=True, slots=True)
class SessionList:
    """The newest sessions, and whether there are more."""

    sessions: tuple[Session, ...]
    more: bool


def may_write(user: User, session: Session, place: Place) -> bool:
    """Only the creator writes, and only in the session's own place: participants read, connectors have their doors."""
    return session.created_by_id == user.pk and session.surface == place.surface


def sessions_beside(user: User, agent: Agent, place: Place) -> SessionList:
    """Return the newest sessions with this agent: her own in Studio, elsewhere all that she may read but those."""
    sessions = sessions_for(user, agent)
    in_studio = {"surface": Surface.STUDIO, "created_by": user}
    sessions = sessions.filter(**in_studio) if place is STUDIO else sessions.exclude(**in_studio)
    found = list(sessions.order_by("-last_activity_at", "id")[: SESSIONS + 1])
    return SessionList(tuple(found[:SESSIONS]), more=len(found) > SESSIONS)


def last_turn(session: Session, **of: User) -> uuid.UUID | None:
    """Return the newest turn of a session, or of one `speaker` in it."""
    found: uuid.UUID | None = (
        Turn.objects.filter(session=session, **of).order_by("-created_at", "-id").values_list("pk", flat=True).first()
    )
    return found


def read_transcript(
    user: User,
    session: Session,
    *,
    now: datetime,
    place: Place = CHAT,
    before: int | None = None,
    only: uuid.UUID | None = None,
) -> Transcript:
    """Return the newest messages of a session (before a position, or of one turn), grouped by turn."""
    stored = Message.objects.filter(session=session).select_related("turn", "speaker").order_by("-position")
    if before is not None:
        stored = stored.filter(position__lt=before)
    if only is not None:
        stored = stored.filter(turn=only)
    newest_first = list(stored[: PAGE + 1])
    messages = newest_first[:PAGE][::-1]
    groups = _by_turn(messages)
    turns = [group[0].turn for group in groups.values()]
    known = _known_facts(user, session, turns, now)
    own = session.created_by_id == user.pk
    learnt = learned(groups) if own else {}
    shown = [
        _shown(
            turn,
            groups[turn.pk],
            knew=_knew(turn, known) if own else None,
            learned=learnt.get(turn.pk),
            writable=may_write(user, session, place),
            stoppable=own,
            last=turn is turns[-1] and before is None,
        )
        for turn in turns
    ]
    return Transcript(tuple(shown), messages[0].position if len(newest_first) > PAGE else None)


def read_own_turns(speaker: User, session: Session, *, writable: bool, only: uuid.UUID | None = None) -> Transcript:
    """Return the turns of somebody who may not read the rest of the session, nor what the agent knew in them (C03)."""
    messages = Message.objects.filter(session=session, turn__speaker=speaker).select_related("turn", "speaker")
    if only is not None:
        messages = messages.filter(turn=only)
    groups = list(_by_turn(messages.order_by("position")).values())
    shown = [
        _shown(group[0].turn, group, writable=writable, stoppable=True, last=group is groups[-1]) for group in groups
    ]
    return Transcript(tuple(shown), None)


def _by_turn(messages: Iterable[Message]) -> dict[uuid.UUID, list[Message]]:
    groups: dict[uuid.UUID, list[Message]] = {}
    for message in messages:
        groups.setdefault(message.turn_id, []).append(message)
    return groups


def _known_facts(user: User, session: Session, turns: Iterable[Turn], now: datetime) -> dict[uuid.UUID, KnownFact]:
    """Return the creator's facts that these turns used and that are still listed; one read for the whole page."""
    wanted = {fact for turn in turns for fact in turn.fact_ids}
    if session.created_by_id != user.pk or not wanted:
        return {}
    listed = list_facts(Scope(session.organization_id, user.pk, session.agent_id), now=now)
    return {
        fact.row.pk: KnownFact(
            fact.row.pk, fact.opened.label if fact.opened else "", fact.opened.body if fact.opened else ""
        )
        for fact in listed
        if fact.row.pk in wanted
    }


def _knew(turn: Turn, known: dict[uuid.UUID, KnownFact]) -> Knew | None:
    if turn.fact_ids:
        facts = tuple(known[fact] for fact in turn.fact_ids if fact in known)
        return Knew(len(turn.fact_ids), facts, len(turn.fact_ids) - len(facts), "")
    sentence = NOT_USED.get(turn.memory_state)
    return Knew(0, (), 0, str(sentence)) if sentence else None


def _shown(
    turn: Turn,
    messages: list[Message],
    *,
    writable: bool,
    stoppable: bool,
    last: bool,
    knew: Knew | None = None,
    learned: Learned | None = None,
) -> ShownTurn:
    ended_badly = turn.status in (Turn.Status.FAILED, Turn.Status.STOPPED, Turn.Status.OUTPUT_RESTRICTED)
    asked = next((message.content for message in reversed(messages) if message.role == Message.Role.USER), "")
    return ShownTurn(
        turn=turn,
        messages=tuple(messages),
        failure=str(FAILURES.get(turn.error_code, FAILED)) if turn.status == Turn.Status.FAILED else "",
        knew=knew,
        learned=learned,
        retry_text=asked if writable and last and ended_badly else "",
        may_stop=stoppable and turn.status == Turn.Status.RUNNING,
    )
