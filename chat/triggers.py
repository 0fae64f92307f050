"""`POST /v1/triggers/SURFACE` (C04): one turn for somebody who speaks through a connector; memory never acts there."""

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import Principal, principal_of
from accounts.idempotency import Claim, KeyReused, settle
from accounts.models import ApiKey, User
from agents.access import agent_for
from agents.models import Agent
from chat import repeats, services, shapes
from chat.api import failed, refusal_of_key
from chat.openai_format import BadParameter, body_of
from chat.requests import MAX_EMAIL, MAX_ID, MAX_MESSAGE, NAME, read_idempotency_key
from conversations.connectors import MappedToAnother, hear, open_thread
from conversations.models import Turn
from conversations.services import Said, SessionBusy, SessionGone
from conversations.surfaces import OWN_DOORS, TRIGGERED, Surface
from llm.client import Completion, ModelError
from screening.text import UnacceptableText, clean_text, one_line

FIELDS: Final = ("agent", "text", "thread", "external_user", "email", "public", "event_id")


@dataclass(frozen=True, slots=True)
class Trigger:
    """One message from outside: `thread` and `external_user` are the connector's own names."""

    organization: str
    agent: str
    text: str
    thread: str
    external_user: str
    email: str
    public: bool | None


@dataclass(frozen=True, slots=True)
class Event:
    """What names the event that a message came with, and the parameter that it was given in."""

    id: str
    name: str


class Triggers(APIView):
    """Runs one turn on the session of a connector's thread and answers with the reply; an event that comes again, too.

    A connector that was not answered in time sends its event once more: the turn runs once all the same.
    """

    key_scope = ApiKey.Scope.TRIGGERS

    @extend_schema(**shapes.TRIGGER)
    def post(self, request: Request, surface: str) -> Response:
        principal = principal_of(request)
        found = _surface(surface)
        data: Any = body_of(request)
        call, event = read_trigger(data), read_event(request.headers.get("Idempotency-Key"), data)
        agent = _agent(principal, call)
        start = functools.partial(_start, principal.user, agent, found, call)
        if event is None:
            return _answer(start())
        said = {name: value for name, value in data.items() if name != "event_id"}
        body = json.dumps([surface, said], sort_keys=True).encode()
        try:
            claimed = repeats.claim_or_replay(
                api_key_id=principal.key_id, key=event.id, body=body, agent=agent, clock=timezone.now
            )
            if isinstance(claimed, repeats.Replay):
                headers = _headers(claimed.turn) | {"Idempotent-Replayed": "true"}
                return Response(_body(claimed.turn, claimed.completion), headers=headers)
            return _answer(repeats.start_once(claimed, start, clock=timezone.now), claimed)
        except (repeats.InProgress, repeats.Gone, KeyReused) as error:
            raise refusal_of_key(error, event.name) from None


def _agent(principal: Principal, call: Trigger) -> Agent:
    try:
        return agent_for(
            principal.user, call.organization, call.agent, "agent:read", organization_id=principal.organization_id
        ).agent
    except (Http404, PermissionDenied):
        raise _unknown_agent() from None


def _start(owner: User, agent: Agent, surface: Surface, call: Trigger) -> services.Started:
    """Begin the turn in its thread's session. Raises BadParameter when the thread cannot take it."""
    now = timezone.now()
    session = open_thread(agent=agent, owner=owner, surface=surface, thread_id=call.thread, now=now)
    try:
        member = hear(session=session, external_user_id=call.external_user, email=call.email, public=call.public)
        return services.start_turn(
            session=session,
            speaker=member or owner,
            said=[Said("user", call.text, now)],
            now=now,
            external_speaker_id="" if member else call.external_user,
        )
    except MappedToAnother:
        raise BadParameter(
            "This external_user is another member in this thread.",
            param="email",
            code="mapped_to_another",
            status=409,
        ) from None
    except (SessionBusy, SessionGone):
        raise BadParameter(
            "Another message of this thread is still being answered. Send this one again when it is.",
            param="thread",
            code="session_busy",
            status=409,
            wait=1,
        ) from None


def _answer(started: services.Started, claimed: Claim | None = None) -> Response:
    services.release_connection()
    headers = _headers(started.turn)
    try:
        completion = services.complete(started, clock=timezone.now)
    except ModelError as error:
        return failed(error, headers)
    if claimed:
        settle(claimed, finish_reason=completion.finish_reason)
    if started.turn.status == Turn.Status.RUNNING:  # somebody else ended it meanwhile
        started.turn.refresh_from_db(fields=["status"])
    return Response(_body(started.turn, completion), headers=headers)


def _headers(turn: Turn) -> dict[str, str]:
    return {"X-Session-Id": str(turn.session_id), "X-Memory": turn.memory_state, "Cache-Control": "no-store"}


def _body(turn: Turn, completion: Completion) -> dict[str, Any]:
    return {
        "session_id": str(turn.session_id),
        "turn_id": str(turn.pk),
        "status": turn.status,
        "reply": completion.text,
        "finish_reason": completion.finish_reason,
        "memory": turn.memory_state,
        "mapped": not turn.external_speaker_id,
        "usage": {
            "prompt_tokens": completion.usage.prompt_tokens,
            "completion_tokens": completion.usage.completion_tokens,
            "total_tokens": completion.usage.total_tokens,
        },
    }


def _unknown_agent() -> BadParameter:
    sentence = "The agent does not exist or this key may not use it. Name it as ORGANIZATION/AGENT."
    return BadParameter(sentence, param="agent", code="agent_not_found", status=404)


def _surface(name: str) -> Surface:
    """Return the surface of a connector. Raises BadParameter: 400 for those with doors of their own, 404 for others."""
    if name in OWN_DOORS:
        raise BadParameter(
            f"'{name}' takes no triggers: it has its own address.", param="surface", code="surface_not_triggered"
        )
    if name not in TRIGGERED:
        raise BadParameter(
            f"There is no such surface. Use one of: {', '.join(TRIGGERED)}.",
            param="surface",
            code="unknown_surface",
            status=404,
        )
    return Surface(name)


def read_trigger(data: Any) -> Trigger:
    """Return the message, or raise BadParameter with the name of what is wrong."""
    if not isinstance(data, dict):
        raise BadParameter("Send a JSON object with 'agent', 'text' and 'external_user'.", code="invalid_type")
    for name in data:
        if name not in FIELDS:
            raise BadParameter(
                f"Unknown field; use {', '.join(FIELDS)}.", param=name[:MAX_ID], code="unknown_parameter"
            )
    organization, _, agent = _filled(data, "agent", limit=MAX_ID).partition("/")
    if not NAME.fullmatch(organization) or not NAME.fullmatch(agent):
        raise _unknown_agent()
    public = data.get("public")
    if public is not None and not isinstance(public, bool):
        raise BadParameter("'public' must be true or false.", param="public", code="invalid_type")
    return Trigger(
        organization=organization,
        agent=agent,
        text=_filled(data, "text", limit=MAX_MESSAGE),
        thread=_text(data, "thread", limit=MAX_ID),
        external_user=_filled(data, "external_user", limit=MAX_ID),
        email=_text(data, "email", limit=MAX_EMAIL),
        public=public,
    )


def read_event(header: str | None, data: Mapping[str, Any]) -> Event | None:
    """Return the event: `event_id` and the header are one thing. Raises BadParameter for a bad id, or for two."""
    in_header = read_idempotency_key(header)
    in_body = read_idempotency_key(data.get("event_id"), "event_id")
    if in_header and in_body and in_header != in_body:
        raise BadParameter("'event_id' and 'Idempotency-Key' mean the same. Send one of them.", param="event_id")
    if in_body:
        return Event(in_body, "event_id")
    return Event(in_header, "Idempotency-Key") if in_header else None


def _filled(data: Mapping[str, Any], name: str, *, limit: int) -> str:
    text = _text(data, name, limit=limit)
    if not one_line(text):
        raise BadParameter(f"'{name}' is missing or empty.", param=name, code="missing_required_parameter")
    return text


def _text(data: Mapping[str, Any], name: str, *, limit: int) -> str:
    value = data.get(name)
    if not isinstance(value, str | None):
        raise BadParameter(f"'{name}' must be text.", param=name, code="invalid_type")
    try:
        return clean_text(value or "", max_length=limit, single_line=name != "text", allow_empty=True).strip()
    except UnacceptableText as error:
        raise BadParameter(str(error), param=name, code=error.code) from None
