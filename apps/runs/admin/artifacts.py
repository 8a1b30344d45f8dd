"""Stored bytes and the runs that refer to them."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Count
from django.http import HttpRequest
from unfold.contrib.filters.admin import AutocompleteSelectFilter

from apps.registry.admin.base import ReadOnlyAdmin, ReadOnlyInline, display
from apps.registry.admin.filters import DayRangeFilter
from apps.runs.models import Artifact, ArtifactUse


class UseInline(ReadOnlyInline):
    model = ArtifactUse
    fields = ("run", "name", "media_type", "created_at")
    readonly_fields = fields
    show_change_link = True


@admin.register(Artifact)
class ArtifactAdmin(ReadOnlyAdmin):
    list_display = ("sha256", "size", "use_count", "created_at")
    list_filter = (("created_at", DayRangeFilter),)
    search_fields = ("sha256", "uses__name")
    search_help_text = "Hash or name"
    fields = ("sha256", "size", "use_count", "created_at")
    readonly_fields = ("use_count", "created_at")
    inlines = (UseInline,)

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).annotate(uses_here=Count("uses"))

    @display(description="uses", ordering="uses_here")
    def use_count(self, artifact: Any) -> int:
        return int(artifact.uses_here)


@admin.register(ArtifactUse)
class ArtifactUseAdmin(ReadOnlyAdmin):
    list_display = ("name", "media_type", "artifact", "run", "created_at")
    list_filter = (
        ("run__project", AutocompleteSelectFilter),
        "media_type",
        ("created_at", DayRangeFilter),
    )
    search_fields = ("name", "media_type", "artifact__sha256", "=run__id")
    search_help_text = "Name, type, hash or run"
    list_select_related = ("artifact", "run")
    fields = ("artifact", "run", "name", "media_type", "created_at")
    readonly_fields = ("created_at",)
