"""Secrets in the admin console: set and replaced, never read."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import AutocompleteSelectFilter
from unfold.widgets import UnfoldAdminPasswordWidget

from apps.registry.admin.base import PlatformAdmin, RowForm, actor_of, display
from apps.registry.admin.filters import DayRangeFilter
from apps.tools.models import Secret
from apps.tools.services.secrets import delete_secret, set_secret


class PlatformFilter(admin.SimpleListFilter):
    title = "belongs to"
    parameter_name = "scope"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("platform", "The whole platform"), ("project", "A project")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() in ("platform", "project"):
            return queryset.filter(project__isnull=self.value() == "platform")
        return queryset


class SecretForm(RowForm):
    value = forms.CharField(
        strip=False,
        help_text="Nobody can read it again, also not here.",
        # Never rendered with a value: not after an error, not for a stored secret.
        widget=UnfoldAdminPasswordWidget(
            attrs={"autocomplete": "new-password"}, render_value=False
        ),
    )

    class Meta:
        model = Secret
        fields = ("project", "name", "description")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "value" in self.fields and not self.instance._state.adding:
            self.fields["value"].label = "New value"
            self.fields["value"].help_text = "Replaces the stored one, which nobody can read."

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if self.instance._state.adding and "name" in data:
            same = Secret.objects.filter(project=data.get("project"), name=data["name"])
            if same.exists():
                self.add_error("name", "There is such a secret already; open it to replace it.")
        return data


@admin.register(Secret)
class SecretAdmin(PlatformAdmin):
    audited_by_service = True
    form = SecretForm
    list_display = ("name", "belongs_to", "description", "set_by", "updated_at", "last_used_at")
    list_filter = (
        PlatformFilter,
        ("project", AutocompleteSelectFilter),
        ("updated_at", DayRangeFilter),
        ("last_used_at", DayRangeFilter),
    )
    search_fields = ("name", "description", "project__name", "project__slug")
    search_help_text = "Name, description or project"
    list_select_related = ("project", "set_by")
    date_hierarchy = "updated_at"
    autocomplete_fields = ("project",)
    add_fieldsets = ((None, {"fields": ("project", "name", "value", "description")}),)
    fieldsets = (
        (None, {"fields": ("project", "name", "reference", "value", "description")}),
        ("Record", {"fields": ("set_by", "created_at", "updated_at", "last_used_at", "key_id")}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Secret]:
        return super().get_queryset(request).defer("ciphertext")

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        sections = super().get_fieldsets(request, obj)
        if obj is None or self.has_change_permission(request, obj):
            return sections
        # Those who only look get no field for a value at all.
        shown = tuple(name for name in sections[0][1]["fields"] if name != "value")
        return ((None, {"fields": shown}), *sections[1:])

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return ()
        fixed = ("project", "name", "reference", "set_by", "key_id")
        return (*fixed, "created_at", "updated_at", "last_used_at")

    @display(description="belongs to", ordering="project__name")
    def belongs_to(self, secret: Secret) -> str:
        return str(secret.project) if secret.project else "the whole platform"

    @display(description="reference")
    def reference(self, secret: Secret) -> str:
        return secret.reference

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        made, _ = set_secret(
            actor=actor_of(request),
            project=obj.project,
            name=obj.name,
            value=form.cleaned_data["value"],
            description=form.cleaned_data["description"],
            as_operator=True,
        )
        obj.pk = made.pk

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        delete_secret(actor=actor_of(request), project=obj.project, name=obj.name, as_operator=True)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for secret in queryset.select_related("project"):
            self.delete_model(request, secret)
