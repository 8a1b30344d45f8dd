"""The audit log: read, searched and exported here, changed nowhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from unfold.contrib.filters.admin import (
    AutocompleteSelectFilter,
    ChoicesDropdownFilter,
)

from apps.registry.admin import export
from apps.registry.admin.base import ReadOnlyAdmin, actor_of, display
from apps.registry.admin.filters import DayRangeFilter
from apps.registry.models import AuditEntry
from apps.registry.services.audit import record_export


class DayFilter(DayRangeFilter):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = "day"


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    list_display = ("at", "what", "who", "target", "project", "outcome", "address")
    list_filter = (
        ("action", ChoicesDropdownFilter),
        "allowed",
        ("actor", AutocompleteSelectFilter),
        ("project", AutocompleteSelectFilter),
        ("at", DayFilter),
    )
    search_fields = ("actor_label", "target_label", "target_id", "request_id", "ip_address")
    search_help_text = "Person, target, request id or address"
    list_select_related = ("actor", "project")
    date_hierarchy = "at"
    # The history of a row is this list, asked for that row.
    linked_lookups = ("target_type", "target_id")
    ordering = ("-id",)
    fieldsets = (
        (None, {"fields": ("at", "action", "outcome", "who", "actor", "project")}),
        ("Target", {"fields": ("target_type", "target_label", "target_id", "data")}),
        ("Request", {"fields": ("ip_address", "request_id")}),
    )
    readonly_fields = ("at", "outcome", "who")
    actions = ("export_csv", "export_jsonl")

    @display(description="action", ordering="action")
    def what(self, entry: AuditEntry) -> str:
        return str(entry.get_action_display())

    @display(description="who", ordering="actor_label")
    def who(self, entry: AuditEntry) -> str:
        return entry.actor_label or "–"

    @display(description="target", ordering="target_label")
    def target(self, entry: AuditEntry) -> str:
        return entry.target_label or "–"

    @display(
        description="outcome", ordering="allowed", label={"allowed": "success", "refused": "danger"}
    )
    def outcome(self, entry: AuditEntry) -> str:
        return "allowed" if entry.allowed else "refused"

    @display(description="IP address", ordering="ip_address")
    def address(self, entry: AuditEntry) -> str:
        return entry.ip_address or "–"

    @admin.action(description="Export as CSV", permissions=["view"])
    def export_csv(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        return self._export(request, queryset, export.as_csv, "text/csv", "csv")

    @admin.action(description="Export as JSON lines", permissions=["view"])
    def export_jsonl(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        return self._export(request, queryset, export.as_jsonl, "application/x-ndjson", "jsonl")

    def _export(
        self,
        request: HttpRequest,
        rows: QuerySet[Any],
        write: Callable[[Iterable[AuditEntry]], str],
        content_type: str,
        ending: str,
    ) -> HttpResponse | None:
        found = list(rows.select_related("project").order_by("id")[: export.LIMIT + 1])
        if len(found) > export.LIMIT:
            problem = f"An export holds at most {export.LIMIT:,} entries. Filter by date first."
            self.message_user(request, problem, messages.ERROR)
            return None
        record_export(actor=actor_of(request), format=ending, entries=len(found))
        response = HttpResponse(write(found), content_type=f"{content_type}; charset=utf-8")
        name = f"omni-audit-{timezone.now():%Y%m%d-%H%M%S}.{ending}"
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        return response
