"""Threads, as people made them."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Count
from django.http import HttpRequest
from unfold.contrib.filters.admin import AutocompleteSelectFilter

from apps.registry.admin.base import ReadOnlyAdmin, display
from apps.registry.admin.filters import DayRangeFilter
from apps.runs.models import Thread


@admin.register(Thread)
class ThreadAdmin(ReadOnlyAdmin):
    list_display = ("title", "project", "run_count", "created_by", "updated_at", "archived_at")
    list_filter = (("project", AutocompleteSelectFilter), ("updated_at", DayRangeFilter))
    search_fields = ("title", "project__slug", "=id")
    search_help_text = "Title, project or id"
    list_select_related = ("project", "created_by")
    fields = (
        "id", "title", "project", "run_count", "created_by", "created_at", "updated_at",
        "archived_at",
    )  # fmt: skip
    readonly_fields = ("id", "run_count", "created_at", "updated_at", "archived_at")

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).annotate(runs_here=Count("runs"))

    @display(description="runs", ordering="runs_here")
    def run_count(self, thread: Any) -> int:
        return int(thread.runs_here)
