"""The runs app's place in the house and its entries in the workspace."""

from django.apps import AppConfig

from omni.contracts.navigation import NavItem


class RunsConfig(AppConfig):
    name = "apps.runs"
    label = "runs"
    verbose_name = "Runs and workers"
    navigation = (
        NavItem("Runs", "runs:run_list", "play", "Work", 30, "threads executions history"),
        NavItem(
            "Approvals",
            "runs:approval_list",
            "hand",
            "Work",
            40,
            "inbox questions waiting permission",
            count="runs:approval_count",
            stream="/api/approvals/stream",
        ),
        NavItem(
            "Workers", "runs:worker_list", "cpu", "Platform", 60, "nodes beat heartbeat queues"
        ),
    )

    project_tabs = (NavItem("Threads", "runs:thread_list", "chat", "Project", 15),)

    def ready(self) -> None:
        from celery.signals import worker_process_shutdown

        from apps.runs import heartbeat
        from apps.runs.eventlog import feed

        heartbeat.connect()
        # A worker's processes end without Python's own farewell.
        worker_process_shutdown.connect(feed.leave, dispatch_uid="telemetry")
