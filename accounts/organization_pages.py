"""`/organizations/`: a member's organizations and the people in them (I02, I07); the services judge who may what."""

import uuid
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db.models import Case, IntegerField, QuerySet, Value, When
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import ADMINS, OWNERS, Place, may_found, place_for, places_of
from accounts.members import (
    APPOINTS,
    NoSuchMember,
    SlugTaken,
    change_role,
    dismiss,
    found_organization,
    transfer_ownership,
)
from accounts.models import Membership
from accounts.requests import MemberRequest, Text, posted, slug_field
from accounts.services import LastOwner

LAST_OWNER: Final = gettext_lazy(
    "An organization keeps at least one owner. Make somebody else owner first; nothing was changed."
)
_GONE: Final = gettext_lazy("This person is no longer a member. Nothing was changed.")
_form = require_http_methods(["GET", "HEAD", "POST"])


@login_required
@require_safe
def organizations(request: MemberRequest) -> HttpResponse:
    """List the member's organizations."""
    shown = {"places": places_of(request.user), "may_found": may_found(request.user)}
    return render(request, "accounts/organizations.html", shown)


class FoundForm(forms.Form):
    name = Text(label=gettext_lazy("Name"), longest=120)
    slug = slug_field()


@login_required
@_form
def new(request: MemberRequest) -> HttpResponse:
    """Create an organization and become its owner."""
    if not may_found(request.user):
        raise PermissionDenied
    form = FoundForm(posted(request))
    if request.method == "POST" and form.is_valid():
        try:
            made = found_organization(**form.cleaned_data, founder=request.user)
        except SlugTaken:
            form.add_error("slug", _("This short name is taken. Choose another one."))
        else:
            messages.success(request, _("The organization is set up, and you are its owner. Next, create an agent."))
            return _to("organization", made.slug)
    return render(request, "accounts/organization_new.html", {"form": form}, status=_status(form))


def _members(place: Place) -> QuerySet[Membership]:
    order = Case(
        *(When(role=role, then=Value(rank)) for rank, role in enumerate(Membership.Role.values)),
        output_field=IntegerField(),
    )
    rows = Membership.objects.filter(organization=place.organization, user__deleted_at__isnull=True)
    return rows.select_related("user").order_by(order, "user__name", "user__email")


@login_required
@require_safe
def members(request: MemberRequest, organization: str) -> HttpResponse:
    """Show who belongs to the organization, and to administrators whose role and place they may change."""
    place = place_for(request.user, organization)
    rows = [(row, row.role in APPOINTS[place.role]) for row in _members(place)]
    return render(request, "accounts/members.html", {"place": place, "rows": rows})


class RoleForm(forms.Form):
    role = forms.ChoiceField(label=gettext_lazy("Role"))

    def __init__(self, data: Any, *, appoints: frozenset[str], **options: Any) -> None:
        super().__init__(data, **options)
        self.fields["role"].choices = roles(appoints)  # type: ignore[attr-defined]


def roles(appoints: frozenset[str]) -> list[tuple[str, str]]:
    """Return the roles that may be given, the least powerful first, as choices."""
    return [(value, str(label)) for value, label in reversed(Membership.Role.choices) if value in appoints]


def _target(request: MemberRequest, organization: str, member: uuid.UUID) -> tuple[Place, Membership]:
    """Return a place and one of its members whose role the asker may change."""
    place = place_for(request.user, organization, ADMINS)
    row = _members(place).filter(user=member).first()
    if row is None:
        raise Http404
    if row.role not in APPOINTS[place.role]:
        raise PermissionDenied
    return place, row


@login_required
@_form
def role(request: MemberRequest, organization: str, member: uuid.UUID) -> HttpResponse:
    """Give a member another role."""
    place, row = _target(request, organization, member)
    form = RoleForm(posted(request), appoints=APPOINTS[place.role], initial={"role": row.role})
    if request.method == "POST" and form.is_valid():
        try:
            change_role(
                organization=place.organization, user_id=member, role=form.cleaned_data["role"], actor=request.user
            )
        except LastOwner:
            form.add_error("role", str(LAST_OWNER))
        except NoSuchMember:
            messages.error(request, str(_GONE))
            return _to("organization", organization)
        else:
            messages.success(request, _("%(name)s has the new role from now on.") % {"name": row.user})
            return _to("organization", organization)
    shown = {"place": place, "row": row, "form": form}
    return render(request, "accounts/role.html", shown, status=_status(form))


@login_required
@_form
def remove(request: MemberRequest, organization: str, member: uuid.UUID) -> HttpResponse:
    """Say what removing somebody keeps, then end the membership (I02)."""
    place, row = _target(request, organization, member)
    if member == request.user.pk:
        return _to("organization-leave", organization)
    if request.method != "POST":
        return render(request, "accounts/remove.html", {"place": place, "row": row})
    try:
        dismiss(organization=place.organization, user_id=member, actor=request.user)
    except LastOwner:
        messages.error(request, str(LAST_OWNER))
    except NoSuchMember:
        messages.error(request, str(_GONE))
    else:
        messages.success(request, _("%(name)s is no longer a member. No fact was erased.") % {"name": row.user})
    return _to("organization", organization)


@login_required
@_form
def leave(request: MemberRequest, organization: str) -> HttpResponse:
    """Say what leaving keeps, then end one's own membership; the last owner stays (I02)."""
    place = place_for(request.user, organization)
    problem, status = "", 200
    if request.method == "POST":
        try:
            dismiss(organization=place.organization, user_id=request.user.pk, actor=request.user)
        except LastOwner:
            problem, status = str(LAST_OWNER), 409
        else:
            messages.success(request, _("You left %(name)s.") % {"name": place.organization.name})
            return _to("organizations")
    return render(request, "accounts/leave.html", {"place": place, "problem": problem}, status=status)


class TransferForm(forms.Form):
    """Asks for the heir and for the organization's name, typed."""

    heir = forms.ChoiceField(label=gettext_lazy("New owner"))
    typed = forms.CharField(widget=forms.TextInput(attrs={"autocomplete": "off"}))

    def __init__(self, data: Any, *, place: Place, heirs: QuerySet[Membership]) -> None:
        super().__init__(data)
        self.wanted = place.organization.name
        chosen = [(str(row.user_id), _name(row)) for row in heirs]
        self.fields["heir"].choices = [("", _("Choose a member")), *chosen]  # type: ignore[attr-defined]
        self.fields["typed"].label = _("Type %(name)s to confirm") % {"name": self.wanted}

    def clean_typed(self) -> str:
        typed: str = self.cleaned_data["typed"]
        if " ".join(typed.split()).casefold() != " ".join(self.wanted.split()).casefold():
            raise forms.ValidationError(_("What you typed is not the organization's name. Nothing was changed."))
        return typed


def _name(row: Membership) -> str:
    return f"{row.user.name} ({row.user.email})" if row.user.name else row.user.email


@login_required
@_form
def transfer(request: MemberRequest, organization: str) -> HttpResponse:
    """Hand the organization to another member, after its name was typed (I07)."""
    place = place_for(request.user, organization, OWNERS)
    heirs = _members(place).exclude(user=request.user.pk).filter(user__is_active=True)
    form = TransferForm(posted(request), place=place, heirs=heirs)
    if request.method == "POST" and form.is_valid():
        heir = uuid.UUID(form.cleaned_data["heir"])
        try:
            transfer_ownership(organization=place.organization, user_id=heir, actor=request.user)
        except NoSuchMember:
            form.add_error("heir", str(_GONE))
        else:
            messages.success(request, _("The organization has a new owner, and you are an administrator."))
            return _to("organization", organization)
    shown = {"place": place, "form": form, "has_heirs": heirs.exists()}
    return render(request, "accounts/transfer.html", shown, status=_status(form))


def _status(form: forms.Form) -> int:
    return 400 if form.is_bound and form.errors else 200


def _to(name: str, *parts: object) -> HttpResponse:
    return HttpResponseRedirect(reverse(name, args=parts), status=303)
