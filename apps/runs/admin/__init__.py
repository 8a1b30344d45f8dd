"""Pages of the runs app in the admin console; importing them registers them."""

from apps.runs.admin import approvals, artifacts, runs, threads, workers

__all__ = ["approvals", "artifacts", "runs", "threads", "workers"]
