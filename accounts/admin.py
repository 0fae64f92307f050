"""Django admin for staff: people and organizations by name; no stock delete, which would skip the wipe (R03)."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.http import HttpRequest

from accounts.models import Organization, User

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin


class NoDelete(ModelAdmin):
    """Offers no delete, neither alone nor in bulk: deletions are written calls of the lifecycle app."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(User)
class UserAdmin(NoDelete):
    list_display = ("email", "name", "is_staff", "is_active", "created_at", "deleted_at")
    search_fields = ("email", "name")
    fields = ("email", "name", "is_staff", "is_active", "time_zone", "language", "created_at", "deleted_at")
    readonly_fields = ("created_at", "deleted_at")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


@admin.register(Organization)
class OrganizationAdmin(NoDelete):
    list_display = ("slug", "name", "created_at", "deleted_at")
    search_fields = ("slug", "name")
    readonly_fields = ("slug", "created_at", "deleted_at")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False
