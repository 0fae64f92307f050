"""`GET /v1/models` (C01): the agents that a key may use."""

from typing import Any

from django.core.exceptions import PermissionDenied
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import principal_of
from agents.access import agent_for, agents_for
from agents.models import Agent

_MODEL = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "object": {"const": "model"},
        "created": {"type": "integer", "minimum": 0},
        "owned_by": {"type": "string"},
    },
    "required": ["id", "object", "created", "owned_by"],
    "additionalProperties": False,
}
_LIST = {
    "type": "object",
    "properties": {"object": {"const": "list"}, "data": {"type": "array", "items": _MODEL}},
    "required": ["object", "data"],
    "additionalProperties": False,
}
_NAME = [
    OpenApiParameter(name, {"type": "string", "pattern": "^[-a-zA-Z0-9_]+$"}, OpenApiParameter.PATH)
    for name in ("organization", "agent")
]


def _shape(agent: Agent) -> dict[str, Any]:
    return {
        "id": agent.public_name,
        "object": "model",
        "created": int(agent.created_at.timestamp()),
        "owned_by": agent.organization.slug,
    }


class Models(APIView):
    @extend_schema(
        operation_id="list_models",
        summary="The agents that this key may use.",
        responses={(200, "application/json"): _LIST},
    )
    def get(self, request: Request) -> Response:
        principal = principal_of(request)
        agents = agents_for(principal.user).filter(organization=principal.organization_id).order_by("slug")
        return Response({"object": "list", "data": [_shape(agent) for agent in agents]})


class Model(APIView):
    @extend_schema(
        operation_id="retrieve_model",
        summary="One of them.",
        parameters=_NAME,
        responses={
            (200, "application/json"): _MODEL,
            (404, "application/json"): OpenApiResponse({"$ref": "#/components/schemas/Error"}, "No such agent."),
        },
    )
    def get(self, request: Request, organization: str, agent: str) -> Response:
        principal = principal_of(request)
        try:
            access = agent_for(
                principal.user, organization, agent, "agent:read", organization_id=principal.organization_id
            )
        except PermissionDenied:
            raise NotFound from None
        return Response(_shape(access.agent))
