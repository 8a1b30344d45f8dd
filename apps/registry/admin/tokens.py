"""API tokens: seen and revoked here, made only by the person they belong to."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from unfold.contrib.filters.admin import AutocompleteSelectFilter

from apps.registry.admin.base import ReadOnlyAdmin, action, actor_of, display
from apps.registry.admin.filters import DayRangeFilter
from apps.registry.models import ApiToken
from apps.registry.services.tokens import revoke_token

SOON = timedelta(days=14)


class TokenStateFilter(admin.SimpleListFilter):
    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("usable", "Usable"),
            ("soon", "Expires within 14 days"),
            ("expired", "Expired"),
            ("revoked", "Revoked"),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        now = timezone.now()
        match self.value():
            case "usable":
                return queryset.filter(revoked_at=None, expires_at__gt=now)
            case "soon":
                return queryset.filter(revoked_at=None, expires_at__range=(now, now + SOON))
            case "expired":
                return queryset.filter(revoked_at=None, expires_at__lte=now)
            case "revoked":
                return queryset.exclude(revoked_at=None)
        return queryset


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    audited_by_service = True
    has_history = True
    list_display = ("name", "begins", "user", "may", "state", "expires_at", "last_used_at")
    list_filter = (
        TokenStateFilter,
        ("user", AutocompleteSelectFilter),
        ("expires_at", DayRangeFilter),
        ("last_used_at", DayRangeFilter),
    )
    search_fields = ("name", "prefix", "user__email", "user__name")
    search_help_text = "Name, first characters, or the person's address"
    list_select_related = ("user",)
    date_hierarchy = "created_at"
    fields = (
        "name",
        "begins",
        "user",
        "may",
        "state",
        "created_at",
        "expires_at",
        "last_used_at",
        "revoked_at",
    )
    readonly_fields = ("begins", "may", "state")
    actions = ("revoke",)
    actions_detail = ("revoke_one",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiToken]:
        return super().get_queryset(request).defer("digest")

    @display(description="begins with", ordering="prefix")
    def begins(self, token: ApiToken) -> str:
        return f"{token.prefix}…"

    @display(description="scopes", label=True)
    def may(self, token: ApiToken) -> list[str]:
        return list(token.scopes)

    @display(
        description="state",
        label={"usable": "success", "expires soon": "warning", "revoked": "danger"},
    )
    def state(self, token: ApiToken) -> str:
        if token.revoked_at:
            return "revoked"
        if not token.is_usable:
            return "expired"
        return "expires soon" if token.expires_at < timezone.now() + SOON else "usable"

    def has_revoke_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return actor_of(request).has_perm("registry.change_apitoken")

    @admin.action(description="Revoke", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        actor = actor_of(request)
        self.apply(
            request,
            queryset.filter(revoked_at=None),
            lambda token: revoke_token(actor=actor, token=token),
            ("{} token revoked.", "{} tokens revoked."),
        )

    @action(description="Revoke", icon="block", permissions=["revoke"])
    def revoke_one(self, request: HttpRequest, object_id: str) -> HttpResponse:
        token = self.found(request, object_id, change=False)

        def change() -> str:
            revoke_token(actor=actor_of(request), token=token)
            return f"{token.name} is revoked."

        lines = [f"What uses “{token.name}” loses access at once. This cannot be undone."]
        return self.confirm(
            request, token, change, title="Revoke token", lines=lines, button="Revoke"
        )
