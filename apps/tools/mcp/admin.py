"""MCP servers in the admin console: their state, private places, and a queue of definitions."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from unfold.contrib.filters.admin import AutocompleteSelectFilter, ChoicesDropdownFilter

from apps.registry.admin.base import (
    PlatformAdmin,
    ReadOnlyAdmin,
    RowForm,
    action,
    actor_of,
    display,
)
from apps.registry.admin.filters import DayRangeFilter
from apps.tools.models import McpCatalog, McpCheck, McpEntry, McpServer
from apps.tools.services import mcp_catalog, mcp_checks, mcp_servers

STATUS = {"Healthy": "success", "Failing": "danger", "Not checked yet": "info"}
STATES = {
    "new": "warning", "changed": "warning", "quarantined": "danger", "accepted": "success",
    "removed": "info",
}  # fmt: skip


class McpServerForm(RowForm):
    class Meta:
        model = McpServer
        fields = ("project", "slug", *mcp_servers.FIELDS)

    def clean(self) -> dict[str, Any]:
        """An empty JSON field arrives as nothing; the service wants an empty list or map."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        for name in ("headers", "environment", "credentials"):
            data[name] = data.get(name) or {}
        for name in ("command", "egress", "allowed_private"):
            data[name] = data.get(name) or []
        if self.instance._state.adding and "slug" in data:
            same = McpServer.objects.filter(project=data.get("project"), slug=data["slug"])
            if same.exists():
                raise forms.ValidationError({"slug": "There is such a server already."})
        return data


@admin.register(McpServer)
class McpServerAdmin(PlatformAdmin):
    audited_by_service = True
    form = McpServerForm
    list_display = ("slug", "project", "health", "transport", "waiting", "last_checked_at")
    list_filter = (
        ("status", ChoicesDropdownFilter),
        ("transport", ChoicesDropdownFilter),
        "enabled",
        ("project", AutocompleteSelectFilter),
        ("last_checked_at", DayRangeFilter),
    )
    search_fields = ("slug", "description", "url", "project__name", "project__slug")
    search_help_text = "Name, description, address or project"
    list_select_related = ("project",)
    autocomplete_fields = ("project",)
    actions = ("check_now",)
    fieldsets = (
        (None, {"fields": ("project", "slug", "description", "enabled", "transport")}),
        ("Over HTTP", {"fields": ("url", "headers", "allowed_private")}),
        ("A program", {"fields": ("command", "environment", "egress")}),
        ("Credentials", {"fields": ("credentials",)}),
    )
    RECORD = (
        "Record",
        {"fields": ("health", "reported_name", "protocol", "faults", "added_by", "last_checked_at",
                    "created_at")},
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> Any:
        waiting = Count("entries", filter=Q(entries__state__in=("new", "changed", "quarantined")))
        return super().get_queryset(request).annotate(waiting_here=waiting)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.fieldsets if obj is None else (*self.fieldsets, self.RECORD)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return () if obj is None else ("project", "slug", *self.RECORD[1]["fields"])

    @display(description="state", ordering="status", label=STATUS)
    def health(self, server: McpServer) -> str:
        return server.get_status_display()

    @display(description="to look at", ordering="waiting_here")
    def waiting(self, server: Any) -> int:
        return int(server.waiting_here)

    @admin.action(description="Check now", permissions=["change"])
    def check_now(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        person = actor_of(request)
        self.apply(
            request,
            queryset.select_related("project"),
            lambda row: mcp_checks.request_check(actor=person, server=row, as_operator=True),
            ("{} server is being checked.", "{} servers are being checked."),
        )

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        person = actor_of(request)
        given = {name: form.cleaned_data[name] for name in mcp_servers.FIELDS}
        if change:
            stored = McpServer.objects.select_related("project").get(pk=obj.pk)
            mcp_servers.change_server(actor=person, server=stored, as_operator=True, **given)
            return
        made = mcp_servers.add_server(
            actor=person, project=obj.project, slug=obj.slug, as_operator=True, **given
        )
        mcp_checks.send_check(made.pk)
        obj.pk = made.pk

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        mcp_servers.remove_server(actor=actor_of(request), server=obj, as_operator=True)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for server in queryset.select_related("project"):
            self.delete_model(request, server)


@admin.register(McpEntry)
class McpEntryAdmin(ReadOnlyAdmin):
    """The queue of definitions that wait for somebody to look at them."""

    list_display = ("name", "queue", "kind", "server", "problem", "accepted_by", "seen_at")
    list_filter = (
        ("state", ChoicesDropdownFilter),
        ("kind", ChoicesDropdownFilter),
        ("server__project", AutocompleteSelectFilter),
        ("seen_at", DayRangeFilter),
    )
    search_fields = ("name", "server__slug", "server__project__slug", "definition_sha256")
    search_help_text = "Name, server, project or hash"
    list_select_related = ("server__project", "accepted_by")
    actions_detail = ("accept_definition", "reject_definition")
    fields = (
        "server", "kind", "name", "queue", "problem", "renamed_from", "definition_sha256",
        "definition", "accepted_sha256", "accepted_definition", "accepted_by", "accepted_at",
        "seen_at",
    )  # fmt: skip
    readonly_fields = ("queue",)

    @display(description="state", ordering="state", label=STATES)
    def queue(self, entry: McpEntry) -> str:
        return entry.state

    def has_answer_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return actor_of(request).has_perm(mcp_servers.OPERATOR)

    @action(description="Accept", icon="check", permissions=["view", "answer"])
    def accept_definition(self, request: HttpRequest, object_id: str) -> HttpResponse:
        entry = self.found(request, object_id, change=False)
        shown = request.GET.get("sha256", "")
        if not shown:
            # The address names what is looked at, so that nothing else is accepted by it.
            return HttpResponseRedirect(f"{request.path}?sha256={entry.definition_sha256}")

        def accept() -> str:
            mcp_catalog.accept_entries(
                actor=actor_of(request), server=entry.server, expected={entry.pk: shown},
                as_operator=True,
            )  # fmt: skip
            return f"{entry.name} is accepted."

        return self.confirm(
            request, entry, accept, title="Accept", button="Accept definition",
            lines=(
                "Members can then pin it as a tool. Look at its definition before you accept it.",
                f"SHA-256 {shown[:64]}",
            ),
        )  # fmt: skip

    @action(description="Reject", icon="block", permissions=["view", "answer"])
    def reject_definition(self, request: HttpRequest, object_id: str) -> HttpResponse:
        entry = self.found(request, object_id, change=False)

        def reject() -> str:
            mcp_catalog.reject_entry(actor=actor_of(request), entry=entry, as_operator=True)
            return f"{entry.name} is not used from now on."

        return self.confirm(
            request, entry, reject, title="Reject", button="Reject definition",
            lines=("Nothing uses it until somebody accepts it.",),
        )  # fmt: skip


@admin.register(McpCheck)
class McpCheckAdmin(ReadOnlyAdmin):
    list_display = ("at", "server", "ok", "latency_ms", "category", "message")
    list_filter = (
        "ok",
        ("server__project", AutocompleteSelectFilter),
        ("at", DayRangeFilter),
    )
    search_fields = ("server__slug", "category", "message")
    search_help_text = "Server, category or message"
    list_select_related = ("server",)
    fields = ("server", "at", "ok", "latency_ms", "category", "message")


@admin.register(McpCatalog)
class McpCatalogAdmin(ReadOnlyAdmin):
    list_display = ("server", "number", "at", "sha256")
    list_filter = (("server__project", AutocompleteSelectFilter), ("at", DayRangeFilter))
    search_fields = ("server__slug", "sha256")
    search_help_text = "Server or hash"
    list_select_related = ("server",)
    fields = ("server", "number", "at", "sha256", "entries")
