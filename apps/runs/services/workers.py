"""Workers and beat report here: started, ready, still alive, draining, stopped."""

from __future__ import annotations

import uuid

from django.db.models.functions import Now

from apps.runs.models import Worker
from apps.runs.selectors.workers import live_workers
from omni import __version__, config


def start_worker(
    *,
    kind: Worker.Kind,
    pid: int,
    queues: list[str] | None = None,
    concurrency: int = 1,
    worker_id: uuid.UUID | None = None,
    is_ready: bool = True,
) -> uuid.UUID:
    """A process begins; the id is also the owner of the leases that it will take."""
    worker = Worker.objects.create(
        pk=worker_id or uuid.uuid4(),
        kind=kind,
        node_id=config.current().node_id,
        pid=pid,
        queues=queues or [],
        concurrency=concurrency,
        version=__version__,
        started_at=Now(),
        seen_at=Now(),
        ready_at=Now() if is_ready else None,
    )
    return worker.pk


def report_worker(worker_id: uuid.UUID) -> bool:
    """Note that it is alive, by the database's clock; False when its row was removed meanwhile."""
    return bool(Worker.objects.filter(pk=worker_id).update(seen_at=Now(), stopped_at=None))


def ready_worker(worker_id: uuid.UUID, *, queues: list[str], concurrency: int) -> bool:
    """It takes work from now on; False when there is no row of it."""
    return bool(
        Worker.objects.filter(pk=worker_id).update(
            seen_at=Now(), ready_at=Now(), queues=queues, concurrency=concurrency
        )
    )


def drain_worker(worker_id: uuid.UUID) -> None:
    """It was asked to stop: what it has it finishes, more it does not take."""
    Worker.objects.filter(pk=worker_id).update(seen_at=Now(), draining_at=Now())


def stop_worker(worker_id: uuid.UUID) -> None:
    Worker.objects.filter(pk=worker_id).update(seen_at=Now(), stopped_at=Now())


def forget_old_workers() -> int:
    """Keep the most recent ones, and of the others every one that is alive."""
    kept = Worker.objects.order_by("-seen_at").values("pk")[: config.current().workers_kept]
    alive = live_workers().values("pk")
    count, _ = Worker.objects.exclude(pk__in=kept).exclude(pk__in=alive).delete()
    return count
