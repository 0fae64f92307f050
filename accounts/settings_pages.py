"""`/settings/`: a member's own name, time zone, language, mails and password (I07); the rest is not hers to change."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import PasswordChangeForm
from django.core.exceptions import ValidationError
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from accounts.models import User
from accounts.passwords import may_guess
from accounts.requests import MemberRequest, Text, languages, posted, time_zones
from accounts.services import set_password, update_user


class ProfileForm(forms.Form):
    """The columns of her account that a member changes herself."""

    name = Text(
        label=gettext_lazy("Name"),
        longest=120,
        required=False,
        help_text=gettext_lazy("Agents and the people of your organizations see it."),
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    time_zone = forms.ChoiceField(
        label=gettext_lazy("Time zone"),
        help_text=gettext_lazy("Times are shown in it, and “yesterday” in what you write is understood in it."),
    )
    language = forms.ChoiceField(
        label=gettext_lazy("Language"),
        help_text=gettext_lazy("Agents are told it, unless it is English. These pages are in English only."),
    )
    mail_on_invitation = forms.BooleanField(
        label=gettext_lazy("Mail me when somebody accepts my invitation"), required=False
    )
    mail_on_key = forms.BooleanField(
        label=gettext_lazy("Mail me when an API key is made for my account"), required=False
    )

    def __init__(self, data: Any, *, user: User) -> None:
        super().__init__(data, initial={name: getattr(user, name) for name in self.base_fields})
        choices = list(time_zones())
        known = {value for _region, group in choices if not isinstance(group, str) for value, _label in group}
        if user.time_zone not in known | {"UTC"}:  # a name from elsewhere, such as Etc/GMT-3, is kept
            choices.append((user.time_zone, user.time_zone))
        self.fields["time_zone"].choices = choices  # type: ignore[attr-defined]
        spoken = languages()
        if user.language not in dict(spoken):  # the same
            spoken.append((user.language, user.language))
        self.fields["language"].choices = spoken  # type: ignore[attr-defined]


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def profile(request: MemberRequest) -> HttpResponse:
    """Show and change name, time zone, language and mails."""
    form = ProfileForm(posted(request), user=request.user)
    if request.method == "POST" and form.is_valid():
        update_user(user=request.user, changes=form.cleaned_data, actor=request.user)
        messages.success(request, _("Saved."))
        return HttpResponseRedirect(reverse("settings"), status=303)
    return render(request, "accounts/settings.html", {"form": form}, status=400 if form.errors else 200)


class ChangeForm(PasswordChangeForm):
    """Asks for the old password once and the new one twice."""

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(user, *args, **kwargs)
        self.fields["old_password"].label = _("Your password now")
        self.fields["new_password1"].label = _("New password")
        self.fields["new_password2"].label = _("New password again")
        self.fields["new_password2"].help_text = ""

    def clean_old_password(self) -> str:
        if not may_guess(self.user, now=timezone.now()):
            raise ValidationError(_("Too many tries within an hour. Try again later."), code="too_many")
        old: str = super().clean_old_password()
        return old


@sensitive_post_parameters()
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def password(request: MemberRequest) -> HttpResponse:
    """Change the password; every other sign-in ends, this one goes on under a new session key."""
    form = ChangeForm(request.user, posted(request))
    if request.method == "POST" and form.is_valid():
        user = set_password(user=request.user, password=form.cleaned_data["new_password1"])
        update_session_auth_hash(request, user)
        messages.success(request, _("Your password is changed. Every other sign-in has ended."))
        return HttpResponseRedirect(reverse("settings"), status=303)
    return render(request, "accounts/password.html", {"form": form}, status=400 if form.errors else 200)
