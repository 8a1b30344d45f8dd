"""An OpenTelemetry collector for tests: a real HTTP server that decodes what it is sent."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


@dataclass
class Collector:
    url: str = ""
    requests: list[ExportTraceServiceRequest] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    # Statuses to answer with before it is well; the last one stays.
    statuses: list[int] = field(default_factory=lambda: [200])

    @property
    def spans(self) -> list[Any]:
        return [
            span
            for request in self.requests
            for group in request.resource_spans
            for scope in group.scope_spans
            for span in scope.spans
        ]

    def named(self, name: str) -> Any:
        [found] = [span for span in self.spans if span.name == name]
        return found


def values(span: Any) -> dict[str, Any]:
    """The attributes of a span or resource as plain values."""
    found = {}
    for each in span.attributes:
        kind = each.value.WhichOneof("value")
        value = getattr(each.value, kind)
        is_list = kind == "array_value"
        found[each.key] = [item.string_value for item in value.values] if is_list else value
    return found


@contextmanager
def collecting() -> Iterator[Collector]:
    collector = Collector()

    class Door(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = collector.statuses[0]
            if len(collector.statuses) > 1:
                collector.statuses.pop(0)
            if status == 200:
                assert self.headers["Content-Type"] == "application/x-protobuf"
                collector.headers.append(dict(self.headers))
                collector.requests.append(ExportTraceServiceRequest.FromString(body))
            answer = ExportTraceServiceResponse().SerializeToString()
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *args: object) -> None:
            return

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Door) as server:
        server.daemon_threads = True
        collector.url = f"http://127.0.0.1:{server.server_port}/v1/traces"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield collector
        finally:
            server.shutdown()
            thread.join()
