"""`POST /v1/chat/completions` (C01): one turn for the owner of an API key."""

import functools
import json
import math
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import structlog
from django.core.exceptions import PermissionDenied
from django.http import Http404, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound as DoesNotExist
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import Principal, principal_of
from accounts.idempotency import Claim, KeyReused, settle
from agents.access import agent_for
from agents.models import Agent
from chat import openai_format, repeats, services, shapes
from chat.requests import ChatCall, read_call, read_idempotency_key, unknown_model
from chat.services import Started
from conversations.access import session_for
from conversations.models import Session, Turn
from conversations.services import Said, SessionBusy, SessionGone
from conversations.surfaces import Surface
from llm.client import Completion, ModelError

log = structlog.get_logger(__name__)

EVENT_STREAM = "text/event-stream"
RETRY_AFTER = 5  # seconds, where a provider in trouble does not say
KEEP_ALIVE = b": keep-alive\n\n"  # a comment of the protocol; clients skip it
ANSWERS = {
    "rate_limited": (429, "The model's provider is overloaded. Try again later."),
    "unavailable": (503, "The model's provider failed several times just now and is not asked for a while."),
    "timeout": (504, "The model's provider did not answer in time."),
    "bad_answer": (502, "The model's provider answered with something that is no reply."),
    "misconfigured": (503, "The agent's model provider is not set up. Tell the operator."),
    "refused_address": (503, "The agent's model provider may not be called at its address. Tell the operator."),
    "refused_request": (400, "The model's provider refused the request."),
}


def model_error(error: ModelError) -> tuple[int, str]:
    """Return the status and the sentence for a failed model call."""
    return ANSWERS.get(error.code, (502, "The model's provider failed. Try again later."))


def failed(error: ModelError, headers: dict[str, str]) -> Response:
    """Return the answer for a failed model call; it says when to come back where that helps."""
    status, sentence = model_error(error)
    if status in (429, 503):
        headers["Retry-After"] = str(math.ceil(error.retry_after or RETRY_AFTER))
    return Response(openai_format.error_body(sentence, status=status, code=error.code), status=status, headers=headers)


class ChatCompletions(APIView):
    """Answers one chat request, streamed or whole; one that is repeated with its `Idempotency-Key` from the store."""

    @extend_schema(**shapes.CHAT)
    def post(self, request: Request) -> HttpResponseBase:
        principal = principal_of(request)
        session_header = request.headers.get("X-Session-Id")
        data = openai_format.body_of(request)
        call = read_call(data, session_header)
        key = read_idempotency_key(request.headers.get("Idempotency-Key"))
        agent = self._agent(principal, call)
        if key is None:
            return self._answer(self._start(principal, agent, call), call)
        body = json.dumps([data, session_header], sort_keys=True).encode()
        try:
            claimed = repeats.claim_or_replay(
                api_key_id=principal.key_id, key=key, body=body, agent=agent, clock=timezone.now
            )
            if isinstance(claimed, repeats.Replay):
                return self._replay(claimed, call)
            start = functools.partial(self._start, principal, agent, call)
            return self._answer(repeats.start_once(claimed, start, clock=timezone.now), call, claimed)
        except (repeats.InProgress, repeats.Gone, KeyReused) as error:
            raise refusal_of_key(error) from None

    def _start(self, principal: Principal, agent: Agent, call: ChatCall) -> Started:
        now = timezone.now()
        common: dict[str, Any] = {
            "asked": call.asked,
            "now": now,
            "uses_memory": principal.memory_enabled,
            "options": call.options,
        }
        if call.session_id is None:
            return services.start_api_turn(
                agent=agent,
                user=principal.user,
                api_key_id=principal.key_id,
                end_user_id=call.end_user_id,
                **common,
            )
        session = self._session(principal, agent, call.session_id)
        # The session has its own transcript; what the client resends of it is not stored again.
        said = [Said(role, text, now) for role, text in call.asked.new]
        try:
            return services.start_turn(session=session, speaker=principal.user, said=said, **common)
        except SessionBusy:
            raise openai_format.BadParameter(
                "Another request of this session is still running.", code="session_busy", status=409, wait=1
            ) from None
        except SessionGone:
            raise Http404 from None

    def _answer(self, started: Started, call: ChatCall, claimed: Claim | None = None) -> HttpResponseBase:
        services.release_connection()
        headers = _headers(started.turn)
        if call.stream:
            return self._streamed(started, call, headers, claimed)
        try:
            completion = services.complete(started, clock=timezone.now)
        except ModelError as error:
            return failed(error, headers)
        if claimed:
            settle(claimed, finish_reason=completion.finish_reason)
        return Response(_body(completion, started.turn, call), headers=headers)

    def _replay(self, replay: repeats.Replay, call: ChatCall) -> HttpResponseBase:
        headers = _headers(replay.turn) | {"Idempotent-Replayed": "true"}
        if not call.stream:
            return Response(_body(replay.completion, replay.turn, call), headers=headers)
        writer = _writer(replay.turn, call)
        text = [writer.text(replay.completion.text)] if replay.completion.text else []
        end = writer.last(replay.completion.finish_reason, replay.completion.usage)
        return StreamingHttpResponse([writer.first(), *text, end], content_type=EVENT_STREAM, headers=headers)

    def _agent(self, principal: Principal, call: ChatCall) -> Agent:
        try:
            access = agent_for(
                principal.user,
                call.organization,
                call.agent,
                "agent:read",
                organization_id=principal.organization_id,
            )
        except (Http404, PermissionDenied):
            raise unknown_model(call.model) from None
        return access.agent

    def _session(self, principal: Principal, agent: Agent, session_id: UUID) -> Session:
        session = session_for(principal.user, session_id)
        if (
            session.surface != Surface.API
            or session.agent_id != agent.pk
            or session.created_by_id != principal.user.pk
            or session.api_key_id != principal.key_id
        ):
            raise Http404
        return session

    def _streamed(
        self, started: Started, call: ChatCall, headers: dict[str, str], claimed: Claim | None
    ) -> HttpResponseBase:
        writer = _writer(started.turn, call)
        chunks = services.stream(started, clock=timezone.now)
        try:
            first = next(chunks)  # so that a provider that refuses at once is an error status, not a broken stream
        except ModelError as error:
            return failed(error, headers)

        def events() -> Iterator[bytes]:
            try:
                yield writer.first()
                pending: Any = first
                while pending is not None:
                    if pending.finish_reason:
                        if claimed:
                            settle(claimed, finish_reason=pending.finish_reason)
                        yield writer.last(pending.finish_reason, pending.usage)
                    else:
                        yield writer.text(pending.text) if pending.text else KEEP_ALIVE
                    pending = next(chunks, None)
            except ModelError as error:
                status, sentence = model_error(error)
                yield writer.error(sentence, status=status, code=error.code)
            except Exception as error:  # the answer has begun; the client must not take what it has for the whole
                log.error("stream_crashed", turn_id=str(started.turn.pk), exc_info=error)
                yield writer.error("The server failed. Try again.", status=500, code="crashed")
            finally:
                chunks.close()
                services.release_connection()

        headers["X-Accel-Buffering"] = "no"
        return StreamingHttpResponse(events(), content_type=EVENT_STREAM, headers=headers)


def _headers(turn: Turn) -> dict[str, str]:
    memory = turn.status if turn.status == Turn.Status.INPUT_BLOCKED else turn.memory_state
    return {"X-Session-Id": str(turn.session_id), "X-Memory": memory, "Cache-Control": "no-store"}


def _body(completion: Completion, turn: Turn, call: ChatCall) -> dict[str, Any]:
    return openai_format.completion_body(
        completion, turn_id=turn.pk, session_id=turn.session_id, model=call.model, created=turn.created_at
    )


def _writer(turn: Turn, call: ChatCall) -> openai_format.ChunkWriter:
    return openai_format.ChunkWriter(
        turn_id=turn.pk,
        session_id=turn.session_id,
        model=call.model,
        created=turn.created_at,
        include_usage=call.include_usage,
    )


def refusal_of_key(
    error: repeats.InProgress | repeats.Gone | KeyReused, name: str = "Idempotency-Key"
) -> openai_format.BadParameter:
    """Return what a repeated request is told that can be neither run nor replayed; `name` is what its key came in."""
    if isinstance(error, repeats.InProgress):
        return openai_format.BadParameter(
            f"The first request with this {name} is still running. Send it again in a second.",
            param=name,
            code="request_in_progress",
            status=409,
            wait=1,
        )
    sentence = (
        f"This {name} came with another body before. Use a new one for a new request."
        if isinstance(error, KeyReused)
        else f"The conversation of this {name} was deleted. Use a new one."
    )
    return openai_format.BadParameter(sentence, param=name, code="idempotency_key_reused", status=422)


class Schema(APIView):
    """Describes the API as OpenAPI."""

    @extend_schema(**shapes.SCHEMA)
    def get(self, request: Request) -> Response:
        return Response(_schema())


@functools.cache
def _schema() -> dict[str, Any]:
    schema: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return schema


@extend_schema(exclude=True)
class NotFound(APIView):
    """Answers every other address under /v1/ in the protocol's error shape."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise DoesNotExist(f"There is no {request.method} {request.path}.")
