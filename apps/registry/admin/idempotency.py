"""Requests that carried an Idempotency-Key; their answers stay sealed."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import AutocompleteSelectFilter

from apps.registry.admin.base import ReadOnlyAdmin, display
from apps.registry.admin.filters import DayRangeFilter
from apps.registry.models import IdempotencyRecord


@admin.register(IdempotencyRecord)
class IdempotencyRecordAdmin(ReadOnlyAdmin):
    list_display = ("key", "user", "outcome", "created_at")
    list_filter = (
        "status",
        ("user", AutocompleteSelectFilter),
        ("created_at", DayRangeFilter),
    )
    search_fields = ("key", "user__email")
    list_select_related = ("user",)
    date_hierarchy = "created_at"
    fields = ("key", "user", "outcome", "created_at")
    readonly_fields = ("outcome",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[IdempotencyRecord]:
        return super().get_queryset(request).defer("body", "request_hash")

    @display(description="answer", ordering="status")
    def outcome(self, record: IdempotencyRecord) -> str:
        return f"HTTP {record.status}" if record.status else "being worked on"
