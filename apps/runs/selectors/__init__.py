"""Reads of the runs app; every one of a project's things starts from what the person may see."""

from apps.runs.selectors.approvals import visible_approval, visible_approvals
from apps.runs.selectors.artifacts import artifacts_of, use_of_artifact
from apps.runs.selectors.events import EventPage, event_page, visible_event
from apps.runs.selectors.runs import RunDetail, run_detail, visible_run, visible_runs
from apps.runs.selectors.threads import visible_thread, visible_threads
from apps.runs.selectors.workers import (
    MISSED_REPORTS,
    holder_of,
    live_workers,
    worker_seen_by,
    workers,
    workers_seen_by,
)

__all__ = [
    "MISSED_REPORTS",
    "EventPage",
    "RunDetail",
    "artifacts_of",
    "event_page",
    "holder_of",
    "live_workers",
    "run_detail",
    "use_of_artifact",
    "visible_approval",
    "visible_approvals",
    "visible_event",
    "visible_run",
    "visible_runs",
    "visible_thread",
    "visible_threads",
    "worker_seen_by",
    "workers",
    "workers_seen_by",
]
