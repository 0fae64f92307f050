"""What every page of support staff in Django's admin has in common (R04): who may look, and that nothing is changed."""

from typing import TYPE_CHECKING, Any, Final

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.functional import cached_property

from accounts.models import User

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
    RowPaginator = Paginator[Any]
else:
    ModelAdmin = admin.ModelAdmin
    RowPaginator = Paginator

PERMISSION: Final = "accounts.delete_subject"
FARTHEST: Final = 10_000  # rows that one may page through


class BoundedPaginator(RowPaginator):
    """Pages through the first 10,000 rows and counts no further: a table that grows for years is never counted."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list  # the admin gives a queryset
        return int(rows.order_by()[:FARTHEST].count())


class IndexedList(ChangeList):
    """Keeps the order that the page was given, whatever the address asks for: each is the order of an index."""

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> list[Any]:
        return [*self.model_admin.get_ordering(request), "-pk"]


class SupportAdmin(ModelAdmin):
    """Shows rows to who may delete subjects; offers no add, change, stock delete, bulk action or export."""

    actions = None
    paginator = BoundedPaginator
    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER  # each would be a count over the table
    sortable_by = ()

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return IndexedList

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        """Take the lookups of the list's own filters: any other column could be guessed, one letter at a time."""
        filters = self.get_list_filter(request) if request else ()
        names = [given if isinstance(given, str) else getattr(given, "parameter_name", "") for given in filters]
        known = {f"{name}{ending}" for name in names for ending in ("", "__exact", "__isnull", "__gte", "__lt")}
        return lookup in known and "\0" not in str(value)

    def _allowed(self, request: HttpRequest) -> bool:
        return request.user.is_active and request.user.is_staff and request.user.has_perm(PERMISSION)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self._allowed(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._allowed(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def _page(
        self, request: HttpRequest, template: str, title: str, *, status: int = 200, **shown: Any
    ) -> HttpResponse:
        context = {**self.admin_site.each_context(request), "title": title, "opts": self.opts, **shown}
        return TemplateResponse(request, f"lifecycle/admin/{template}.html", context, status=status)

    def _staff(self, request: HttpRequest) -> User:
        if not isinstance(request.user, User) or not self._allowed(request):
            raise PermissionDenied
        return request.user
