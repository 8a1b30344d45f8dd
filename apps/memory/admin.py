"""Memories of projects, to look at."""

from __future__ import annotations

from django.contrib import admin
from unfold.contrib.filters.admin import AutocompleteSelectFilter

from apps.memory.models import MemoryItem
from apps.registry.admin.base import ReadOnlyAdmin
from apps.registry.admin.filters import DayRangeFilter


@admin.register(MemoryItem)
class MemoryItemAdmin(ReadOnlyAdmin):
    list_display = ("text", "kind", "project", "importance", "created_at")
    list_filter = (
        ("project", AutocompleteSelectFilter),
        "kind",
        ("created_at", DayRangeFilter),
    )
    search_fields = ("text", "project__slug", "=source_run")
    search_help_text = "Words, project or run"
    list_select_related = ("project",)
    fields = (
        "project", "kind", "text", "importance", "source_run", "source_call", "created_at",
    )  # fmt: skip
    readonly_fields = ("created_at",)
