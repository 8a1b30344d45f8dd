"""The edge's own addresses and a few views that fail on purpose."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import BadRequest, SuspiciousOperation
from django.core.exceptions import PermissionDenied as DjangoDenied
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.urls import path
from django.utils import timezone

from omni.contracts import errors
from omni.edge.health import healthz, readyz
from omni.edge.metrics import metrics
from omni.telemetry import logs

handler400 = "omni.edge.errors.bad_request"
handler403 = "omni.edge.errors.permission_denied"
handler404 = "omni.edge.errors.not_found"
handler500 = "omni.edge.errors.server_error"

FAILURES: dict[str, Exception] = {
    "400": BadRequest("hunter2"),
    "suspicious": SuspiciousOperation("hunter2"),
    "403": DjangoDenied("hunter2"),
    "404": Http404("hunter2"),
    "500": RuntimeError("hunter2"),
    "database": OperationalError("host db.internal hunter2"),
    "conflict": errors.Conflict("Somebody was faster.", remedy="Load the page again."),
    "field": errors.InvalidInput.field("name", "Too long."),
}


def fail(request: HttpRequest, kind: str) -> HttpResponse:
    raise FAILURES[kind]


def show(request: HttpRequest, **_: Any) -> HttpResponse:
    return JsonResponse(
        {
            "zone": timezone.get_current_timezone_name(),
            "ids": logs.carried(),
            "user": str(request.user),
            "body": len(request.body),
        }
    )


def page(request: HttpRequest) -> HttpResponse:
    return HttpResponse(f"<p>{request.user}")


async def stream(request: HttpRequest) -> StreamingHttpResponse:
    async def parts() -> Any:
        for number in range(3):
            yield f"data: {number}\n\n"

    return StreamingHttpResponse(parts(), content_type="text/event-stream")


urlpatterns = [
    path("fail/<kind>", fail),
    path("api/fail/<kind>", fail),
    path("show", show, name="show"),
    path("api/show", show),
    path("link/<token>", show, name="link"),
    path("page", page),
    path("stream", stream),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
]
