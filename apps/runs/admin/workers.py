"""Workers as they last reported, and the schedules that beat keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html_join
from django_celery_beat.admin import PeriodicTaskAdmin as BeatTaskAdmin
from django_celery_beat.admin import PeriodicTaskForm as BeatTaskForm
from django_celery_beat.admin import TaskSelectWidget
from django_celery_beat.models import (
    ClockedSchedule,
    CrontabSchedule,
    IntervalSchedule,
    PeriodicTask,
    SolarSchedule,
)
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from apps.registry.admin.base import (
    PlatformAdmin,
    ReadOnlyAdmin,
    ReadOnlyInline,
    RowForm,
    display,
)
from apps.registry.admin.filters import DayRangeFilter
from apps.runs import selectors
from apps.runs.models import Worker
from apps.runs.selectors.workers import held_runs
from apps.runs.services import schedules

if TYPE_CHECKING:
    TaskForm = RowForm
else:
    TaskForm = BeatTaskForm

for model in (PeriodicTask, ClockedSchedule, CrontabSchedule, IntervalSchedule, SolarSchedule):
    admin.site.unregister(model)


STATE_COLOURS = {
    "starting": "info", "idle": "success", "busy": "success", "running": "success",
    "draining": "warning", "stopped": "info", "lost": "danger",
}  # fmt: skip


class StateFilter(admin.SimpleListFilter):
    """One state, or all in which a process still reports."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("alive", "Alive"), *Worker.State.choices]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "alive":
            return queryset.filter(alive=True)
        if self.value() in Worker.State.values:
            return queryset.filter(state=self.value())
        return queryset


@admin.register(Worker)
class WorkerAdmin(ReadOnlyAdmin):
    list_display = (
        "process", "kind", "state", "busy", "queue_names", "concurrency", "version", "seen_at",
    )  # fmt: skip
    list_filter = (StateFilter, ("kind", ChoicesDropdownFilter), ("seen_at", DayRangeFilter))
    search_fields = ("node_id", "queues", "version", "=pid")
    search_help_text = "Machine, queue, version or process id"
    fields = (
        "process",
        "kind",
        "state",
        "current_runs",
        "queue_names",
        "concurrency",
        "version",
        "started_at",
        "ready_at",
        "seen_at",
        "draining_at",
        "stopped_at",
    )
    readonly_fields = ("process", "state", "current_runs", "queue_names")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Worker]:
        return selectors.workers()

    @display(description="process", ordering="node_id")
    def process(self, worker: Worker) -> str:
        return f"{worker.node_id} · {worker.pid}"

    @display(description="state", ordering="state", label=STATE_COLOURS)
    def state(self, worker: Any) -> str:
        return str(worker.state)

    @display(description="runs now", ordering="busy")
    def busy(self, worker: Any) -> int:
        return int(worker.busy)

    @display(description="runs now")
    def current_runs(self, worker: Worker) -> str:
        held = held_runs().filter(lease_owner=worker.pk).order_by("created_at")
        links = [(reverse("admin:runs_run_change", args=[run.pk]), run) for run in held]
        return format_html_join(", ", '<a href="{}">{}</a>', links) or "–"

    @display(description="queues")
    def queue_names(self, worker: Worker) -> str:
        return ", ".join(worker.queues) or "–"


class TaskChoice(UnfoldAdminSelectWidget, TaskSelectWidget):
    """Celery's list of known tasks in the console's dress."""


class PeriodicTaskForm(TaskForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "task" in self.fields:
            self.fields["task"].widget = UnfoldAdminTextInputWidget()
            self.fields["regtask"].widget = TaskChoice()


@admin.register(PeriodicTask)
class PeriodicTaskAdmin(PlatformAdmin):
    form = PeriodicTaskForm
    fieldsets = BeatTaskAdmin.fieldsets
    list_display = ("name", "state", "when", "task", "last_run_at", "total_run_count")
    list_filter = ("enabled", "one_off", ("last_run_at", DayRangeFilter))
    search_fields = ("name", "task", "description")
    list_select_related = ("interval", "crontab", "solar", "clocked")
    readonly_fields = ("last_run_at", "crontab_translation")
    ordering = ("name",)
    actions = ("switch_on", "switch_off", "run_now")

    @display(description="state", label={"on": "success", "off": "warning"})
    def state(self, task: PeriodicTask) -> str:
        return "on" if task.enabled else "off"

    @display(description="when")
    def when(self, task: PeriodicTask) -> str:
        return str(task.scheduler) if task.scheduler else "–"

    @display(description="in words")
    def crontab_translation(self, task: PeriodicTask) -> str:
        return str(task.crontab.human_readable) if task.crontab else "–"

    @admin.action(description="Switch on", permissions=["change"])
    def switch_on(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self._switch(request, queryset, True, ("{} schedule is on.", "{} schedules are on."))

    @admin.action(description="Switch off", permissions=["change"])
    def switch_off(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self._switch(request, queryset, False, ("{} schedule is off.", "{} schedules are off."))

    def _switch(
        self, request: HttpRequest, rows: QuerySet[Any], enabled: bool, done: tuple[str, str]
    ) -> None:
        actor: Any = request.user
        self.apply(
            request,
            rows.exclude(enabled=enabled),
            lambda task: schedules.switch_schedule(actor=actor, task=task, enabled=enabled),
            done,
        )

    @admin.action(description="Run now", permissions=["change"])
    def run_now(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        actor: Any = request.user
        self.apply(
            request,
            queryset,
            lambda task: schedules.run_schedule(actor=actor, task=task),
            ("{} task sent to the workers.", "{} tasks sent to the workers."),
        )
        if not selectors.live_workers(Worker.Kind.WORKER).exists():
            problem = "No worker is alive; the task waits until one is."
            self.message_user(request, problem, messages.WARNING)


class TasksInline(ReadOnlyInline):
    model = PeriodicTask
    fields = readonly_fields = ("name", "task", "enabled", "last_run_at")
    verbose_name_plural = "Tasks on this schedule"


class ScheduleAdmin(PlatformAdmin):
    inlines = (TasksInline,)

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).annotate(task_count=Count("periodictask"))

    @display(description="tasks", ordering="task_count")
    def tasks(self, schedule: Any) -> int:
        return int(schedule.task_count)

    def get_inlines(self, request: HttpRequest, obj: Any) -> Any:
        return self.inlines if obj else ()


@admin.register(IntervalSchedule)
class IntervalScheduleAdmin(ScheduleAdmin):
    list_display = ("__str__", "tasks")
    list_filter = (("period", ChoicesDropdownFilter),)
    search_fields = ("period", "=every")


@admin.register(CrontabSchedule)
class CrontabScheduleAdmin(ScheduleAdmin):
    list_display = ("__str__", "human_readable", "tasks")
    list_filter = ("timezone",)
    search_fields = ("minute", "hour", "day_of_week", "day_of_month", "month_of_year")
    fields = (
        "human_readable",
        "minute",
        "hour",
        "day_of_month",
        "month_of_year",
        "day_of_week",
        "timezone",
    )
    readonly_fields = ("human_readable",)


@admin.register(ClockedSchedule)
class ClockedScheduleAdmin(ScheduleAdmin):
    list_display = ("clocked_time", "tasks")
    list_filter = (("clocked_time", DayRangeFilter),)
    search_fields = ("clocked_time",)
    fields = ("clocked_time",)


@admin.register(SolarSchedule)
class SolarScheduleAdmin(ScheduleAdmin):
    list_display = ("event", "latitude", "longitude", "tasks")
    list_filter = (("event", ChoicesDropdownFilter),)
    search_fields = ("event",)
