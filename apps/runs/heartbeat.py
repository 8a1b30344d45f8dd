"""A Celery worker's signals become its reports; a database that is away does not stop it."""

from __future__ import annotations

import os
import time
import uuid
from typing import Any

import structlog
from celery.signals import heartbeat_sent, worker_ready, worker_shutdown
from django.db import Error, close_old_connections

from apps.runs.models import Worker
from apps.runs.services.workers import report_worker, start_worker, stop_worker
from omni import config

log = structlog.get_logger(__name__)


class Heartbeat:
    """Reports one process at most every `heartbeat_seconds`."""

    def __init__(self, kind: Worker.Kind, **details: Any) -> None:
        self._kind = kind
        self._details = details
        self._worker_id: uuid.UUID | None = None
        self._last = 0.0

    def beat(self) -> None:
        now = time.monotonic()
        if self._last and now - self._last < config.current().heartbeat_seconds:
            return
        self._last = now
        close_old_connections()
        try:
            if self._worker_id is None or not report_worker(self._worker_id):
                self._worker_id = start_worker(kind=self._kind, pid=os.getpid(), **self._details)
        except Error as error:
            log.warning("heartbeat_failed", kind=self._kind.value, error=str(error))

    def stop(self) -> None:
        if self._worker_id is None:
            return
        try:
            stop_worker(self._worker_id)
        except Error as error:
            log.warning("heartbeat_failed", kind=self._kind.value, error=str(error))


_worker: Heartbeat | None = None


def _ready(sender: Any, **_: Any) -> None:
    global _worker
    _worker = Heartbeat(
        Worker.Kind.WORKER,
        queues=sorted(sender.app.amqp.queues.consume_from),
        concurrency=sender.pool.limit or 1 if getattr(sender, "pool", None) else 1,
    )
    _worker.beat()


def _sent(**_: Any) -> None:
    if _worker is not None:
        _worker.beat()


def _shutdown(**_: Any) -> None:
    if _worker is not None:
        _worker.stop()


def connect() -> None:
    worker_ready.connect(_ready, dispatch_uid="runs.worker_ready")
    heartbeat_sent.connect(_sent, dispatch_uid="runs.heartbeat_sent")
    worker_shutdown.connect(_shutdown, dispatch_uid="runs.worker_shutdown")


def worker_id() -> uuid.UUID:
    """Who takes leases in this process; each pool child has an id of its own."""
    global _driver_id
    if _driver_id is None or _driver_id[0] != os.getpid():
        _driver_id = (os.getpid(), uuid.uuid4())
    return _driver_id[1]


_driver_id: tuple[int, uuid.UUID] | None = None
