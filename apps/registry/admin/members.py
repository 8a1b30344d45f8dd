"""Who holds which role in which project, and the object permissions that follow from it."""

from __future__ import annotations

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html
from unfold.contrib.filters.admin import AutocompleteSelectFilter, ChoicesDropdownFilter

from apps.registry.admin.base import ReadOnlyAdmin, display
from apps.registry.admin.filters import DayRangeFilter
from apps.registry.models import Membership, Project, ProjectUserObjectPermission


@admin.register(Membership)
class MembershipAdmin(ReadOnlyAdmin):
    list_display = ("user", "role", "in_project", "added_by", "added_at", "change")
    list_filter = (
        ("role", ChoicesDropdownFilter),
        ("project", AutocompleteSelectFilter),
        ("user", AutocompleteSelectFilter),
        ("added_at", DayRangeFilter),
    )
    search_fields = ("user__email", "user__name", "project__name", "project__slug")
    list_select_related = ("user", "project", "added_by")
    ordering = ("project__name", "user__email", "role")
    date_hierarchy = "added_at"

    @display(description="project", ordering="project__name")
    def in_project(self, row: Membership) -> str:
        return _link(row.project)

    @display(description="")
    def change(self, row: Membership) -> str:
        url = reverse("admin:registry_project_change_roles", args=[row.project_id])
        return format_html('<a class="text-link" href="{}">Change roles</a>', url)


@admin.register(ProjectUserObjectPermission)
class ProjectPermissionAdmin(ReadOnlyAdmin):
    list_display = ("user", "may", "in_project")
    list_filter = (
        ("content_object", AutocompleteSelectFilter),
        ("user", AutocompleteSelectFilter),
    )
    search_fields = ("user__email", "content_object__name", "permission__codename")
    list_select_related = ("user", "content_object", "permission")
    ordering = ("content_object__name", "user__email", "permission__codename")

    @display(description="may", ordering="permission__codename")
    def may(self, row: ProjectUserObjectPermission) -> str:
        return row.permission.name

    @display(description="project", ordering="content_object__name")
    def in_project(self, row: ProjectUserObjectPermission) -> str:
        return _link(row.content_object)


def _link(project: Project) -> str:
    url = reverse("admin:registry_project_change", args=[project.pk])
    return format_html('<a class="text-link" href="{}">{}</a>', url, project)
