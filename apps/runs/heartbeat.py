"""A Celery worker's signals become its reports; a database that is away does not stop it."""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import structlog
from celery.signals import (
    heartbeat_sent,
    worker_init,
    worker_ready,
    worker_shutdown,
    worker_shutting_down,
)
from django.db import Error, close_old_connections, connections

from apps.runs.models import Worker
from apps.runs.services.workers import (
    drain_worker,
    ready_worker,
    report_worker,
    start_worker,
    stop_worker,
)
from omni import config

log = structlog.get_logger(__name__)


class Heartbeat:
    """Reports one process, from its start to its end, at most every `heartbeat_seconds`."""

    def __init__(self, kind: Worker.Kind, *, is_ready: bool = True) -> None:
        self.worker_id = uuid.uuid4()
        self._kind = kind
        self._is_ready = is_ready
        self._details: dict[str, Any] = {}
        self._last = 0.0
        self._stopped = threading.Event()
        self._draining: threading.Thread | None = None

    def beat(self) -> None:
        now = time.monotonic()
        if self._last and now - self._last < config.current().heartbeat_seconds:
            return
        self._last = now
        with self._reporting():
            if not report_worker(self.worker_id):
                self._start()

    def ready(self, *, queues: list[str], concurrency: int) -> None:
        """It takes work from now on."""
        self._is_ready = True
        self._details = {"queues": queues, "concurrency": concurrency}
        with self._reporting():
            if not ready_worker(self.worker_id, **self._details):
                self._start()

    def drain(self) -> None:
        """Celery reports no more while it waits for its last tasks; a thread does until it ends."""
        if self._draining is None:
            self._draining = threading.Thread(target=self._drain, name="draining", daemon=True)
            self._draining.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._draining is not None:
            self._draining.join(timeout=5)
        with self._reporting():
            stop_worker(self.worker_id)

    def _drain(self) -> None:
        try:
            with self._reporting():
                drain_worker(self.worker_id)
            while not self._stopped.wait(config.current().heartbeat_seconds):
                with self._reporting():
                    report_worker(self.worker_id)
        finally:
            connections.close_all()

    def _start(self) -> None:
        start_worker(
            kind=self._kind,
            pid=os.getpid(),
            worker_id=self.worker_id,
            is_ready=self._is_ready,
            **self._details,
        )

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        close_old_connections()
        try:
            yield
        except Error as error:
            log.warning("heartbeat_failed", kind=self._kind.value, error=str(error))


_worker: Heartbeat | None = None


def _init(**_: Any) -> None:
    global _worker
    _worker = Heartbeat(Worker.Kind.WORKER, is_ready=False)
    _worker.beat()
    # The pool is forked from this process and must not inherit the connection.
    connections.close_all()


def _ready(sender: Any, **_: Any) -> None:
    if _worker is not None:
        _worker.ready(
            queues=sorted(sender.app.amqp.queues.consume_from),
            concurrency=sender.pool.limit or 1 if getattr(sender, "pool", None) else 1,
        )


def _sent(**_: Any) -> None:
    if _worker is not None:
        _worker.beat()


def _shutting_down(**_: Any) -> None:
    if _worker is not None:
        _worker.drain()


def _shutdown(**_: Any) -> None:
    if _worker is not None:
        _worker.stop()


def connect() -> None:
    worker_init.connect(_init, dispatch_uid="runs.worker_init")
    worker_ready.connect(_ready, dispatch_uid="runs.worker_ready")
    heartbeat_sent.connect(_sent, dispatch_uid="runs.heartbeat_sent")
    worker_shutting_down.connect(_shutting_down, dispatch_uid="runs.worker_shutting_down")
    worker_shutdown.connect(_shutdown, dispatch_uid="runs.worker_shutdown")


def worker_id() -> uuid.UUID:
    """Who takes leases here: the worker that reports, which its pool of processes shares.

    What keeps two of them apart at one run is the lease's epoch, never its owner.
    """
    return _worker.worker_id if _worker is not None else _unreported


_unreported = uuid.uuid4()
