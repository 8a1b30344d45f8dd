"""The problem document (RFC 9457) that answers every failed request of a program."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from omni.contracts.errors import ErrorCategory, OmniError

CONTENT_TYPE = "application/problem+json"

TITLES: dict[ErrorCategory, str] = {
    ErrorCategory.INVALID: "The request is not valid",
    ErrorCategory.UNAUTHENTICATED: "Sign in first",
    ErrorCategory.PERMISSION_DENIED: "Not allowed",
    ErrorCategory.NOT_FOUND: "Not found",
    ErrorCategory.CONFLICT: "In conflict with the present state",
    ErrorCategory.IDEMPOTENCY_MISMATCH: "This Idempotency-Key was used for another request",
    ErrorCategory.TOO_LARGE: "The request is too large",
    ErrorCategory.RATE_LIMITED: "Too many requests",
    ErrorCategory.UNAVAILABLE: "Not available at the moment",
    ErrorCategory.MISCONFIGURED: "The platform is not set up correctly",
    ErrorCategory.INTERNAL: "Something went wrong here",
}


class Problem(TypedDict):
    """Twin of `v1/problem.schema.json`."""

    type: str
    title: str
    status: int
    detail: str
    category: str
    instance: NotRequired[str]
    remedy: NotRequired[str]
    errors: NotRequired[dict[str, Any]]
    request_id: NotRequired[str]


def problem_from(
    error: OmniError, *, instance: str = "", request_id: str = "", status: int | None = None
) -> Problem:
    """Describe an error; `status` is for a response that HTTP asks to carry another number."""
    problem = Problem(
        type=f"/problems/{error.category.value}",
        title=TITLES[error.category],
        status=status or error.status,
        detail=error.message,
        category=error.category.value,
    )
    if instance:
        problem["instance"] = instance
    if error.remedy:
        problem["remedy"] = error.remedy
    if errors := error.data.get("errors"):
        problem["errors"] = errors
    if request_id:
        problem["request_id"] = request_id
    return problem
