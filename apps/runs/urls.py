"""Addresses of threads, runs, approvals and workers in the workspace."""

from django.urls import path

from apps.runs.views import (
    actions,
    approvals,
    artifacts,
    runs,
    streams,
    threads,
    timeline,
    tryout,
    workers,
)

app_name = "runs"

urlpatterns = [
    path("projects/<slug:slug>/threads", threads.thread_list, name="thread_list"),
    path("projects/<slug:slug>/threads/new", threads.thread_create, name="thread_create"),
    path(
        "projects/<slug:slug>/threads/<uuid:thread_id>",
        threads.thread_detail,
        name="thread_detail",
    ),
    path(
        "projects/<slug:slug>/threads/<uuid:thread_id>/runs",
        threads.thread_runs,
        name="thread_runs",
    ),
    path("projects/<slug:slug>/tools/<str:tool>/try", tryout.try_tool, name="tool_try"),
    path("runs/", runs.run_list, name="run_list"),
    path("runs/stream", streams.RunsStream.as_view(), name="runs_stream"),
    path("runs/<uuid:run_id>", runs.run_detail, name="run_detail"),
    path("runs/<uuid:run_id>/summary", runs.run_summary, name="run_summary"),
    path("runs/<uuid:run_id>/timeline", timeline.timeline_events, name="timeline_events"),
    path(
        "runs/<uuid:run_id>/timeline/stream",
        streams.TimelineStream.as_view(),
        name="timeline_stream",
    ),
    path("runs/<uuid:run_id>/events/<int:seq>", runs.run_event, name="run_event"),
    path("runs/<uuid:run_id>/verify", runs.run_verify, name="run_verify"),
    path("runs/<uuid:run_id>/artifacts", artifacts.attach, name="run_attach"),
    path("runs/<uuid:run_id>/artifacts/<slug:sha256>", artifacts.download, name="artifact"),
    path("runs/<uuid:run_id>/cancel", actions.cancel, name="run_cancel"),
    path("runs/<uuid:run_id>/resume", actions.resume, name="run_resume"),
    path("runs/<uuid:run_id>/rollback", actions.rollback, name="run_rollback"),
    path("runs/<uuid:run_id>/retry", actions.retry, name="run_retry"),
    path("approvals/", approvals.approval_list, name="approval_list"),
    path("approvals/rows", approvals.approval_rows, name="approval_rows"),
    path("approvals/count", approvals.approval_count, name="approval_count"),
    path("approvals/<uuid:approval_id>", approvals.approval_detail, name="approval_detail"),
    path("approvals/<uuid:approval_id>/panel", approvals.approval_panel, name="approval_panel"),
    path("workers/", workers.worker_list, name="worker_list"),
    path("workers/rows", workers.worker_rows, name="worker_rows"),
    path("workers/<uuid:worker_id>", workers.worker_detail, name="worker_detail"),
]
