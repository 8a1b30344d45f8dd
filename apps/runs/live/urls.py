"""Addresses of live streams below /api/."""

from django.urls import path

from apps.runs.live import doors

urlpatterns = [
    path("runs/<uuid:id>/stream", doors.RunStream.as_view(), name="run_stream"),
    path("projects/<slug:slug>/stream", doors.ProjectStream.as_view(), name="project_stream"),
    path("approvals/stream", doors.ApprovalStream.as_view(), name="approval_stream"),
]
