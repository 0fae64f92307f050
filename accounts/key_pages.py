"""API keys as pages (I05): a member's own, shown in full once, and an organization's, by prefix; no secret is kept."""

import uuid
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import ADMINS, Place, place_for, places_of
from accounts.models import ApiKey
from accounts.requests import MemberRequest, Text, posted
from accounts.services import create_api_key, revoke_api_key

SCOPES: Final = (
    (
        ApiKey.Scope.CHAT.value,
        gettext_lazy("Chat: a program of yours talks to your agents, by /v1/chat/completions and the other calls."),
    ),
    (
        ApiKey.Scope.TRIGGERS.value,
        gettext_lazy(
            "Triggers: a connector, such as one for Slack or e-mail, passes on what other people say, "
            "by /v1/triggers/. Memory never acts there."
        ),
    ),
)
_form = require_http_methods(["GET", "HEAD", "POST"])


class KeyForm(forms.Form):
    """What a key is called, where it works, what it may be used for, until when, and whether memory acts through it."""

    name = Text(
        label=gettext_lazy("Name"),
        longest=120,
        help_text=gettext_lazy("For you, to know it again: where the key is used."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    organization = forms.ChoiceField(label=gettext_lazy("Organization"))
    scope = forms.ChoiceField(
        label=gettext_lazy("May be used for"),
        choices=SCOPES,
        initial=ApiKey.Scope.CHAT.value,
        widget=forms.RadioSelect,
    )
    expires = forms.DateField(
        label=gettext_lazy("Last day (optional)"),
        required=False,
        help_text=gettext_lazy("Without one the key works until it is revoked."),
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    memory = forms.BooleanField(label=gettext_lazy("Reads and writes my memory"), required=False, initial=True)

    def __init__(self, data: Any, *, places: list[Place]) -> None:
        super().__init__(data)
        chosen = [(place.organization.slug, place.organization.name) for place in places]
        self.fields["organization"].choices = chosen  # type: ignore[attr-defined]
        self.fields["expires"].widget.attrs["min"] = timezone.localdate().isoformat()

    def clean_expires(self) -> datetime | None:
        """Return the end of the last day in the member's time zone."""
        day: date | None = self.cleaned_data["expires"]
        if day is None:
            return None
        if not timezone.localdate() <= day < date(9000, 1, 1):
            raise forms.ValidationError(_("This day is over. Choose today or a later one."))
        return datetime.combine(day + timedelta(days=1), time.min, timezone.get_current_timezone())


def _shown(keys: QuerySet[ApiKey]) -> list[tuple[ApiKey, str]]:
    """Return keys with what they are at the moment: usable, revoked, expired, or of no use."""
    now = timezone.now()
    usable = set(ApiKey.objects.usable(now).filter(pk__in=keys).values_list("pk", flat=True))

    def state(key: ApiKey) -> str:
        if key.pk in usable:
            return "usable"
        if key.revoked_at is not None:
            return "revoked"
        return "expired" if key.expires_at is not None and key.expires_at <= now else "idle"

    return [(key, state(key)) for key in keys.select_related("organization", "user").order_by("-created_at")]


@login_required
@_form
def keys(request: MemberRequest) -> HttpResponse:
    """List one's own keys; POST makes one and answers with its full text, which is shown nowhere else."""
    places = places_of(request.user)
    form = KeyForm(posted(request), places=places)
    if request.method == "POST" and form.is_valid():
        chosen = form.cleaned_data
        made = create_api_key(
            organization=place_for(request.user, chosen["organization"]).organization,
            user=request.user,
            name=chosen["name"],
            memory_enabled=chosen["memory"],
            scope=chosen["scope"],
            expires_at=chosen["expires"],
        )
        return render(request, "accounts/key_made.html", {"key": made.row, "secret": made.secret}, status=201)
    shown = {"form": form, "places": places, "rows": _shown(ApiKey.objects.filter(user=request.user))}
    return render(request, "accounts/keys.html", shown, status=400 if form.is_bound and form.errors else 200)


@login_required
@_form
def revoke(request: MemberRequest, key: uuid.UUID) -> HttpResponse:
    """Ask, then revoke one of one's own keys."""
    return _revoke(request, ApiKey.objects.filter(user=request.user), key, reverse("keys"))


@login_required
@require_safe
def organization_keys(request: MemberRequest, organization: str) -> HttpResponse:
    """List the keys of all members of an organization, by prefix."""
    place = place_for(request.user, organization, ADMINS)
    shown = {"place": place, "rows": _shown(ApiKey.objects.filter(organization=place.organization))}
    return render(request, "accounts/organization_keys.html", shown)


@login_required
@_form
def organization_revoke(request: MemberRequest, organization: str, key: uuid.UUID) -> HttpResponse:
    """Ask, then revoke a key of a member of an organization."""
    place = place_for(request.user, organization, ADMINS)
    back = reverse("organization-keys", args=[organization])
    return _revoke(request, ApiKey.objects.filter(organization=place.organization), key, back)


def _revoke(request: MemberRequest, found: QuerySet[ApiKey], key: uuid.UUID, back: str) -> HttpResponse:
    row = found.select_related("organization", "user").filter(pk=key).first()
    if row is None:
        raise Http404
    if request.method != "POST":
        return render(request, "accounts/key_revoke.html", {"key": row, "back": back})
    revoke_api_key(key=row, now=timezone.now(), actor=request.user)
    messages.success(request, _("The key is revoked. Whoever uses it is refused from now on."))
    return HttpResponseRedirect(back, status=303)
