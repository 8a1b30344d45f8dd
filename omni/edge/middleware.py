"""The outermost and the innermost Django middleware: ids, log line, headers, time zone.

Both are synchronous on purpose. Under ASGI a stack of asynchronous middleware changes threads for
every hook of Django's own classes; one synchronous member at the inner end makes Django run all of
them, and the usual synchronous view, in a single thread: 2.6 times less CPU for an empty view.
Asynchronous views still stream.
"""

from __future__ import annotations

import time
import zoneinfo
from collections.abc import Callable

import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.utils.functional import LazyObject, empty

from apps.registry.models import User
from omni.contracts.errors import InvalidInput, OmniError
from omni.edge import metrics, request_id
from omni.edge.client import client_ip
from omni.edge.errors import respond
from omni.edge.wire import is_malformed
from omni.telemetry import logs
from omni.telemetry.known_secrets import MASK
from omni.telemetry.shapes import is_sensitive

log = structlog.get_logger("omni.request")

GetResponse = Callable[[HttpRequest], HttpResponseBase]

# Django sets nosniff, frame options, referrer policy and the opener policy itself.
HEADERS = {
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
# Asked for every few seconds by machines: counted, but not worth a line each.
STATIC = "/static/"
QUIET = ("/healthz", "/readyz", "/metrics", STATIC)
# These never show local times, and the probes must work without a database.
WITHOUT_PERSON = ("/api/", *QUIET)


class RequestMiddleware:
    """First in the list: names the request, refuses broken addresses, logs and counts."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        started = time.perf_counter()
        name = request_id.choose(request.headers.get(request_id.HEADER, ""))
        logs.unbind_all()
        logs.bind(request_id=name, ip=client_ip(request))
        try:
            response = self._answer(request)
            response[request_id.HEADER] = name
            _add_headers(request, response)
            _report(request, response, time.perf_counter() - started)
        finally:
            logs.unbind_all()
        return response

    def _answer(self, request: HttpRequest) -> HttpResponseBase:
        query = request.META.get("QUERY_STRING", "").encode("utf-8", "surrogateescape")
        if "\0" in request.path or is_malformed(query):
            return respond(request, InvalidInput("The address of the request is not valid text."))
        return self.get_response(request)


class PersonMiddleware:
    """Last in the list: the signed-in person's time zone and id, and errors of the taxonomy."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        user = None if request.path.startswith(WITHOUT_PERSON) else _session_user(request)
        if user is None:
            return self.get_response(request)
        logs.bind(user_id=user.pk)
        with timezone.override(_zone(user.time_zone)):
            return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """A view may simply let an error of the taxonomy rise."""
        if not isinstance(error, OmniError):
            return None
        if error.status >= 500:
            log.error("request_failed", exc_info=error, category=error.category.value)
        return respond(request, error)


def known_user(request: HttpRequest) -> User | None:
    """Whoever signed in, if some view has asked for it; asking here would cost a query."""
    user = request.__dict__.get("user")
    if isinstance(user, LazyObject) and user.__dict__.get("_wrapped") is empty:
        return None
    return user if isinstance(user, User) else None


def _session_user(request: HttpRequest) -> User | None:
    if settings.SESSION_COOKIE_NAME not in request.COOKIES:
        return None
    return request.user if isinstance(request.user, User) else None


def _zone(name: str) -> zoneinfo.ZoneInfo:
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return zoneinfo.ZoneInfo("UTC")


def _add_headers(request: HttpRequest, response: HttpResponseBase) -> None:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    is_page = response.headers.get("Content-Type", "").startswith("text/html")
    if is_page and known_user(request) and "Cache-Control" not in response:
        patch_cache_control(response, private=True, no_store=True)


def _report(request: HttpRequest, response: HttpResponseBase, seconds: float) -> None:
    match = request.resolver_match
    route = (match.view_name or match.route) if match else ""
    if not route and request.path.startswith(STATIC):
        route = "static"
    metrics.observe(request.method or "", route, response.status_code, seconds)
    if request.path.startswith(QUIET) and response.status_code < 500:
        return
    user = known_user(request)
    # No query string: it carries search words and what forms sent by mistake.
    log.info(
        "request",
        method=request.method,
        path=_loggable_path(request),
        route=route,
        status=response.status_code,
        duration_ms=round(seconds * 1000, 1),
        **({"user_id": str(user.pk)} if user else {}),
    )


def _loggable_path(request: HttpRequest) -> str:
    """The path without the tokens that password and invitation links have in it."""
    path = request.path[:300]
    for name, value in (request.resolver_match.kwargs if request.resolver_match else {}).items():
        if is_sensitive(name):
            path = path.replace(str(value), MASK)
    return path
