"""Groups: what operators may do in this console. Projects have roles instead."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth import admin as _auth_admin  # noqa: F401  (registers what is replaced)
from django.contrib.auth.models import Group
from django.db.models import Count
from django.http import HttpRequest

from apps.registry.admin.base import PlatformAdmin, actor_of, display

admin.site.unregister(Group)


@admin.register(Group)
class GroupAdmin(PlatformAdmin):
    list_display = ("name", "people", "permission_count")
    search_fields = ("name",)
    filter_horizontal = ("permissions",)

    def get_queryset(self, request: HttpRequest) -> Any:
        return (
            super()
            .get_queryset(request)
            .annotate(
                people_n=Count("user", distinct=True),
                permissions_n=Count("permissions", distinct=True),
            )
        )

    @display(description="people", ordering="people_n")
    def people(self, group: Any) -> int:
        return int(group.people_n)

    @display(description="permissions", ordering="permissions_n")
    def permission_count(self, group: Any) -> int:
        return int(group.permissions_n)

    def formfield_for_manytomany(self, db_field: Any, request: Any, **kwargs: Any) -> Any:
        if db_field.name == "permissions":
            related = db_field.remote_field.model.objects
            kwargs["queryset"] = related.select_related("content_type")
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    # A group gives rights: whoever could change one could give themselves any right.
    def has_add_permission(self, request: HttpRequest) -> bool:
        return actor_of(request).is_superuser and super().has_add_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return actor_of(request).is_superuser and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return actor_of(request).is_superuser and super().has_delete_permission(request, obj)
