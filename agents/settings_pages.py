"""An agent's settings page, and the form that it shares with creating one (I03); needs agent:manage."""

from typing import Any, Final

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from accounts.requests import MemberRequest, Text, posted
from agents.access import agent_for
from agents.models import Agent, Provider
from agents.services import (
    MAX_SYSTEM_PROMPT,
    OFFLINE_MODEL,
    ChangedMeanwhile,
    configure_agent,
    fingerprint,
)

OFFLINE: Final = Provider.Kind.OFFLINE.value


class ConfigurationForm(forms.Form):
    """Name, system prompt and model of an agent. Providers are those that an operator set up, and the offline rules."""

    name = Text(label=gettext_lazy("Name"), longest=120, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    provider = forms.ChoiceField(
        label=gettext_lazy("Model provider"), help_text=gettext_lazy("An operator sets these up.")
    )
    model = Text(
        label=gettext_lazy("Model"),
        longest=200,
        required=False,
        help_text=gettext_lazy("The model's name at the provider. The offline rules need none."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )
    system_prompt = Text(
        label=gettext_lazy("System prompt"),
        longest=MAX_SYSTEM_PROMPT,
        single_line=False,
        required=False,
        help_text=gettext_lazy("What the agent is, and how it is to work. Members do not see it."),
        widget=forms.Textarea(attrs={"rows": 8}),
    )

    def __init__(self, data: Any = None, **options: Any) -> None:
        super().__init__(data, **options)
        found = Provider.objects.exclude(kind=OFFLINE).order_by("base_url", "created_at")
        self.providers = {str(row.pk): row for row in found}
        choices = [*((pk, str(row)) for pk, row in self.providers.items()), (OFFLINE, Provider.Kind(OFFLINE).label)]
        self.fields["provider"].choices = choices  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Replace the provider's id by its row, and the offline rules by None."""
        chosen = self.cleaned_data
        if "provider" not in chosen or "model" not in chosen:
            return chosen
        row, model = self.providers.get(chosen["provider"]), chosen["model"]
        if row is not None and not model:
            self.add_error("model", _("Name a model of this provider."))
        return chosen | {"provider": row, "model": model or OFFLINE_MODEL}


class SettingsForm(ConfigurationForm):
    seen = forms.CharField(widget=forms.HiddenInput)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def agent_settings(request: MemberRequest, organization: str, agent: str) -> HttpResponse:
    """Show and change an agent's configuration; what somebody else changed meanwhile is not overwritten."""
    row = agent_for(request.user, organization, agent, "agent:manage").agent
    form = SettingsForm(posted(request), initial=_initial(row))
    status = 200
    if request.method == "POST" and form.is_valid():
        try:
            configure_agent(agent=row, **form.cleaned_data, actor=request.user)
        except ChangedMeanwhile:
            status = 409
            typed = request.POST.copy()  # stays; sent again, it replaces what the other one saved
            typed["seen"] = fingerprint(row)
            form = SettingsForm(typed)
        else:
            messages.success(request, _("Saved. The next turn uses it."))
            return HttpResponseRedirect(reverse("agent-settings", args=[organization, agent]), status=303)
    elif form.is_bound:
        status = 400
    shown = {"agent": row, "form": form, "changed_meanwhile": status == 409}
    return render(request, "agents/settings.html", shown, status=status)


def _initial(agent: Agent) -> dict[str, str]:
    return {
        "name": agent.name,
        "provider": OFFLINE if agent.provider.kind == OFFLINE else str(agent.provider_id),
        "model": agent.model,
        "system_prompt": agent.system_prompt,
        "seen": fingerprint(agent),
    }
