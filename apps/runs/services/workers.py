"""Workers and beat report here: started, still alive, stopped."""

from __future__ import annotations

import uuid
from datetime import timedelta

from django.db.models.functions import Now

from apps.runs.models import Worker
from omni import __version__, config

# Enough to see what happened lately, few enough to read.
KEEP = 50


def start_worker(
    *, kind: Worker.Kind, pid: int, queues: list[str] | None = None, concurrency: int = 1
) -> uuid.UUID:
    worker = Worker.objects.create(
        kind=kind,
        node_id=config.current().node_id,
        pid=pid,
        queues=queues or [],
        concurrency=concurrency,
        version=__version__,
        started_at=Now(),
        seen_at=Now(),
    )
    return worker.pk


def report_worker(worker_id: uuid.UUID) -> bool:
    """Note that it is alive, by the database's clock; False when its row was removed meanwhile."""
    return bool(Worker.objects.filter(pk=worker_id).update(seen_at=Now(), stopped_at=None))


def stop_worker(worker_id: uuid.UUID) -> None:
    Worker.objects.filter(pk=worker_id).update(seen_at=Now(), stopped_at=Now())


def forget_old_workers() -> int:
    """Keep the most recent ones and every one that may still be alive."""
    kept = Worker.objects.order_by("-seen_at").values("pk")[:KEEP]
    count, _ = (
        Worker.objects.exclude(pk__in=kept).filter(seen_at__lt=Now() - timedelta(days=1)).delete()
    )
    return count
