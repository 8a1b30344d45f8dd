"""Addresses of the runs app's API."""

from django.urls import path

from apps.runs.api import approvals, artifacts, calls, events, runs, threads, workers
from apps.runs.live.urls import urlpatterns as streams

app_name = "runs_api"

urlpatterns = [
    path("workers", workers.WorkerList.as_view(), name="workers"),
    path("workers/<uuid:id>", workers.WorkerDetail.as_view(), name="worker"),
    path("projects/<slug:slug>/threads", threads.ThreadList.as_view(), name="threads"),
    path("projects/<slug:slug>/calls", calls.CallList.as_view(), name="calls"),
    path("threads/<uuid:id>", threads.ThreadDetail.as_view(), name="thread"),
    path("threads/<uuid:id>/runs", runs.ThreadRunList.as_view(), name="thread_runs"),
    path("runs", runs.RunList.as_view(), name="runs"),
    path("runs/<uuid:id>", runs.RunDetailDoor.as_view(), name="run"),
    path("runs/<uuid:id>/messages", runs.RunMessages.as_view(), name="run_messages"),
    path("runs/<uuid:id>/cancel", runs.RunCancel.as_view(), name="run_cancel"),
    path("runs/<uuid:id>/resume", runs.RunResume.as_view(), name="run_resume"),
    path("runs/<uuid:id>/retry", runs.RunRetry.as_view(), name="run_retry"),
    path("runs/<uuid:id>/rollback", runs.RunRollback.as_view(), name="run_rollback"),
    path("runs/<uuid:id>/verify", events.RunVerify.as_view(), name="run_verify"),
    path("runs/<uuid:id>/events", events.EventList.as_view(), name="run_events"),
    path("runs/<uuid:id>/events/<int:seq>", events.EventDetail.as_view(), name="run_event"),
    path(
        "runs/<uuid:id>/events/<int:seq>/erase", events.EventErase.as_view(), name="run_event_erase"
    ),
    path("runs/<uuid:id>/artifacts", artifacts.RunArtifacts.as_view(), name="run_artifacts"),
    path("artifacts/<slug:sha256>", artifacts.ArtifactContent.as_view(), name="artifact"),
    path("approvals", approvals.ApprovalList.as_view(), name="approvals"),
    path("approvals/<uuid:id>", approvals.ApprovalDetail.as_view(), name="approval"),
    path("approvals/<uuid:id>/answer", approvals.ApprovalAnswer.as_view(), name="approval_answer"),
    *streams,
]
