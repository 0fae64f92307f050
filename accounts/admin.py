"""Django admin for staff: people and organizations by name; no stock delete, which would skip the wipe (R03)."""

from typing import TYPE_CHECKING, Any
from zoneinfo import available_timezones

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts.models import Organization, User
from accounts.requests import clean_field
from accounts.services import FLAGS, LANGUAGES, RIGHTS, TEXTS, UnknownLanguage, UnknownTimeZone, update_user

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
    ModelForm = forms.ModelForm[User]
    OrganizationModelForm = forms.ModelForm[Organization]
else:
    OrganizationModelForm = forms.ModelForm
    ModelForm = forms.ModelForm
    ModelAdmin = admin.ModelAdmin


class NoDelete(ModelAdmin):
    """Offers no delete, neither alone nor in bulk: deletions are written calls of the lifecycle app."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def _clean_line(form: "forms.ModelForm[Any]", name: str, *, allow_empty: bool = False) -> str:
    """Return a field's text as a single line, or raise ValidationError; what was stored before stays as it is."""
    text: str = form.cleaned_data[name]
    if name not in form.changed_data:
        return text
    return clean_field(text, max_length=TEXTS[name], allow_empty=allow_empty)


class UserForm(ModelForm):
    """Refuses in words what the service would refuse."""

    def clean_name(self) -> str:
        return _clean_line(self, "name", allow_empty=True)

    def clean_email(self) -> str:
        email = _clean_line(self, "email")
        if self.instance.deleted_at is None and User.objects.with_email(email).exclude(pk=self.instance.pk).exists():
            raise forms.ValidationError(_("Another account has this e-mail address."), code="unique")
        return email

    def clean_time_zone(self) -> str:
        zone: str = self.cleaned_data["time_zone"]
        if zone not in available_timezones():
            raise forms.ValidationError(str(UnknownTimeZone(zone)), code="unknown")
        return zone

    def clean_language(self) -> str:
        code = str(self.cleaned_data["language"]).strip()
        if code not in LANGUAGES | {self.initial.get("language")}:  # one from elsewhere is kept
            raise forms.ValidationError(str(UnknownLanguage(code)), code="unknown")
        return code


@admin.register(User)
class UserAdmin(NoDelete):
    """Changes go through the service, which audits them; staff rights are a superuser's to give and take."""

    form = UserForm
    list_display = ("email", "name", "is_staff", "is_active", "created_at", "deleted_at")
    search_fields = ("email", "name")
    fields = ("email", "name", *sorted(FLAGS), "time_zone", "language", "created_at", "deleted_at")
    readonly_fields = ("created_at", "deleted_at")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        above = isinstance(obj, User) and obj.is_superuser and not _by_superuser(request)
        return not above and super().has_change_permission(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[Any] | tuple[Any, ...]:
        hers = () if _by_superuser(request) else sorted(RIGHTS)
        return (*super().get_readonly_fields(request, obj), *hers)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        changes = {name: form.cleaned_data[name] for name in form.changed_data}
        assert isinstance(request.user, User)  # noqa: S101 (the admin lets nobody else in)
        update_user(user=obj, changes=changes, actor=request.user)


def _by_superuser(request: HttpRequest) -> bool:
    return isinstance(request.user, User) and request.user.is_superuser


class OrganizationForm(OrganizationModelForm):
    """Takes the names that the founding page takes."""

    def clean_name(self) -> str:
        return _clean_line(self, "name")


@admin.register(Organization)
class OrganizationAdmin(NoDelete):
    form = OrganizationForm
    list_display = ("slug", "name", "created_at", "deleted_at")
    search_fields = ("slug", "name")
    readonly_fields = ("slug", "transcript_days", "created_at", "deleted_at")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False
