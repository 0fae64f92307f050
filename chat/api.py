"""`POST /v1/chat/completions` (C01): one turn for the owner of an API key."""

import math
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import structlog
from django.core.exceptions import PermissionDenied
from django.http import Http404, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework.exceptions import NotFound as DoesNotExist
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import Principal, principal_of
from agents.access import agent_for
from agents.models import Agent
from chat import openai_format, services
from chat.requests import ChatCall, read_call, unknown_model
from conversations.access import session_for
from conversations.models import Session
from conversations.services import Said, SessionBusy, SessionGone
from conversations.surfaces import Surface
from llm.client import ModelError

log = structlog.get_logger(__name__)

KEEP_ALIVE = b": keep-alive\n\n"  # a comment of the protocol; clients skip it
ANSWERS = {
    "rate_limited": (429, "The model's provider is overloaded. Try again later."),
    "unavailable": (503, "The model's provider failed several times just now and is not asked for a while."),
    "timeout": (504, "The model's provider did not answer in time."),
    "misconfigured": (503, "The agent's model provider is not set up. Tell the operator."),
    "refused_request": (400, "The model's provider refused the request."),
}


def model_error(error: ModelError) -> tuple[int, str]:
    """Return the status and the sentence for a failed model call."""
    return ANSWERS.get(error.code, (502, "The model's provider failed. Try again later."))


class ChatCompletions(APIView):
    """Answers one chat request, streamed or whole."""

    def post(self, request: Request) -> HttpResponseBase:
        principal = principal_of(request)
        call = read_call(request.data, request.headers.get("X-Session-Id"))
        agent = self._agent(principal, call)
        now = timezone.now()
        common: dict[str, Any] = {
            "asked": call.asked,
            "now": now,
            "uses_memory": principal.memory_enabled,
            "options": call.options,
        }
        if call.session_id is None:
            started = services.start_api_turn(
                agent=agent,
                user=principal.user,
                api_key_id=principal.key_id,
                end_user_id=call.end_user_id,
                **common,
            )
        else:
            session = self._session(principal, agent, call.session_id)
            # The session has its own transcript; what the client resends of it is not stored again.
            said = [Said(role, text, now) for role, text in call.asked.new]
            try:
                started = services.start_turn(session=session, speaker=principal.user, said=said, **common)
            except SessionBusy:
                raise openai_format.BadParameter(
                    "Another request of this session is still running.", code="session_busy", status=409
                ) from None
            except SessionGone:
                raise Http404 from None
        services.release_connection()
        name = f"{call.organization}/{call.agent}"
        headers = {
            "X-Session-Id": str(started.session.pk),
            "X-Memory": started.context.state,
            "Cache-Control": "no-store",
        }
        if call.stream:
            return self._streamed(started, call, name, headers)
        try:
            completion = services.complete(started, clock=timezone.now)
        except ModelError as error:
            return self._failed(error, headers)
        body = openai_format.completion_body(
            completion, turn_id=started.turn.pk, session_id=started.session.pk, model=name
        )
        return Response(body, headers=headers)

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
            raise unknown_model(f"{call.organization}/{call.agent}") from None
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

    def _failed(self, error: ModelError, headers: dict[str, str]) -> Response:
        status, sentence = model_error(error)
        if error.retry_after is not None:
            headers["Retry-After"] = str(math.ceil(error.retry_after))
        return Response(
            openai_format.error_body(sentence, status=status, code=error.code), status=status, headers=headers
        )

    def _streamed(
        self, started: services.Started, call: ChatCall, name: str, headers: dict[str, str]
    ) -> HttpResponseBase:
        writer = openai_format.ChunkWriter(
            turn_id=started.turn.pk, session_id=started.session.pk, model=name, include_usage=call.include_usage
        )
        chunks = services.stream(started, clock=timezone.now)
        try:
            first = next(chunks)  # so that a provider that refuses at once is an error status, not a broken stream
        except ModelError as error:
            return self._failed(error, headers)

        def events() -> Iterator[bytes]:
            try:
                yield writer.first()
                pending: Any = first
                while pending is not None:
                    if pending.finish_reason:
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
        return StreamingHttpResponse(events(), content_type="text/event-stream", headers=headers)


class NotFound(APIView):
    """Answers every other address under /v1/ in the protocol's error shape."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise DoesNotExist(f"There is no {request.method} {request.path}.")
