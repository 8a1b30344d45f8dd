"""Spans to an OpenTelemetry collector, as OTLP over HTTP with protobuf.

Only the messages of the protocol are used: spans come from recorded events, so there is nothing
to trace, sample or propagate in this process.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import structlog

from omni.telemetry.sinks.base import FindRun, Line
from omni.telemetry.sinks.spans import Assembler, Span, Value

log = structlog.get_logger(__name__)
TIMEOUT_SECONDS = 10.0
ATTEMPTS = 3
PAUSE_SECONDS = 0.5
# The protocol says which refusals pass by themselves.
PASSING = (429, 502, 503, 504)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class OtlpSink:
    """The exporting end; what is collected there is a copy, and may have gaps."""

    name = "otlp"

    def __init__(
        self,
        endpoint: str,
        *,
        headers: Mapping[str, str],
        resource: Mapping[str, Value],
        find_run: FindRun,
    ) -> None:
        self._endpoint = endpoint
        self._resource = dict(resource)
        self._assembler = Assembler(find_run)
        self._client = httpx.Client(
            timeout=TIMEOUT_SECONDS,
            trust_env=False,
            headers={**headers, "Content-Type": "application/x-protobuf"},
        )

    def write(self, batch: list[Line]) -> None:
        spans = [span for line in batch for span in self._assembler.spans(line)]
        if spans:
            self._send(encode(spans, self._resource))

    def close(self) -> None:
        self._client.close()

    def _send(self, body: bytes) -> None:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                answer = self._client.post(self._endpoint, content=body)
                if answer.status_code not in PASSING:
                    break
            except httpx.TransportError:
                if attempt == ATTEMPTS:
                    raise
            time.sleep(PAUSE_SECONDS * attempt)
        answer.raise_for_status()
        _note_rejected(answer.content)


def ask(endpoint: str, headers: Mapping[str, str]) -> None:
    """Whether a collector takes an empty request; raises httpx.HTTPError when it does not."""
    kind = {"Content-Type": "application/x-protobuf"}
    with httpx.Client(timeout=3, trust_env=False, headers={**headers, **kind}) as client:
        client.post(endpoint, content=b"").raise_for_status()


def encode(spans: list[Span], resource: Mapping[str, Value]) -> bytes:
    """One request with these spans."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    _set_attributes(group.resource.attributes, resource)
    scope = group.scope_spans.add()
    scope.scope.name = "omni"
    for span in spans:
        _add(scope.spans, span)
    return bytes(request.SerializeToString())


def _add(target: Any, span: Span) -> None:
    from opentelemetry.proto.trace.v1.trace_pb2 import Span as Message
    from opentelemetry.proto.trace.v1.trace_pb2 import Status

    message = target.add(
        trace_id=span.trace_id,
        span_id=span.span_id,
        parent_span_id=span.parent_id,
        name=span.name,
        kind=Message.SPAN_KIND_CLIENT if span.is_client else Message.SPAN_KIND_INTERNAL,
        start_time_unix_nano=_nanoseconds(span.start),
        end_time_unix_nano=_nanoseconds(span.end),
    )
    attributes = dict(span.attributes)
    if span.error:
        attributes["error.type"] = span.error
        message.status.code = Status.STATUS_CODE_ERROR
    _set_attributes(message.attributes, attributes)
    for trace_id, span_id in span.links:
        message.links.add(trace_id=trace_id, span_id=span_id)


def _set_attributes(target: Any, attributes: Mapping[str, Value]) -> None:
    for name, value in attributes.items():
        held = target.add(key=name).value
        match value:
            case bool():
                held.bool_value = value
            case int():
                held.int_value = value
            case float():
                held.double_value = value
            case str():
                held.string_value = value
            case list():
                for each in value:
                    held.array_value.values.add(string_value=each)


def _nanoseconds(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1) * 1000


def _note_rejected(content: bytes) -> None:
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    try:
        partial = ExportTraceServiceResponse.FromString(content).partial_success
    except DecodeError:
        return
    if partial.rejected_spans:
        log.warning(
            "telemetry_spans_rejected",
            spans=partial.rejected_spans,
            error=partial.error_message[:200],
        )
