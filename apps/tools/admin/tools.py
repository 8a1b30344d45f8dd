"""Tools in the admin console: published for good, deprecated, installed in projects."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import AutocompleteSelectFilter, ChoicesDropdownFilter
from unfold.widgets import UnfoldAdminTextareaWidget

from apps.registry.admin.base import PlatformAdmin, ReadOnlyInline, RowForm, actor_of, display
from apps.registry.admin.filters import DayRangeFilter
from apps.tools.admin.documents import DocumentField, refusals
from apps.tools.models import ToolInstallation, ToolVersion
from apps.tools.services import tools

RISKS = {"low": "success", "medium": "warning", "high": "danger", "critical": "danger"}


class InstallationInline(ReadOnlyInline):
    model = ToolInstallation
    fields = ("project", "is_pinned", "enabled", "installed_by", "installed_at")
    readonly_fields = fields


class NewToolForm(RowForm):
    manifest = DocumentField(help_text="A tool manifest; it never changes once it is published.")

    class Meta:
        model = ToolVersion
        fields = ("manifest",)

    def clean_manifest(self) -> Any:
        with refusals():
            tools.check_manifest(self.cleaned_data["manifest"])
        return self.cleaned_data["manifest"]


class DeprecationForm(RowForm):
    deprecated = forms.CharField(
        required=False,
        max_length=2000,
        help_text="Why not to use it any more, and what instead; empty takes it back.",
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
    )

    class Meta:
        model = ToolVersion
        fields = ("deprecated",)


@admin.register(ToolVersion)
class ToolVersionAdmin(PlatformAdmin):
    audited_by_service = True
    list_display = (
        "name", "version", "risk", "origin", "belongs_to", "use_count", "is_deprecated",
        "created_at",
    )  # fmt: skip
    list_filter = (
        ("origin", ChoicesDropdownFilter),
        ("project", AutocompleteSelectFilter),
        ("created_at", DayRangeFilter),
    )
    search_fields = ("name", "version", "sha256", "manifest__description")
    search_help_text = "Name, version, hash or description"
    list_select_related = ("project",)
    add_fieldsets = ((None, {"fields": ("manifest",)}),)
    fieldsets = (
        (None, {"fields": ("name", "version", "sha256", "risk", "origin", "project")}),
        ("Advice", {"fields": ("deprecated",)}),
        ("Manifest", {"fields": ("manifest",)}),
        ("Record", {"fields": ("created_by", "created_at", "first_used_at")}),
    )
    inlines = (InstallationInline,)

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).annotate(uses_here=Count("installations"))

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        kwargs["form"] = NewToolForm if obj is None else DeprecationForm
        return super().get_form(request, obj, change, **kwargs)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return ()
        fixed = ("name", "version", "sha256", "risk", "origin", "project", "manifest")
        return (*fixed, "created_by", "created_at", "first_used_at")

    def get_inlines(self, request: HttpRequest, obj: Any) -> Any:
        return () if obj is None else self.inlines

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """What was used once stays: runs are pinned to it."""
        return False

    @display(description="risk", label=RISKS)
    def risk(self, tool: ToolVersion) -> str:
        return str(tool.manifest.get("risk", ""))

    @display(description="belongs to", ordering="project__name")
    def belongs_to(self, tool: ToolVersion) -> str:
        return str(tool.project) if tool.project else "all projects"

    @display(description="projects", ordering="uses_here")
    def use_count(self, tool: Any) -> int:
        return int(tool.uses_here)

    @display(description="deprecated", boolean=True)
    def is_deprecated(self, tool: ToolVersion) -> bool:
        return bool(tool.warning)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        actor = actor_of(request)
        if change:
            reason = form.cleaned_data["deprecated"]
            tools.deprecate_tool(actor=actor, tool=obj, reason=reason, as_operator=True)
            return
        made, _ = tools.register_tool(actor=actor, manifest=form.cleaned_data["manifest"])
        obj.pk = made.pk


@admin.register(ToolInstallation)
class ToolInstallationAdmin(PlatformAdmin):
    audited_by_service = True
    list_display = ("name", "version", "project", "is_pinned", "enabled", "installed_at")
    list_filter = (
        ("project", AutocompleteSelectFilter),
        "is_pinned",
        "enabled",
        ("installed_at", DayRangeFilter),
    )
    search_fields = ("name", "tool__version", "tool__sha256", "project__slug", "project__name")
    search_help_text = "Tool, version, hash or project"
    list_select_related = ("tool", "project", "installed_by")
    fields = ("project", "tool", "is_pinned", "enabled", "installed_by", "installed_at")
    readonly_fields = fields

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Projects install what they need, on their own pages."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @display(description="version", ordering="tool__version")
    def version(self, row: ToolInstallation) -> str:
        return row.tool.version

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        tools.uninstall_tool(
            actor=actor_of(request),
            project=obj.project,
            name=obj.name,
            version=obj.tool.version,
            as_operator=True,
        )

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        # What is pinned goes last: it cannot go while others stand beside it.
        for row in queryset.select_related("project", "tool").order_by("is_pinned"):
            self.delete_model(request, row)
