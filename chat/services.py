"""Runs a turn: store and judge what was said, gather memory, call the model in no transaction, store the reply."""

import uuid
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

import structlog
from django.db import connection, transaction

from accounts.models import User
from agents import breaker
from agents.models import Agent
from agents.providers import model_for
from chat import rounds, tools
from chat.context import SHARED, Context, gather, member_settings
from chat.guardrails import Guard, Refused
from chat.guardrails import Reply as Screened
from chat.policies import count_hits, policy_for
from chat.prompt import Prompt, assemble, member_line
from chat.stops import STOPS
from conversations.models import Session, Turn
from conversations.services import (
    InPrompt,
    Reply,
    Said,
    SessionBusy,
    SessionGone,
    SessionMoved,
    begin_turn,
    find_continued,
    finish_turn,
    new_session,
    transcript,
)
from conversations.surfaces import Surface
from database.prepared import in_one_trip
from extraction import runs as extraction
from llm.client import ChatModel, ChatRequest, Chunk, Completion, ModelError, ToolCall, Usage, whole
from llm.pump import pumped
from screening.text import storable

log = structlog.get_logger(__name__)
type Clock = Callable[[], datetime]
type Ask = Callable[[ChatModel, ChatRequest], Iterator[Chunk]]

MAX_HISTORY_CHARACTERS: Final = 400_000  # of a session's own transcript that is sent again; oldest turns fall away
KEEP_ALIVE_SECONDS: Final = 2.0  # of silence; then we look whether anybody still wants the reply
FILTERED: Final = "content_filter"  # what OpenAI's protocol calls a reply that guardrails end
NOT_ASKED: Final = Context("", (), "input_blocked")
UNGUARDED: Final = Guard()
_NO_PROMPT: Final = Prompt((), "")  # of a refused message


@dataclass(frozen=True, slots=True)
class Started:
    """A turn that has begun and whose model has not been called yet; a `refused` one has ended, and never is."""

    session: Session
    turn: Turn
    context: Context
    request: ChatRequest
    reply_at: datetime | None = None
    guard: Guard = UNGUARDED
    refused: Refused | None = None

    def use_tool(self, call: ToolCall, *, clock: Clock) -> str:
        """Return what a tool says, used with the speaker's rights."""
        speaker = None if self.turn.external_speaker_id else self.turn.speaker
        result = tools.use(call, tools.Caller(self.session.agent, speaker, clock))
        release_connection()
        return result


@dataclass(frozen=True, slots=True)
class Asked:
    """What a client sent: system messages, earlier messages, and the new ones, as (role, text) pairs."""

    system: tuple[str, ...]
    history: tuple[tuple[str, str], ...]
    new: tuple[tuple[str, str], ...]


def start_api_turn(
    *,
    agent: Agent,
    user: User,
    api_key_id: uuid.UUID,
    end_user_id: str,
    asked: Asked,
    now: datetime,
    uses_memory: bool,
    options: dict[str, object],
) -> Started:
    """Begin the turn of a request without a session handle: in the session that it continues, or in a new one (C02).

    A history that continues no session, or one that another request has just moved on (a branch), is stored as
    passed: it was said elsewhere, or extraction has seen it. Only the last user message is surely new then.
    """
    found = find_continued(
        agent=agent, created_by=user, api_key_id=api_key_id, end_user_id=end_user_id, history=asked.history
    )
    new = [Said(role, text, now) for role, text in asked.new]
    if found is not None:
        try:
            return start_turn(
                session=found.session,
                speaker=user,
                said=new,
                now=now,
                asked=asked,
                uses_memory=uses_memory,
                options=options,
                continues=found.digest,
            )
        except (SessionBusy, SessionMoved, SessionGone):
            log.info("session_branched", session_id=str(found.session.pk))
    session = new_session(
        agent=agent, created_by=user, surface=Surface.API, now=now, api_key_id=api_key_id, end_user_id=end_user_id
    )
    earlier = [Said(role, text, now, passed=True) for role, text in (*asked.history, *asked.new[:-1])]
    return start_turn(
        session=session,
        speaker=user,
        said=[*earlier, new[-1]],
        now=now,
        asked=asked,
        uses_memory=uses_memory,
        options=options,
    )


def start_turn(
    *,
    session: Session,
    speaker: User,
    said: Sequence[Said],
    now: datetime,
    asked: Asked | None = None,
    uses_memory: bool = True,
    options: dict[str, object] | None = None,
    reply_at: datetime | None = None,
    continues: bytes | None = None,
    external_speaker_id: str = "",
) -> Started:
    """Build a turn's model request and begin the turn, which holds from its first moment on what is in its prompt.

    Raises SessionBusy, SessionGone, and SessionMoved where `continues` is given.

    When the client sent its own history, the model sees exactly that; else it sees the session's transcript. A message
    that the guardrails block is stored, the turn ends as `input_blocked`, and no memory is read (C06).
    """
    guard = Guard(policy_for(session.organization_id))
    asked = asked or Asked((), (), tuple((message.role, message.content) for message in said))
    begin = partial(
        begin_turn,
        session=session,
        speaker=speaker,
        said=said,
        now=now,
        continues=continues,
        external_speaker_id=external_speaker_id,
    )
    try:
        refused = guard.judge(text for role, text in asked.new if role == "user")
        context = NOT_ASKED if refused else gather(session, speaker, uses_memory=uses_memory, now=now)
        # A history that is continued is what this session has let through.
        history = asked.history if continues is not None else guard.without_blocked(asked.history)
        earlier = history if asked.history else _recent(session, speaker)
        prompt = _NO_PROMPT if refused else _prompt(session, speaker, context, asked, earlier, now=now)
    except Exception:
        turn = begin(uses_memory=uses_memory)
        finish_turn(turn=turn, status=Turn.Status.FAILED, reply=Reply(""), at=now, now=now, error_code="not_started")
        raise
    turn = begin(
        uses_memory=uses_memory and context.state != SHARED,
        in_prompt=InPrompt(context.state, context.fact_ids, prompt.cache_key),
    )
    request = ChatRequest(
        model=session.agent.model,
        messages=prompt.messages,
        cache_key=prompt.cache_key,
        options=options or {},
        tools=tools.offered(session.agent),
    )
    started = Started(session, turn, context, request, reply_at, guard, refused)
    if refused:
        end(started, Turn.Status.INPUT_BLOCKED, Completion(refused.text), clock=lambda: now, hits=refused.hits)
    return started


def _prompt(
    session: Session,
    speaker: User,
    context: Context,
    asked: Asked,
    earlier: Sequence[tuple[str, str]],
    *,
    now: datetime,
) -> Prompt:
    time_zone, language = member_settings(session, speaker)
    return assemble(
        system_prompt=session.agent.system_prompt,
        about_member=member_line(time_zone=time_zone, language=language, now=now),
        blocks=[context.block],
        client_system=asked.system,
        history=[*earlier, *asked.new],
    )


def _recent(session: Session, speaker: User) -> list[tuple[str, str]]:
    messages = [] if session.is_new else list(transcript(session, speaker).values_list("role", "content"))
    size = 0
    for position in range(len(messages) - 1, -1, -1):
        size += len(messages[position][1])
        if size > MAX_HISTORY_CHARACTERS:
            return messages[position + 1 :]
    return messages


def complete(started: Started, *, clock: Clock, model: ChatModel | None = None) -> Completion:
    """Call the model for a whole reply and end the turn. Raises ModelError after the turn was marked failed.

    A blocked message is answered with the refusal, a reply that the guardrails withhold with the restriction; both end
    with the reason `content_filter`. A stop request is heeded while the model is waited for, between rounds and before
    the reply is stored: the turn is `stopped` then, and what had come is returned.
    """
    if started.refused:
        return Completion(started.refused.text, FILTERED, model=started.request.model)
    pieces = _reply(started, clock=clock, model=model, ask=whole)
    while True:
        try:
            next(pieces)
        except StopIteration as ended:
            completion: Completion = ended.value
            return completion


def _status(reply: Screened) -> Turn.Status:
    return Turn.Status.OUTPUT_RESTRICTED if reply.restricted else Turn.Status.COMPLETED


def _reason(reply: Screened, reason: str) -> str:
    return FILTERED if reply.restricted else "length" if reply.cut else reason


def stream(started: Started, *, clock: Clock, model: ChatModel | None = None) -> Generator[Chunk]:
    """Yield the reply's pieces and end the turn; a closed generator or a stop request leaves it `stopped`.

    An empty piece comes whenever the model has been silent for `KEEP_ALIVE_SECONDS`: whoever passes it on notices that
    the client has gone. Raises ModelError, after what had arrived was kept and the turn marked failed. The turn is
    ended before the last piece is yielded, so that whoever has read the whole reply finds it stored.

    Only what the guardrails let through is yielded and stored; while they hold text back, pieces are empty (C06).
    """
    if started.refused:
        yield Chunk(started.refused.text)
        yield Chunk(finish_reason=FILTERED, usage=Usage())
        return
    yield from _reply(started, clock=clock, model=model, ask=_streamed)


def _reply(started: Started, *, clock: Clock, model: ChatModel | None, ask: Ask) -> Generator[Chunk, None, Completion]:
    """Yield the reply's pieces, however the model is asked for them, end the turn, and return what was stored."""
    reply = started.guard.reply()
    name, usage, finish = started.request.model, Usage(), "stop"
    status, code = Turn.Status.STOPPED, "client_gone"
    STOPS.watch(started.turn.pk, now=clock())
    try:
        model = model or model_for(started.session.agent)
        with breaker.guarded(started.session.agent.provider, clock=clock) as call:
            release_connection()
            pieces = partial(_pumped, ask, model)
            use = partial(started.use_tool, clock=clock)
            with closing(rounds.stream(pieces, started.request, use)) as chunks:
                for chunk in chunks:
                    if chunk is not None:
                        name = chunk.model or name
                        usage = chunk.usage or usage
                        finish = chunk.finish_reason or finish
                    if chunk is None or chunk.text:
                        yield Chunk(reply.add(storable(chunk.text)) if chunk else "")
                    stop = STOPS.asked(started.turn.pk, now=clock())
                    release_connection()
                    if stop:
                        status, code = Turn.Status.STOPPED, "asked"
                        call.given_up = not reply.begun
                        break
                    if reply.over:
                        status, code = Turn.Status.COMPLETED, ""
                        break
                else:
                    status, code = Turn.Status.COMPLETED, ""
        rest = reply.close(whole=status == Turn.Status.COMPLETED)
    except ModelError as error:
        status, code = Turn.Status.FAILED, error.code
        raise
    except Exception:
        status, code = Turn.Status.FAILED, "crashed"
        raise
    finally:
        STOPS.forget(started.turn.pk)
        reply.close(whole=False)  # what broke off or was left is screened as far as it came
        finish = _reason(reply, finish)
        status = _status(reply) if status == Turn.Status.COMPLETED else status
        completion = Completion(reply.text, finish, usage, name)
        end(started, status, completion, clock=clock, error_code=code, hits=reply.hits)
    if rest:
        yield Chunk(rest)
    yield Chunk(finish_reason=finish, usage=usage)
    return completion


def _streamed(model: ChatModel, request: ChatRequest) -> Iterator[Chunk]:
    return model.stream(request)


def _pumped(ask: Ask, model: ChatModel, request: ChatRequest) -> Generator[Chunk | None]:
    return pumped(ask(model, request), every=KEEP_ALIVE_SECONDS)


def end(
    started: Started,
    status: Turn.Status,
    completion: Completion,
    *,
    clock: Clock,
    error_code: str = "",
    hits: Mapping[str, int] | None = None,
) -> None:
    """Store the reply, end the turn, schedule extraction and count what guardrails found, in one transaction."""
    now = clock()
    reply = Reply(
        completion.text,
        completion.model or started.request.model,
        completion.usage.prompt_tokens,
        completion.usage.completion_tokens,
    )
    with transaction.atomic():
        with in_one_trip():  # what ends the turn and starts its extraction
            ended = finish_turn(
                turn=started.turn,
                status=status,
                reply=reply,
                at=started.reply_at or now,
                now=now,
                error_code=error_code,
            )
            if ended:
                extraction.schedule(started.turn, now=now)
        if ended:
            count_hits(organization_id=started.session.organization_id, hits=hits or {}, day=now.date())
    log.info(
        "turn_ended" if ended else "turn_had_ended",
        turn_id=str(started.turn.pk),
        status=str(status),
        code=error_code,
        memory=started.context.state,
        facts=len(started.context.fact_ids),
    )


def release_connection() -> None:
    """Give the database connection back while a model is writing; a no-op inside a transaction."""
    if not connection.in_atomic_block:
        connection.close()
