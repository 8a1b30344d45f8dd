"""`/metrics` for Prometheus: requests as they are answered, the platform's state as it is asked."""

from __future__ import annotations

import hmac
import os
from collections.abc import Iterator
from http import HTTPMethod

import redis
import structlog
from django.db import Error, connection
from django.http import HttpRequest, HttpResponse

from apps.runs.eventlog import feed
from omni import __version__, config
from omni.contracts.errors import OmniError, PermissionDenied
from omni.edge import platform_state
from omni.edge.client import is_local

# With several web processes each scrape reaches only one of them, so they count in shared files.
# The library decides on import, therefore before it.
if config.current().web_workers > 1:
    _folder = config.current().run_dir / "metrics"
    _folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", str(_folder))

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

log = structlog.get_logger("omni.edge")

_METHODS = frozenset(HTTPMethod)
_requests_registry = CollectorRegistry()
REQUESTS = Counter(
    "omni_http_requests",
    "Requests answered, by route name, method and status.",
    ("route", "method", "status"),
    registry=_requests_registry,
)
DURATION = Histogram(
    "omni_http_request_duration_seconds",
    "Time until the answer was ready to send, by route name and method.",
    ("route", "method"),
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
    registry=_requests_registry,
)


def observe(method: str, route: str, status: int, seconds: float) -> None:
    """Count an answer. Labels come from closed sets: a caller cannot make up new series."""
    verb = method if method in _METHODS else "OTHER"
    name = route or "unmatched"
    REQUESTS.labels(name, verb, str(status)).inc()
    DURATION.labels(name, verb).observe(seconds)


def metrics(request: HttpRequest) -> HttpResponse:
    """The view. Only for the bearer of the token, or without one only for this machine."""
    if not _is_allowed(request):
        raise PermissionDenied(
            "Metrics are for the operator of this platform.",
            remedy="Send OMNI_METRICS_TOKEN as a bearer token, or ask from the machine itself.",
        )
    return HttpResponse(generate_latest(_registry()), content_type=CONTENT_TYPE_LATEST)


def _is_allowed(request: HttpRequest) -> bool:
    token = config.current().metrics_token
    if not token:
        return is_local(request)
    given = request.headers.get("Authorization", "")
    return hmac.compare_digest(given.encode(), f"Bearer {token}".encode())


def _registry() -> CollectorRegistry:
    registry = CollectorRegistry()
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    else:
        registry.register(_RequestMetrics())
        # Memory and file handles describe one process; they would mislead with several.
        ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    registry.register(_PlatformMetrics())
    return registry


class _RequestMetrics(Collector):
    def collect(self) -> Iterator[Metric]:
        yield from _requests_registry.collect()


class _PlatformMetrics(Collector):
    """Read from the database at every scrape; without one, only that is reported."""

    def collect(self) -> Iterator[Metric]:
        info = GaugeMetricFamily("omni_info", "Version of the platform.", labels=("version",))
        info.add_metric((__version__,), 1)
        yield info
        try:
            found = list(self._from_database())
        except (Error, OmniError) as error:
            log.warning("metrics_without_database", error=str(error))
            found = []
        yield GaugeMetricFamily(
            "omni_database_up", "Whether the database answered.", value=float(bool(found))
        )
        yield from found
        yield from _telemetry()

    def _from_database(self) -> Iterator[Metric]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_database_size(current_database())")
            (size,) = cursor.fetchone()
        yield GaugeMetricFamily("omni_database_bytes", "Size of the database.", value=size)
        counts = platform_state.counts()
        for name, (text, by_label) in counts.items():
            family = GaugeMetricFamily(name, text, labels=("kind",))
            for label, number in by_label.items():
                family.add_metric((label,), number)
            yield family


def _telemetry() -> Iterator[Metric]:
    """What became of the copies of events; absent while Redis is away or no sink is set."""
    try:
        counts = feed.counts()
    except redis.RedisError as error:
        log.warning("metrics_without_redis", error=str(error))
        return
    family = CounterMetricFamily(
        "omni_telemetry_events",
        "Events handed to telemetry sinks: written, dropped before a slow sink, or failed in it.",
        labels=("sink", "outcome"),
    )
    for (sink, outcome), number in sorted(counts.items()):
        family.add_metric((sink, outcome), number)
    if counts:
        yield family
