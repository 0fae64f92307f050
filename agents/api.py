"""`GET /v1/models` (C01): the agents that a key may use."""

from typing import Any

from django.core.exceptions import PermissionDenied
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import principal_of
from agents.access import agent_for, agents_for
from agents.models import Agent


def _shape(agent: Agent) -> dict[str, Any]:
    return {
        "id": agent.public_name,
        "object": "model",
        "created": int(agent.created_at.timestamp()),
        "owned_by": agent.organization.slug,
    }


class Models(APIView):
    def get(self, request: Request) -> Response:
        principal = principal_of(request)
        agents = agents_for(principal.user).filter(organization=principal.organization_id).order_by("slug")
        return Response({"object": "list", "data": [_shape(agent) for agent in agents]})


class Model(APIView):
    def get(self, request: Request, organization: str, agent: str) -> Response:
        principal = principal_of(request)
        try:
            access = agent_for(
                principal.user, organization, agent, "agent:read", organization_id=principal.organization_id
            )
        except PermissionDenied:
            raise NotFound from None
        return Response(_shape(access.agent))
