"""Runs and what follows from their events: read here, steered through services, proved."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from unfold.contrib.filters.admin import AutocompleteSelectFilter, ChoicesDropdownFilter

from apps.registry.admin.base import ReadOnlyAdmin, action, actor_of, display
from apps.registry.admin.filters import DayRangeFilter
from apps.registry.models import AuditAction
from apps.registry.services import audit
from apps.runs import eventlog
from apps.runs.models import Projection, Run
from apps.runs.selectors import event_page, holder_of
from apps.runs.services.runs import cancel_run, resume_run

EVENTS = 100
COLOURS = {
    "queued": "info", "running": "info", "waiting_permission": "warning", "done": "success",
    "failed": "danger", "cancelled": "warning",
}  # fmt: skip


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    list_display = (
        "id", "state", "run_kind", "project", "thread", "last_seq", "created_at", "ended_at",
    )  # fmt: skip
    list_filter = (
        ("status", ChoicesDropdownFilter),
        "run_kind",
        ("project", AutocompleteSelectFilter),
        ("created_at", DayRangeFilter),
        "cancel_requested",
    )
    search_fields = ("=id", "thread__title", "project__slug", "run_kind")
    search_help_text = "Id, thread, project or kind"
    list_select_related = ("project", "thread")
    fieldsets = (
        (None, {"fields": ("id", "state", "run_kind", "project", "thread", "created_by")}),
        ("Log", {"fields": ("last_seq", "tip_hash", "cancel_requested", "created_at", "ended_at")}),
        ("Relatives", {"fields": ("parent", "depth", "settled")}),
        (
            "Work",
            {
                "fields": (
                    "worker",
                    "lease_owner",
                    "lease_epoch",
                    "lease_until",
                    "due_at",
                    "attempts",
                )
            },
        ),
    )
    readonly_fields = ("id", "state", "worker", "created_at")
    actions = ("verify", "cancel", "resume")
    actions_detail = ("event_log", "verify_log")

    @display(description="status", ordering="status", label=COLOURS)
    def state(self, run: Run) -> str:
        return run.status

    @display(description="worker")
    def worker(self, run: Run) -> str:
        """Who drives it now."""
        holder = holder_of(run)
        if holder is None:
            return "–"
        return format_html(
            '<a href="{}">{}</a>', reverse("admin:runs_worker_change", args=[holder.pk]), holder
        )

    def has_steer_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Reading is free of it; changing happens through events, never on the row."""
        return actor_of(request).has_perm("runs.change_run")

    @admin.action(description="Verify the log", permissions=["view"])
    def verify(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        for run in queryset:
            self._tell(request, run)

    @admin.action(description="Cancel", permissions=["steer"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        def change(run: Run) -> bool:
            done = cancel_run(
                actor=actor_of(request), run=run, reason="by an operator", as_operator=True
            )
            return done and _record(request, run, "cancelled")

        done = ("{} run is being cancelled.", "{} runs are being cancelled.")
        self.apply(request, queryset.select_related("project"), change, done)

    @admin.action(description="Resume", permissions=["steer"])
    def resume(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        def change(run: Run) -> bool:
            resume_run(actor=actor_of(request), run=run, as_operator=True)
            return _record(request, run, "resumed")

        done = ("{} run is looked at.", "{} runs are looked at.")
        self.apply(request, queryset.select_related("project"), change, done)

    @action(description="Event log", icon="list", permissions=["view"])
    def event_log(self, request: HttpRequest, object_id: str) -> HttpResponse:
        run = self.found(request, object_id, change=False)
        given = request.GET.get("after", "0")
        after = int(given) if given.isascii() and given.isdigit() and len(given) < 19 else 0
        page = event_page(run, after=after, limit=EVENTS)
        return self.page(
            request,
            "admin/event_log.html",
            title=f"Event log of {run}",
            row=run,
            back=self.change_url(run),
            events=page.events,
            further_text=str(page.events[-1].seq) if page.more else "",
            earlier_text=str(max(0, after - EVENTS)) if after else "",
        )

    @action(description="Verify the log", icon="verified", permissions=["view"])
    def verify_log(self, request: HttpRequest, object_id: str) -> HttpResponse:
        run = self.found(request, object_id, change=False)
        verdict = eventlog.verify(run.pk)
        return self.page(
            request,
            "admin/verdict.html",
            title=f"Proof of {run}",
            row=run,
            back=self.change_url(run),
            verdict=verdict,
        )

    def _tell(self, request: HttpRequest, run: Run) -> None:
        verdict = eventlog.verify(run.pk)
        if verdict.ok:
            said = f"{run}: the log of {verdict.events} events holds."
            self.message_user(request, said, messages.SUCCESS)
        else:
            said = f"{run}: event {verdict.seq} does not hold: {verdict.reason}."
            self.message_user(request, said, messages.ERROR)


@admin.register(Projection)
class ProjectionAdmin(ReadOnlyAdmin):
    list_display = ("run_id", "status", "upto_seq")
    list_filter = (("run__project", AutocompleteSelectFilter),)
    search_fields = ("=run__id", "run__project__slug")
    search_help_text = "Run or project"
    list_select_related = ("run",)
    fields = ("run", "upto_seq", "state")

    @display(description="status", ordering="run__status", label=COLOURS)
    def status(self, projection: Projection) -> str:
        return projection.run.status


def _record(request: HttpRequest, run: Run, what: str) -> bool:
    """Owners of the project see that an operator, not a member, did this."""
    audit.record(
        AuditAction.ADMIN_CHANGED,
        actor=actor_of(request),
        project=run.project,
        target=run,
        data={"changed": "run", "what": what} | audit.operator_mark(True),
    )
    return True
