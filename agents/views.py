"""The page of the agents that a member may use."""

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.requests import MemberRequest
from agents.access import agents_for


@login_required
@require_safe
def agent_list(request: MemberRequest) -> HttpResponse:
    """List the agents that the member may use or manage."""
    readable, managed = agents_for(request.user, "agent:read"), agents_for(request.user, "agent:manage")
    shown = {
        "agents": (readable | managed).order_by("organization__name", "name", "id"),
        "readable": set(readable.values_list("pk", flat=True)),
        "managed": set(managed.values_list("pk", flat=True)),
    }
    return render(request, "agents/list.html", shown)
