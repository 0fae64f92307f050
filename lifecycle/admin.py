"""Django admin for support staff (R04): find a subject, see counts, delete it or its memory, hand out the receipt.

Needs the permission `accounts.delete_subject` and no superuser flag. Must not reach code that decrypts.
"""

import uuid
from typing import Any, ClassVar

import structlog
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import Organization, User
from accounts.requests import text_problem
from agents.models import Agent
from encryption.ledger import LedgerError
from facts.erasure import Subject, SubjectKind
from lifecycle.admin_base import SupportAdmin
from lifecycle.admin_lists import DeletionAdmin, EventAdmin, QueueAdmin, RetentionReportAdmin, RunAdmin
from lifecycle.models import (
    Deletion,
    QueueHealth,
    RetentionReport,
    SupportAgent,
    SupportEvent,
    SupportOrganization,
    SupportPerson,
    SupportRun,
)
from lifecycle.services import (
    MAX_REASON,
    AlreadyDeleted,
    delete_agent,
    delete_memory,
    delete_organization,
    delete_user,
)
from lifecycle.support import confirmation, find_named, find_people, subject_page
from screening.text import UnacceptableText, clean_text

log = structlog.get_logger(__name__)

SURFACE = "admin"


class SubjectAdmin(SupportAdmin):
    """One kind of subject: found by an exact name or id, so that nobody browses; its page; its deletion."""

    kind: ClassVar[SubjectKind]
    search_fields = ("pk",)  # shows the search box; `get_search_results` does the search

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        find = find_people if self.kind == "user" else find_named
        if not search_term.strip() or "\x00" in search_term:
            return queryset.none(), False
        return queryset.filter(find(search_term)), False

    def get_urls(self) -> list[URLPattern]:
        name = f"lifecycle_{self.opts.model_name}"
        delete = self.admin_site.admin_view(self.delete_subject)
        memory = self.admin_site.admin_view(self.delete_only_memory)
        own = [
            path("<uuid:subject_id>/erase/", delete, name=f"{name}_erase"),
            path("<uuid:subject_id>/erase-memory/", memory, name=f"{name}_erase_memory"),
        ]
        return own + super().get_urls()

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show a subject: counts by organization and agent, consent history, deletions, last activity."""
        staff = self._staff(request)
        try:
            row = self._row(uuid.UUID(object_id))
        except ValueError:
            raise Http404 from None
        shown = subject_page(Subject(self.kind, row.pk))
        return self._page(
            request, "subject", str(row), row=row, page=shown, kind=self.kind, may=self._may_delete(staff, row)
        )

    def delete_subject(self, request: HttpRequest, subject_id: uuid.UUID) -> HttpResponse:
        """Ask for a typed confirmation and a reason, then delete the subject."""
        return self._delete(request, self._row(subject_id, self._staff(request)), memory_only=False)

    def delete_only_memory(self, request: HttpRequest, subject_id: uuid.UUID) -> HttpResponse:
        """Ask the same, then delete the subject's memory."""
        return self._delete(request, self._row(subject_id, self._staff(request)), memory_only=True)

    def _row(self, subject_id: uuid.UUID, staff: User | None = None) -> Any:
        row = get_object_or_404(self.model, pk=subject_id)
        if staff is not None and not self._may_delete(staff, row):
            raise PermissionDenied
        return row

    def _may_delete(self, staff: User, row: Model) -> bool:
        """Nobody deletes herself here, and staff, whose rights are a superuser's to give and take, only a superuser."""
        above = isinstance(row, User) and (row.is_staff or row.is_superuser) and not staff.is_superuser
        return row.pk != staff.pk and not above

    def _delete(self, request: HttpRequest, row: Any, *, memory_only: bool) -> HttpResponse:
        staff, wanted = self._staff(request), confirmation(row)
        typed, reason, problem, status = request.POST.get("typed", ""), "", "", 200
        if request.method == "POST":
            try:
                reason = clean_text(request.POST.get("reason", ""), max_length=MAX_REASON, single_line=True)
                if typed.strip().casefold() == wanted.casefold():
                    deletion = self._do(row, staff, reason, memory_only=memory_only)
                    return HttpResponseRedirect(
                        reverse("admin:lifecycle_deletion_change", args=[deletion.pk]), status=303
                    )
                problem, status = _("What you typed is not “{name}”.").format(name=wanted), 400
            except UnacceptableText as error:
                problem, status = _("Reason: {problem}").format(problem=text_problem(error)), 400
            except AlreadyDeleted:
                problem, status = _("It is deleted already."), 409
            except LedgerError:
                problem, status = (
                    _("The erasure ledger cannot be written, so nothing was deleted. Tell operators."),
                    503,
                )
            except DatabaseError as error:  # its text may quote a row
                log.error("deletion_refused", kind=self.kind, code=type(error.__cause__ or error).__name__)
                problem, status = (
                    _("The database refused, so nothing was deleted. Try again, and tell operators if it does again."),
                    503,
                )
        title = _("Delete the memory of {name}") if memory_only else _("Delete {name}")
        shown = {"row": row, "kind": self.kind, "wanted": wanted, "memory_only": memory_only, "problem": problem}
        shown |= {"typed": typed, "reason": request.POST.get("reason", ""), "max_reason": MAX_REASON}
        shown |= {"page": subject_page(Subject(self.kind, row.pk))}
        return self._page(request, "erase", title.format(name=wanted), status=status, **shown)

    def _do(self, row: Any, staff: User, reason: str, *, memory_only: bool) -> Deletion:
        how: dict[str, Any] = {"actor": staff, "reason": reason, "surface": SURFACE, "now": timezone.now()}
        if memory_only:
            return delete_memory(subject=Subject(self.kind, row.pk), **how)
        if isinstance(row, User):
            return delete_user(user=row, **how)
        if isinstance(row, Organization):
            return delete_organization(organization=row, **how)
        assert isinstance(row, Agent)  # noqa: S101 (the third kind)
        return delete_agent(agent=row, **how)


@admin.register(SupportPerson)
class PersonAdmin(SubjectAdmin):
    kind = "user"
    list_display = ("email", "id", "created_at", "deleted_at")
    search_help_text = gettext_lazy("A whole e-mail address, or an id")


@admin.register(SupportOrganization)
class SupportOrganizationAdmin(SubjectAdmin):
    kind = "organization"
    list_display = ("slug", "name", "id", "created_at", "deleted_at")
    search_help_text = gettext_lazy("A whole slug, or an id")


@admin.register(SupportAgent)
class SupportAgentAdmin(SubjectAdmin):
    kind = "agent"
    list_display = ("public_name", "name", "id", "created_at", "deleted_at")
    list_select_related = ("organization",)
    search_help_text = gettext_lazy("A whole slug, or an id")


admin.site.site_header = admin.site.site_title = gettext_lazy("memoryproject administration")
admin.site.register(Deletion, DeletionAdmin)
admin.site.register(RetentionReport, RetentionReportAdmin)
admin.site.register(SupportEvent, EventAdmin)
admin.site.register(SupportRun, RunAdmin)
admin.site.register(QueueHealth, QueueAdmin)
