"""Pages of the runs app in the admin console; importing them registers them."""

from apps.runs.admin import approvals, artifacts, budgets, runs, threads, workers

__all__ = ["approvals", "artifacts", "budgets", "runs", "threads", "workers"]
