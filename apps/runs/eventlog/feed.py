"""Hands committed events to the telemetry sinks, which never make anybody wait."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Sequence
from typing import Any

import redis
import structlog
from django.conf import settings
from django.db import connection

from apps.runs.eventlog.envelope import Event
from apps.runs.models.run import Run
from omni import config
from omni.telemetry.sinks import Counts, Pipeline, RunFacts

log = structlog.get_logger(__name__)
COUNTS_KEY = "omni:telemetry"
LEAVING_SECONDS = 2.0
KEPT_COUNTS_SECONDS = 30 * 86_400


def observe(events: Sequence[Event]) -> None:
    """After the commit; costs nothing when no sink is set."""
    if not config.current().telemetry_sinks:
        return
    try:
        _pipeline_here().put(events)
    except Exception as error:  # noqa: BLE001  (the run must not notice)
        log.warning("telemetry_skipped", error=f"{type(error).__name__}: {error}")


def leave(*_: Any, **__: Any) -> None:
    """This process ends: give the sinks a moment for what still waits."""
    global _pipeline
    pipeline, _pipeline = _pipeline, None
    if pipeline is not None and _pid == os.getpid():
        pipeline.close(LEAVING_SECONDS)


def counts() -> dict[tuple[str, str], int]:
    """Events by sink and outcome, over all processes, as they last reported."""
    with _counter() as client:
        kept: Any = client.hgetall(COUNTS_KEY)
    found = {}
    for field, value in kept.items():
        sink, _, outcome = field.decode().partition(":")
        found[sink, outcome] = int(value)
    return found


def _pipeline_here() -> Pipeline:
    """One for each process: threads do not survive a fork."""
    global _pipeline, _pid
    if _pipeline is None or _pid != os.getpid():
        with _starting:
            if _pipeline is None or _pid != os.getpid():
                from omni.telemetry.sinks.build import build

                current = config.current()
                sinks = build(current, find_run=_find_run)
                _pipeline = Pipeline(sinks, limit=current.telemetry_queue, report=_report)
                _pid = os.getpid()
    return _pipeline


def _find_run(run_id: str) -> RunFacts | None:
    """In the sink's own thread, with a connection that it gives back at once."""
    try:
        row = Run.objects.filter(pk=run_id).values_list(
            "run_kind", "created_at", "project_id", "thread_id", "parent_id"
        )
        found = row.first()
    finally:
        connection.close()
    return RunFacts(*found) if found else None


def _report(sink: str, news: Counts) -> None:
    with _counter() as client, client.pipeline(transaction=False) as pipe:
        for outcome in ("written", "dropped", "failed"):
            if number := getattr(news, outcome):
                pipe.hincrby(COUNTS_KEY, f"{sink}:{outcome}", number)
        pipe.expire(COUNTS_KEY, KEPT_COUNTS_SECONDS)
        pipe.execute()


def _counter() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=1, socket_timeout=1)


_pipeline: Pipeline | None = None
_pid = 0
_starting = threading.Lock()
os.register_at_fork(after_in_child=lambda: globals().update(_starting=threading.Lock()))
atexit.register(leave)
