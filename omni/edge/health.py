"""`/healthz` says that the process answers, `/readyz` that everything it needs does too."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NotRequired, TypedDict

import kombu
import redis
import structlog
from django.db import connection
from django.http import HttpRequest, HttpResponse

from apps.runs import selectors
from apps.runs.models import Worker
from apps.runs.storage import artifact_store
from omni import config
from omni.contracts.errors import Unavailable
from omni.edge.liveness import HEALTHY

log = structlog.get_logger("omni.edge")

TIMEOUT = 3.0
# Anyone may ask; together they cost the services one round of checks per second.
FRESH_SECONDS = 1.0


class Finding(TypedDict):
    """One check; `detail` is for anybody, so it names no host and quotes no exception."""

    status: str
    detail: str
    latency_ms: NotRequired[float]


def healthz(request: HttpRequest) -> HttpResponse:
    """The same answer for servers that do not run our ASGI application."""
    return _json(HEALTHY, 200)


def readyz(request: HttpRequest) -> HttpResponse:
    """200 when every check passes, else 503 with the checks that did not."""
    findings = _board.findings()
    is_ready = all(finding["status"] == "ok" for finding in findings.values())
    body = {"status": "ok" if is_ready else "fail", "checks": findings}
    return _json(json.dumps(body).encode(), 200 if is_ready else 503)


def _json(body: bytes, status: int) -> HttpResponse:
    response = HttpResponse(body, content_type="application/json", status=status)
    response["Cache-Control"] = "no-store"
    return response


def _check_database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    finally:
        connection.close()
    return "The database answers."


def _check_cache() -> str:
    url = config.current().resolved_redis_url()
    with redis.Redis.from_url(url, socket_timeout=2, socket_connect_timeout=2) as client:
        client.ping()
    return "The cache answers."


def _check_broker() -> str:
    url = config.current().resolved_broker_url()
    options = {"socket_timeout": 2, "socket_connect_timeout": 2} if url.startswith("redis") else {}
    with kombu.Connection(url, connect_timeout=2, transport_options=options) as broker:
        broker.connect()
    return "The broker answers."


def _check_artifacts() -> str:
    try:
        artifact_store().look()
    except Unavailable as error:
        raise _NotUsable(error.message) from error
    return "The artifact store answers."


def _check_worker() -> str:
    return _check_live(Worker.Kind.WORKER, "worker")


def _check_beat() -> str:
    return _check_live(Worker.Kind.BEAT, "beat")


def _check_live(kind: Worker.Kind, name: str) -> str:
    try:
        if not selectors.live_workers(kind).exists():
            raise _NotUsable(f"No {name} has reported lately.")
    finally:
        connection.close()
    return f"At least one {name} reports."


class _NotUsable(Exception):
    """A reason that anybody may read."""


CHECKS: dict[str, tuple[Callable[[], str], str]] = {
    "database": (_check_database, "The database does not answer."),
    "cache": (_check_cache, "The cache does not answer."),
    "broker": (_check_broker, "The broker does not answer."),
    "artifacts": (_check_artifacts, "The artifact store does not answer."),
    "worker": (_check_worker, "Whether a worker is alive cannot be found out."),
    "beat": (_check_beat, "Whether beat is alive cannot be found out."),
}


class _Board:
    """Runs the checks side by side, each at most once at a time; one that hangs blocks nobody."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(len(CHECKS), thread_name_prefix="readyz")
        self._running: dict[str, Future[Finding]] = {}
        self._findings: dict[str, Finding] = {}
        self._taken = float("-inf")

    def findings(self) -> dict[str, Finding]:
        with self._lock:
            if time.monotonic() - self._taken > FRESH_SECONDS:
                self._findings = self._look()
                self._taken = time.monotonic()
            return self._findings

    def forget(self) -> None:
        self._taken = float("-inf")

    def _look(self) -> dict[str, Finding]:
        deadline = time.monotonic() + TIMEOUT
        for name in CHECKS:
            if name not in self._running or self._running[name].done():
                self._running[name] = self._threads.submit(_examine, name)
        return {name: _outcome(name, self._running[name], deadline) for name in CHECKS}


def _examine(name: str) -> Finding:
    check, failure = CHECKS[name]
    started = time.perf_counter()
    try:
        status, detail = "ok", check()
    except _NotUsable as reason:
        status, detail = "fail", str(reason)
    except Exception as error:  # noqa: BLE001  (whatever a driver raises, the answer is "fail")
        log.warning("not_ready", check=name, error=f"{type(error).__name__}: {error}")
        status, detail = "fail", failure
    spent = round((time.perf_counter() - started) * 1000, 1)
    return Finding(status=status, detail=detail, latency_ms=spent)


def _outcome(name: str, future: Future[Finding], deadline: float) -> Finding:
    try:
        return future.result(timeout=max(0.0, deadline - time.monotonic()))
    except TimeoutError:
        log.warning("not_ready", check=name, error="no answer in time")
        return Finding(status="fail", detail=CHECKS[name][1])


_board = _Board()
