"""Error answers: a problem document for programs, a page for people, neither needing a database."""

from __future__ import annotations

import json
import sys
from typing import Any

from django.core.exceptions import (
    DisallowedHost,
    RequestDataTooBig,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.html import escape

from omni import config
from omni.contracts.errors import (
    ErrorCategory,
    InvalidInput,
    NotFound,
    OmniError,
    PermissionDenied,
    Unavailable,
)
from omni.contracts.problem import CONTENT_TYPE, TITLES, problem_from
from omni.edge.body_limit import too_large
from omni.telemetry import logs
from omni.workspace.context import BARE, PANES, RENDERED, pane, theme_of

RETRY_SECONDS = 5


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """`handler400`; the exception's own text stays in the log, it may quote what was sent."""
    if isinstance(exception, RequestDataTooBig):
        return respond(request, too_large(config.current().max_request_bytes))
    if isinstance(exception, TooManyFieldsSent | TooManyFilesSent):
        return respond(request, InvalidInput("The request has too many fields or files."))
    if isinstance(exception, DisallowedHost):
        return respond(
            request,
            InvalidInput(
                "This server does not answer to that host name.",
                remedy="The operator adds it to OMNI_ALLOWED_HOSTS.",
            ),
        )
    return respond(request, InvalidInput("The request cannot be understood."))


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """`handler403`."""
    message = "You may not do this."
    return respond(request, PermissionDenied(message, remedy="Ask an owner of the project."))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """`handler404`; it says the same whether a thing is absent or hidden from the caller."""
    message = "There is nothing here, or it is not shared with you."
    return respond(request, NotFound(message, remedy="Check the address."))


def server_error(request: HttpRequest) -> HttpResponse:
    """`handler500`; Django has logged the exception, whose text is not for visitors."""
    if isinstance(sys.exc_info()[1], OperationalError | InterfaceError):
        return respond(
            request,
            Unavailable("The database does not answer.", remedy="Try again in a few seconds."),
        )
    return respond(
        request,
        OmniError(
            "The platform failed to answer this request.",
            remedy="Try again; if it happens again, give the operator the request id.",
        ),
    )


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """`CSRF_FAILURE_VIEW`; the reason tells an attacker more than it tells a person."""
    return respond(
        request,
        PermissionDenied(
            "The form could not be checked: it is too old, or cookies are switched off.",
            remedy="Load the page again and repeat.",
        ),
    )


def respond(request: HttpRequest, error: OmniError, *, status: int | None = None) -> HttpResponse:
    """Answer with an error in the form that the caller can read."""
    code = status or error.status
    request_id = logs.request_id()
    if wants_json(request):
        problem = problem_from(error, instance=request.path, request_id=request_id, status=code)
        response = HttpResponse(json.dumps(problem), content_type=CONTENT_TYPE, status=code)
    else:
        response = HttpResponse(_page(request, error, code, request_id), status=code)
    response["Cache-Control"] = "no-store"
    if error.category is ErrorCategory.UNAVAILABLE:
        response["Retry-After"] = str(RETRY_SECONDS)
    return response


def wants_json(request: HttpRequest) -> bool:
    """Programs get JSON: below /api/, or where JSON is preferred to a page."""
    if request.path.startswith("/api/"):
        return True
    accepted = request.headers.get("Accept", "")
    if "json" not in accepted:
        return False
    kinds = ["text/html", "application/json", CONTENT_TYPE]
    return request.get_preferred_type(kinds) != "text/html"


def _page(request: HttpRequest, error: OmniError, status: int, request_id: str) -> str:
    context: dict[str, Any] = {
        "status": status,
        "title": TITLES[error.category],
        "message": error.message,
        "remedy": error.remedy,
        "request_id": request_id,
        "error_shell": PANES.get(pane(request), BARE),
        "theme": theme_of(request),
    }
    setattr(request, RENDERED, pane(request))
    try:
        # Without the request, so that no context processor asks the database that may be away.
        return render_to_string("workspace/error.html", context)
    except Exception:  # noqa: BLE001  (the last page must appear even if its template is broken)
        parts = (str(status), context["title"], error.message, error.remedy, request_id)
        return "<!doctype html><title>{1}</title><h1>{0} {1}</h1><p>{2} {3}</p><p>{4}</p>".format(
            *map(escape, parts)
        )
