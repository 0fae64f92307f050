"""The settings page on which a manager deletes an agent (R03); decides nothing about what is wiped."""

from typing import Final

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.requests import MemberRequest
from agents.access import agent_for
from encryption.ledger import LedgerError
from lifecycle.services import AlreadyDeleted, delete_agent
from lifecycle.support import confirmation

SURFACE: Final = "agentSettings"


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: MemberRequest, organization: str, agent: str) -> HttpResponse:
    """Say what goes and what stays, ask for the agent's name, then delete the agent. Needs agent:manage."""
    row = agent_for(request.user, organization, agent, "agent:manage").agent
    problem, status = "", 200
    if request.method == "POST":
        if request.POST.get("typed", "").strip().casefold() != confirmation(row).casefold():
            problem, status = _("What you typed is not the agent's name. Nothing was deleted."), 400
        else:
            try:
                delete_agent(agent=row, actor=request.user, surface=SURFACE, now=timezone.now())
            except AlreadyDeleted:
                raise Http404 from None
            except LedgerError:
                problem, status = _("The agent cannot be deleted now. Nothing was deleted. Tell your operator."), 503
            else:
                messages.success(request, _("The agent is deleted, and nothing that it remembered is used any more."))
                return HttpResponseRedirect(reverse("agents"), status=303)
    shown = {"agent": row, "wanted": confirmation(row), "typed": request.POST.get("typed", ""), "problem": problem}
    return render(request, "lifecycle/agent_delete.html", shown, status=status)
