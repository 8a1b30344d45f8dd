"""OpenAPI documents in the admin console: looked at and removed; projects add them."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import AutocompleteSelectFilter

from apps.registry.admin.base import PlatformAdmin, actor_of
from apps.registry.admin.filters import DayRangeFilter
from apps.tools.models import OpenApiDocument
from apps.tools.services.openapi import remove_openapi_document


@admin.register(OpenApiDocument)
class OpenApiDocumentAdmin(PlatformAdmin):
    audited_by_service = True
    list_display = ("title", "api_version", "project", "tool_count", "skipped_count", "added_at")
    list_filter = (("project", AutocompleteSelectFilter), ("added_at", DayRangeFilter))
    search_fields = ("title", "sha256", "base_url", "project__name", "project__slug")
    search_help_text = "Title, hash, server or project"
    list_select_related = ("project", "added_by")
    date_hierarchy = "added_at"
    fields = (
        *("project", "title", "api_version", "sha256", "base_url", "source_url"),
        *("tool_count", "skipped_count", "added_by", "added_at"),
    )
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[OpenApiDocument]:
        return super().get_queryset(request).defer("text")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        remove_openapi_document(
            actor=actor_of(request), project=obj.project, sha256=obj.sha256, as_operator=True
        )

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for document in queryset.select_related("project"):
            self.delete_model(request, document)
