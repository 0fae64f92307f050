"""Lists of ids, counts, codes and times for support staff, and the page on the background work; nothing can be changed.

Each list pages through its newest rows by an index, filters only by fixed choices, and is never counted as a whole.
"""

import uuid
from datetime import timedelta
from typing import Any, Final

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from extraction.models import Run
from lifecycle.admin_base import SupportAdmin
from lifecycle.models import Deletion, PendingWipe
from lifecycle.queue_health import look
from lifecycle.receipts import receipt

SUBJECT_PAGES: Final = {"user": "supportperson", "agent": "supportagent", "organization": "supportorganization"}
LATELY: Final = timedelta(days=7)


def _by_id(queryset: QuerySet[Any], term: str, *columns: str) -> QuerySet[Any]:
    """Return the rows that have this id in one of the columns; all of them for no term, none for what is no id."""
    if not term.strip():
        return queryset
    try:
        wanted = uuid.UUID(term.strip())
    except ValueError:
        return queryset.none()
    matches = Q()
    for column in columns:
        matches |= Q(**{column: wanted})
    return queryset.filter(matches)


class DeletionAdmin(SupportAdmin):
    """What became of each deletion, and its receipt."""

    list_display = ("requested_at", "kind", "subject_id", "memory_only", "facts", "consents", "wiped_at")
    list_filter = ("kind", "memory_only")
    search_fields = ("subject_id",)  # shows the search box
    search_help_text = gettext_lazy("An id: of the deletion, or of whom or what was deleted")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        return _by_id(queryset, search_term, "pk", "subject_id"), False

    ordering = ("-requested_at",)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.download)
        return [path("<uuid:deletion_id>/receipt/", view, name="lifecycle_deletion_receipt"), *super().get_urls()]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the result of a deletion."""
        self._staff(request)
        try:
            deletion = get_object_or_404(Deletion, pk=uuid.UUID(object_id))
        except ValueError:
            raise Http404 from None
        wipe = PendingWipe.objects.filter(deletion=deletion).first()
        of_subject = f"admin:lifecycle_{SUBJECT_PAGES[deletion.kind]}_change"
        shown: dict[str, Any] = {"deletion": deletion, "wipe": wipe, "subject_page": of_subject}
        return self._page(request, "deletion", _("Result of the deletion"), **shown)

    def download(self, request: HttpRequest, deletion_id: uuid.UUID) -> HttpResponse:
        """Give the signed receipt as a file."""
        self._staff(request)
        text = receipt(get_object_or_404(Deletion, pk=deletion_id), now=timezone.now())
        headers = {"Content-Disposition": f'attachment; filename="receipt-{deletion_id}.json"'}
        return HttpResponse(text, content_type="application/json", headers=headers)


class RetentionReportAdmin(SupportAdmin):
    """The nights: counts, and what waits."""

    list_display = (
        "started_at",
        "finished_at",
        "asked_by",
        "expired",
        "superseded",
        "deleted",
        "waiting",
        "transcripts",
        "wipes_done",
        "wipes_pending",
    )
    ordering = ("-started_at",)


class EventAdmin(SupportAdmin):
    """The audit log, newest first; what concerns one person or organization is found by its id."""

    list_display = ("at", "action", "organization_id", "subject_user_id", "actor_id", "details")
    fields = (
        "id",
        "at",
        "action",
        "organization_id",
        "subject_user_id",
        "actor_id",
        "agent_id",
        "object_id",
        "surface",
        "reason",
        "request_id",
        "details",
    )
    ordering = ("-id",)
    search_fields = ("subject_user_id",)  # shows the search box
    search_help_text = gettext_lazy("An id: of an organization, of the person concerned, or of who acted")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        return _by_id(queryset, search_term, "organization_id", "subject_user_id", "actor_id"), False


class RunFilter(admin.SimpleListFilter):
    """The runs that somebody looks for when something is wrong; each choice has an index."""

    title = gettext_lazy("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("open", gettext_lazy("Waiting or running")), ("failed", gettext_lazy("Failed in the last 7 days"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "open":
            return queryset.filter(state__in=[Run.State.WAITING, Run.State.RUNNING])
        if self.value() == "failed":
            return queryset.filter(state=Run.State.FAILED, created_at__gt=timezone.now() - LATELY)
        return queryset


class RunAdmin(SupportAdmin):
    """Extraction runs, newest first: counts by outcome and reason, codes and times; never what was said."""

    list_display = (
        "created_at",
        "state",
        "error_code",
        "attempt",
        "outcomes",
        "refusals",
        "duration_ms",
    )
    list_filter = (RunFilter,)
    fields = (
        "id",
        "state",
        "error_code",
        "attempt",
        "excused",
        "outcomes",
        "refusals",
        "model",
        "duration_ms",
        "prompt_tokens",
        "completion_tokens",
        "organization_id",
        "user_id",
        "agent_id",
        "session_id",
        "turn_id",
        "created_at",
        "due_at",
        "lease_until",
        "finished_at",
    )
    ordering = ("-created_at",)
    search_fields = ("pk",)  # shows the search box
    search_help_text = gettext_lazy("An id: of a run, a person, an agent, a session or a turn")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        return _by_id(queryset, search_term, "pk", "user", "agent", "session", "turn"), False


class QueueAdmin(SupportAdmin):
    """One page instead of a list: how the background work is doing."""

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show depths, ages, the last night and failures by task."""
        self._staff(request)
        return self._page(request, "queue", _("Background work"), report=look(now=timezone.now()))

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        self._staff(request)
        raise Http404
