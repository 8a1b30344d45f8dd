"""The error taxonomy: every failure that a person or a program sees is one of these."""

from __future__ import annotations

from enum import StrEnum
from typing import Any


class ErrorCategory(StrEnum):
    """Closed set; a program may branch on it, so names never change their meaning."""

    INVALID = "invalid"
    UNAUTHENTICATED = "unauthenticated"
    PERMISSION_DENIED = "permission_denied"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    IDEMPOTENCY_MISMATCH = "idempotency_mismatch"
    TOO_LARGE = "too_large"
    RATE_LIMITED = "rate_limited"
    UNAVAILABLE = "unavailable"
    MISCONFIGURED = "misconfigured"
    INTERNAL = "internal"


HTTP_STATUS: dict[ErrorCategory, int] = {
    ErrorCategory.INVALID: 400,
    ErrorCategory.UNAUTHENTICATED: 401,
    ErrorCategory.PERMISSION_DENIED: 403,
    ErrorCategory.NOT_FOUND: 404,
    ErrorCategory.CONFLICT: 409,
    ErrorCategory.IDEMPOTENCY_MISMATCH: 422,
    ErrorCategory.TOO_LARGE: 413,
    ErrorCategory.RATE_LIMITED: 429,
    ErrorCategory.UNAVAILABLE: 503,
    ErrorCategory.MISCONFIGURED: 500,
    ErrorCategory.INTERNAL: 500,
}


class OmniError(Exception):
    """A failure with a category, a sentence for people, a remedy, and data for programs."""

    category: ErrorCategory = ErrorCategory.INTERNAL

    def __init__(
        self,
        message: str,
        *,
        category: ErrorCategory | None = None,
        remedy: str = "",
        data: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.data = data or {}
        if category is not None:
            self.category = category

    @property
    def status(self) -> int:
        return HTTP_STATUS[self.category]

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


class InvalidInput(OmniError):
    """What was sent cannot be accepted; `data["errors"]` names the fields."""

    category = ErrorCategory.INVALID

    @classmethod
    def field(cls, name: str, message: str) -> InvalidInput:
        return cls(message, data={"errors": {name: [message]}})


class PermissionDenied(OmniError):
    category = ErrorCategory.PERMISSION_DENIED


class NotFound(OmniError):
    category = ErrorCategory.NOT_FOUND


class Conflict(OmniError):
    category = ErrorCategory.CONFLICT


class Unavailable(OmniError):
    category = ErrorCategory.UNAVAILABLE


class ConfigError(OmniError):
    """The platform is set up wrongly; the message says which setting and what to do."""

    category = ErrorCategory.MISCONFIGURED
