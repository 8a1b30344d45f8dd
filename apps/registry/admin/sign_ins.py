"""Sign-ins and wrong passwords as axes counts them, with what unlocks an account."""

from __future__ import annotations

from typing import Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.conf import settings
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from apps.registry.admin.base import ReadOnlyAdmin, actor_of, display
from apps.registry.admin.filters import DayRangeFilter
from apps.registry.lockout import shown_login
from apps.registry.services.accounts import unlock_sign_in

# Wrong passwords are in the audit log; axes' own list of them is switched off and stays empty.
for model in (AccessAttempt, AccessLog, AccessFailureLog):
    admin.site.unregister(model)


class LockedFilter(admin.SimpleListFilter):
    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("locked", "Locked"), ("counting", "Still counting")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        limit = settings.AXES_FAILURE_LIMIT
        match self.value():
            case "locked":
                return queryset.filter(failures_since_start__gte=limit)
            case "counting":
                return queryset.filter(failures_since_start__lt=limit)
        return queryset


class SignInAdmin(ReadOnlyAdmin):
    """What was typed as a login is kept and shown only where it is an account's address."""

    search_fields = ("username", "ip_address", "user_agent")
    search_help_text = "Login, address or browser"
    date_hierarchy = "attempt_time"

    @display(description="login", ordering="username")
    def login(self, row: Any) -> str:
        return shown_login(row.username)

    @display(description="browser", ordering="user_agent")
    def browser(self, row: Any) -> str:
        return str(row.user_agent)[:80]

    def get_object(self, request: HttpRequest, object_id: str, from_field: Any = None) -> Any:
        row = super().get_object(request, object_id, from_field)
        if row is not None:
            # The titles of its pages are made from it.
            row.username = shown_login(row.username)
        return row


@admin.register(AccessAttempt)
class AccessAttemptAdmin(SignInAdmin):
    audited_by_service = True
    list_display = (
        "login",
        "state",
        "failures_since_start",
        "ip_address",
        "browser",
        "attempt_time",
    )
    list_filter = (LockedFilter, ("attempt_time", DayRangeFilter))
    fields = (
        "login",
        "state",
        "failures_since_start",
        "ip_address",
        "user_agent",
        "path_info",
        "attempt_time",
    )
    readonly_fields = ("login", "state")
    actions = ("unlock",)

    @display(description="state", label={"locked": "danger", "counting": "warning"})
    def state(self, row: AccessAttempt) -> str:
        locked = row.failures_since_start >= settings.AXES_FAILURE_LIMIT
        return "locked" if locked else "counting"

    def has_unlock_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return actor_of(request).has_perm("axes.delete_accessattempt")

    @admin.action(description="Unlock", permissions=["unlock"])
    def unlock(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        actor = actor_of(request)
        pairs = {(row.username, row.ip_address) for row in queryset}
        self.apply(
            request,
            sorted(pairs, key=str),
            lambda pair: unlock_sign_in(actor=actor, email=pair[0] or "", ip_address=pair[1]) > 0,
            ("{} login unlocked.", "{} logins unlocked."),
        )


@admin.register(AccessLog)
class AccessLogAdmin(SignInAdmin):
    list_display = ("login", "ip_address", "browser", "attempt_time", "logout_time")
    list_filter = (("attempt_time", DayRangeFilter), ("logout_time", DayRangeFilter))
    fields = ("login", "ip_address", "user_agent", "path_info", "attempt_time", "logout_time")
    readonly_fields = ("login",)
