"""Every failure of the API becomes a problem document (RFC 9457)."""

from __future__ import annotations

from typing import Any

import structlog
from django.core.exceptions import PermissionDenied as DjangoPermissionDenied
from django.core.exceptions import ValidationError as DjangoValidationError
from django.db import IntegrityError
from django.http import Http404
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response

from apps.registry.models import User
from apps.registry.services import audit
from apps.registry.validation import invalid_input
from omni.contracts.errors import (
    Conflict,
    ErrorCategory,
    InvalidInput,
    NotFound,
    OmniError,
    PermissionDenied,
)
from omni.contracts.problem import CONTENT_TYPE, problem_from
from omni.telemetry import logs

log = structlog.get_logger(__name__)

# Beside these, the category alone decides about the status.
CATEGORIES: dict[type[exceptions.APIException], ErrorCategory] = {
    exceptions.NotAuthenticated: ErrorCategory.UNAUTHENTICATED,
    exceptions.AuthenticationFailed: ErrorCategory.UNAUTHENTICATED,
    exceptions.PermissionDenied: ErrorCategory.PERMISSION_DENIED,
    exceptions.NotFound: ErrorCategory.NOT_FOUND,
    exceptions.Throttled: ErrorCategory.RATE_LIMITED,
}
REMEDIES: dict[type[exceptions.APIException], str] = {
    exceptions.NotAuthenticated: "Send `Authorization: Bearer omni_…` with an API token.",
    exceptions.AuthenticationFailed: "Make a new token in the workspace under API tokens.",
    exceptions.Throttled: "Wait as long as the Retry-After header says.",
    exceptions.MethodNotAllowed: "The Allow header lists what this address takes.",
    exceptions.NotAcceptable: "Accept application/json.",
    exceptions.UnsupportedMediaType: "Send application/json.",
}


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's hook; None lets Django log the failure and answer 500."""
    request: Request = context["request"]
    known = translate(error)
    if known is None:
        return None
    if known.category is ErrorCategory.PERMISSION_DENIED and isinstance(request.user, User):
        # By now the refused work has been rolled back.
        audit.record_denial(
            known, actor=request.user, method=request.method or "", path=request.path
        )
    if known.status >= 500:
        log.error("request_failed", exc_info=error, category=known.category.value)
    status = error.status_code if isinstance(error, exceptions.APIException) else known.status
    return problem_response(request, known, status=status, headers=_headers(error, known))


def problem_response(
    request: Request, error: OmniError, *, status: int, headers: dict[str, str] | None = None
) -> Response:
    problem = problem_from(
        error,
        instance=request.path,
        request_id=logs.request_id(),
        status=status,
    )
    return Response(problem, status=status, headers=headers, content_type=CONTENT_TYPE)


def translate(error: Exception) -> OmniError | None:
    """The error of the taxonomy that says what this exception means."""
    match error:
        case OmniError():
            return error
        case exceptions.ValidationError():
            return _invalid(error)
        case exceptions.APIException():
            return OmniError(
                _sentence(error),
                category=CATEGORIES.get(type(error), ErrorCategory.INVALID),
                remedy=REMEDIES.get(type(error), ""),
            )
        case Http404():
            return NotFound("There is nothing here, or it is not shared with you.")
        case DjangoPermissionDenied():
            return PermissionDenied("You may not do this.")
        case DjangoValidationError():
            return invalid_input(error)
        case IntegrityError():
            return Conflict(
                "Somebody else changed this at the same moment.", remedy="Look again and repeat."
            )
    return None


def _sentence(error: exceptions.APIException) -> str:
    if isinstance(error, exceptions.NotAuthenticated):
        return "This needs a sign-in."
    if isinstance(error, exceptions.Throttled):
        return "Too many requests in a short time."
    return str(error.detail)


def _invalid(error: exceptions.ValidationError) -> InvalidInput:
    errors = error.detail if isinstance(error.detail, dict) else {"": error.detail}
    message = " ".join(_flat(errors, "")) or "The request is not valid."
    return InvalidInput(message[:2000], data={"errors": errors})


def _flat(errors: Any, where: str) -> list[str]:
    """Messages in one line each, prefixed with the field they are about."""
    if isinstance(errors, dict):
        pairs = [
            (f"{where}.{key}" if where and key else str(key or where), errors[key])
            for key in errors
        ]
        return [text for name, each in pairs for text in _flat(each, name)]
    if isinstance(errors, list):
        return [text for each in errors for text in _flat(each, where)]
    return [f"{where}: {errors}" if where else str(errors)]


def _headers(error: Exception, known: OmniError) -> dict[str, str]:
    headers = {}
    if challenge := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    wait = getattr(error, "wait", None) or known.data.get("retry_after")
    if wait:
        headers["Retry-After"] = str(int(wait))
    return headers
