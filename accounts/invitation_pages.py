"""Invitations as pages (I07): what administrators sent, and the page behind the link; the service judges the link."""

import uuid
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import SetPasswordMixin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts import invitations
from accounts.access import ADMINS, Place, place_for
from accounts.invitations import AddressTaken, NotOpen, Offered, OtherAddress, TooManyMails
from accounts.mail import mail_folder
from accounts.members import APPOINTS
from accounts.models import Invitation, Membership, User
from accounts.organization_pages import RoleForm
from accounts.requests import MemberRequest, Text, clean_field, posted, time_zones

BACKEND: Final = "accounts.authentication.EmailBackend"
_TOO_MANY: Final = gettext_lazy("Too many invitations were sent within the hour. Try again later; nothing was sent.")
_NOT_OPEN: Final = gettext_lazy("This invitation is no longer open. Nothing was changed.")


class InviteForm(RoleForm):
    email = forms.EmailField(
        label=gettext_lazy("E-mail address"),
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )
    field_order = ("email", "role")

    def clean_email(self) -> str:
        return clean_field(self.cleaned_data["email"], max_length=254)


def _link(request: HttpRequest) -> invitations.Link:
    return lambda token: request.build_absolute_uri(reverse("invitation", args=[token]))


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: MemberRequest, organization: str) -> HttpResponse:
    """List open invitations; POST sends one."""
    place = place_for(request.user, organization, ADMINS)
    options: dict[str, Any] = {"appoints": APPOINTS[place.role], "initial": {"role": Membership.Role.MEMBER}}
    form = InviteForm(posted(request), **options)
    if request.method == "POST" and form.is_valid():
        try:
            offered = invitations.invite(
                organization=place.organization,
                **form.cleaned_data,
                actor=request.user,
                link=_link(request),
                now=timezone.now(),
            )
        except invitations.AlreadyMember:
            form.add_error("email", _("A member has this address already."))
        except invitations.AlreadyInvited:
            form.add_error("email", _("This address is invited already. Send that invitation again, or revoke it."))
        except TooManyMails:
            form.add_error("email", str(_TOO_MANY))
        else:
            _tell(request, offered)
            return _back(place)
    rows = Invitation.objects.filter(organization=place.organization).select_related("invited_by")
    open_ones, now = list(rows.order_by("email")), timezone.now()
    offered_still = invitations.still_offered(open_ones)
    shown = {
        "place": place,
        "form": form,
        "rows": [
            (row, row.expires_at <= now, row.pk in offered_still, row.role in APPOINTS[place.role]) for row in open_ones
        ],
        "mail_folder": mail_folder(),
    }
    return render(request, "accounts/invitations.html", shown, status=400 if form.is_bound and form.errors else 200)


def _tell(request: HttpRequest, offered: Offered) -> None:
    email = {"email": offered.invitation.email}
    if offered.sent:
        messages.success(request, _("The invitation for %(email)s is on its way.") % email)
    else:
        messages.error(
            request,
            _("The invitation for %(email)s stands, but the mail server did not take its mail. Send it again later.")
            % email,
        )


@login_required
@require_POST
def resend(request: MemberRequest, organization: str, invitation: uuid.UUID) -> HttpResponse:
    """Send an invitation again; its old link ends."""
    place = place_for(request.user, organization, ADMINS)
    try:
        offered = invitations.resend(
            organization=place.organization,
            invitation_id=invitation,
            actor=request.user,
            link=_link(request),
            now=timezone.now(),
        )
    except NotOpen:
        messages.error(request, str(_NOT_OPEN))
    except TooManyMails:
        messages.error(request, str(_TOO_MANY))
    else:
        _tell(request, offered)
    return _back(place)


@login_required
@require_POST
def revoke(request: MemberRequest, organization: str, invitation: uuid.UUID) -> HttpResponse:
    """End an invitation; its link opens nothing from then on."""
    place = place_for(request.user, organization, ADMINS)
    try:
        invitations.revoke(organization=place.organization, invitation_id=invitation, actor=request.user)
    except NotOpen:
        messages.error(request, str(_NOT_OPEN))
    else:
        messages.success(request, _("The invitation is revoked, and its link opens nothing any more."))
    return _back(place)


def _back(place: Place) -> HttpResponse:
    return HttpResponseRedirect(reverse("organization-invitations", args=[place.organization.slug]), status=303)


# --- behind the link --------------------------------------------------------------------------------------------------


class SignUpForm(SetPasswordMixin[User], forms.Form):
    """Name and password of the invited person; her address is the invited one."""

    name = Text(label=gettext_lazy("Your name"), longest=120, widget=forms.TextInput(attrs={"autocomplete": "name"}))
    password1, password2 = SetPasswordMixin.create_password_fields(
        label1=gettext_lazy("Password"), label2=gettext_lazy("Password again")
    )
    time_zone = forms.ChoiceField(
        label=gettext_lazy("Time zone"),
        choices=time_zones,
        widget=forms.Select(attrs={"data-zone": ""}),
        help_text=gettext_lazy("“Yesterday” in what you write is understood in it. You can change it under Settings."),
    )

    def __init__(self, data: Any, *, email: str) -> None:
        super().__init__(data, initial={"time_zone": "UTC"})
        self.fields["password2"].help_text = ""
        self.email = email

    def clean(self) -> dict[str, Any]:
        self.validate_passwords()
        user = User(email=self.email, name=self.cleaned_data.get("name", ""))
        self.validate_password_for_user(user)
        return self.cleaned_data


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def accept(request: HttpRequest, token: str) -> HttpResponse:
    """Let the invited person sign up, or accept with the account that has the invited address."""
    try:
        invitation = invitations.invitation_for(token, now=timezone.now())
        if isinstance(request.user, User):
            return _accept_as(request, request.user, token, invitation)
        return _sign_up(request, token, invitation)
    except NotOpen:
        return render(request, "accounts/invitation_over.html", status=404)


def _accept_as(request: HttpRequest, user: User, token: str, invitation: Invitation) -> HttpResponse:
    other = invitation.email.casefold() != user.email.casefold()
    if request.method == "POST":
        try:
            organization = invitations.accept(token=token, user=user, now=timezone.now())
        except OtherAddress:
            other = True
        else:
            messages.success(request, _("You are a member of %(name)s now.") % {"name": organization.name})
            return HttpResponseRedirect(reverse("agents"), status=303)
    shown = {"invitation": invitation, "other": other}
    return render(request, "accounts/invitation.html", shown, status=403 if other else 200)


def _sign_up(request: HttpRequest, token: str, invitation: Invitation) -> HttpResponse:
    form = SignUpForm(posted(request), email=invitation.email)
    known = User.objects.with_email(invitation.email).exists()
    if request.method == "POST" and not known and form.is_valid():
        chosen = form.cleaned_data
        try:
            user = invitations.sign_up(
                token=token,
                name=chosen["name"],
                password=chosen["password1"],
                time_zone=chosen["time_zone"],
                now=timezone.now(),
            )
        except AddressTaken:
            known = True
        else:
            login(request, user, backend=BACKEND)
            name = invitation.organization.name
            messages.success(request, _("Welcome. You are a member of %(name)s now.") % {"name": name})
            return HttpResponseRedirect(reverse("agents"), status=303)
    shown = {"invitation": invitation, "known": known, "form": form, "here": request.path}
    return render(request, "accounts/invitation.html", shown, status=400 if form.is_bound and form.errors else 200)
