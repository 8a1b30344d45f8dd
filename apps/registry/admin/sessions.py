"""Browser sessions. Their keys are passwords, so rows are named by a digest of them."""

from __future__ import annotations

from typing import Any, NoReturn

from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import CharField, Func, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from unfold.admin import checkbox
from unfold.contrib.filters.admin import AutocompleteSelectFilter

from apps.registry.admin.base import ReadOnlyAdmin, actor_of, display
from apps.registry.admin.filters import DayRangeFilter
from apps.registry.models import Session
from apps.registry.services.accounts import end_session

HANDLE = Func(
    "session_key",
    template="encode(sha256(convert_to(%(expressions)s, 'UTF8')), 'hex')",
    output_field=CharField(),
)


@admin.register(Session)
class SessionAdmin(ReadOnlyAdmin):
    audited_by_service = True
    list_display = (
        "user",
        "state",
        "address",
        "browser",
        "signed_in_at",
        "seen_at",
        "expires",
    )
    list_display_links = None
    list_filter = (
        ("user", AutocompleteSelectFilter),
        ("signed_in_at", DayRangeFilter),
        ("expire_date", DayRangeFilter),
    )
    search_fields = ("user__email", "user__name", "user_agent")
    search_help_text = "Person or browser"
    list_select_related = ("user",)
    date_hierarchy = "seen_at"
    ordering = ("-seen_at",)
    actions = ("end",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Session]:
        found: QuerySet[Session] = super().get_queryset(request)
        return found.defer("session_data").annotate(handle=HANDLE)

    @display(description="state", label={"signed in": "success", "expired": "warning"})
    def state(self, session: Session) -> str:
        if session.expire_date <= timezone.now():
            return "expired"
        return "signed in" if session.user_id else "visitor"

    @display(description="browser", ordering="user_agent")
    def browser(self, session: Session) -> str:
        return session.user_agent[:80]

    @display(description="IP address", ordering="ip_address")
    def address(self, session: Session) -> str:
        return session.ip_address or "–"

    @display(description="expires", ordering="expire_date")
    def expires(self, session: Session) -> Any:
        return session.expire_date

    # Everything that would put the key into a page goes through the handle or does not exist.

    def action_checkbox(self, obj: Any) -> Any:
        return checkbox.render(ACTION_CHECKBOX_NAME, obj.handle)

    action_checkbox.short_description = checkbox.render("action_toggle_all", 1)  # type: ignore[attr-defined]

    def response_action(self, request: HttpRequest, queryset: QuerySet[Any], *where: Any) -> Any:
        handles = request.POST.getlist(ACTION_CHECKBOX_NAME)
        keys = queryset.filter(handle__in=handles).values_list("session_key", flat=True)
        chosen = request.POST.copy()
        chosen.setlist(ACTION_CHECKBOX_NAME, list(keys))
        request.POST = chosen  # type: ignore[assignment]
        return super().response_action(request, queryset, *where)

    def change_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> NoReturn:
        raise Http404

    def history_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> NoReturn:
        raise Http404

    def has_end_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return actor_of(request).has_perm("registry.delete_session")

    @admin.action(description="End: sign these browsers out", permissions=["end"])
    def end(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        actor = actor_of(request)
        self.apply(
            request,
            # One's own ends with a sign-out: this very answer still belongs to it.
            queryset.exclude(pk=request.session.session_key),
            lambda session: end_session(actor=actor, session=session),
            ("{} session ended.", "{} sessions ended."),
        )
        return None
