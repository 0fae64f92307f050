"""An organization's agents for its owners and administrators: create one, hand out permissions on it (I03)."""

import uuid
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import ADMINS, place_for
from accounts.models import Membership
from accounts.requests import MemberRequest, posted, slug_field
from agents.access import administered_agent
from agents.models import Agent
from agents.permissions import CODENAMES, Grant, change_grants, grants_on
from agents.services import SlugTaken, create_agent
from agents.settings_pages import ConfigurationForm

PAGE: Final = 50  # members; 7 permissions each, twice, stay below Django's limit of 1,000 fields of a form
MEANINGS: Final[dict[str, Promise]] = {
    "agent:read": gettext_lazy("chat with the agent, in the web and through the API, and see one's own memory"),
    "agent:update": gettext_lazy("turn one's own memory on and off, edit and delete one's own facts"),
    "agent:manage": gettext_lazy("change prompt, model and settings, see counts of what was learned, delete the agent"),
    "preference:view": gettext_lazy("see other people's preferences for this agent; each look is recorded"),
    "preference:manage": gettext_lazy("change other people's preferences for this agent; each change is recorded"),
    "memory:view": gettext_lazy("see what the agent itself remembers; never a member's facts"),
    "memory:manage": gettext_lazy("record and delete what the agent itself remembers"),
}
FOR_A_CREATOR: Final = ("agent:read", "agent:update", "agent:manage")


@login_required
@require_safe
def agents(request: MemberRequest, organization: str) -> HttpResponse:
    """List the organization's agents, whatever the administrator may do with them herself."""
    place = place_for(request.user, organization, ADMINS)
    rows = Agent.objects.live().filter(organization=place.organization).select_related("provider").order_by("name")
    return render(request, "agents/organization.html", {"place": place, "agents": rows})


class CreateForm(ConfigurationForm):
    slug = slug_field()
    mine = forms.BooleanField(
        label=gettext_lazy("Let me use, update and manage it"),
        required=False,
        initial=True,
        help_text=gettext_lazy("No role gives a permission by itself; you can change this later."),
    )
    field_order = ("name", "slug", "provider", "model", "system_prompt", "mine")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: MemberRequest, organization: str) -> HttpResponse:
    """Create an agent."""
    place = place_for(request.user, organization, ADMINS)
    form = CreateForm(posted(request))
    if request.method == "POST" and form.is_valid():
        chosen = dict(form.cleaned_data)
        permissions = FOR_A_CREATOR if chosen.pop("mine") else ()
        try:
            agent = create_agent(organization=place.organization, **chosen, permissions=permissions, actor=request.user)
        except SlugTaken:
            form.add_error("slug", _("Another agent has this short name. Choose another one."))
        else:
            messages.success(request, _("The agent is there. Say below who may use it."))
            return HttpResponseRedirect(
                reverse("organization-permissions", args=[organization, agent.slug]), status=303
            )
    shown = {"place": place, "form": form}
    return render(request, "agents/new.html", shown, status=400 if form.is_bound and form.errors else 200)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def permissions(request: MemberRequest, organization: str, agent: str) -> HttpResponse:
    """Show members × permissions; POST changes what was changed on the page, and nothing that others changed since."""
    place, row = administered_agent(request.user, organization, agent)
    members = Membership.objects.filter(organization=place.organization, user__deleted_at__isnull=True)
    found = members.select_related("user").order_by("user__name", "user__email", "pk")
    page = Paginator(found, PAGE).get_page(request.GET.get("page"))
    if request.method == "POST":
        was, has = _ticked(request, "was"), _ticked(request, "has")
        change_grants(agent=row, given=has - was, taken=was - has, actor=request.user)
        messages.success(request, _("Saved.") if has != was else _("Nothing was changed."))
        return HttpResponseRedirect(f"{request.path}?page={page.number}", status=303)
    held = grants_on(row, [member.user_id for member in page])
    shown: dict[str, Any] = {
        "place": place,
        "agent": row,
        "page": page,
        "meanings": MEANINGS.items(),
        "rows": [(member, [(name, (member.user_id, name) in held) for name in CODENAMES]) for member in page],
    }
    return render(request, "agents/permissions.html", shown)


def _ticked(request: MemberRequest, field: str) -> set[Grant]:
    """Return the boxes of the grid, `USER/PERMISSION` each; what is none of ours is left out."""
    found = set()
    for value in request.POST.getlist(field):
        user_id, _slash, permission = value.partition("/")
        try:
            if permission in CODENAMES:
                found.add((uuid.UUID(user_id), permission))
        except ValueError:
            continue
    return found
