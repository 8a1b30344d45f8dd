"""Why a request did not get an answer, in the few words that callers tell apart."""

from __future__ import annotations

from typing import Any

from omni.contracts.errors import ErrorCategory, OmniError
from omni.contracts.types.shapes import ToolErrorCategory


class EgressError(OmniError):
    """A request to the network that gave no answer."""

    category = ErrorCategory.UNAVAILABLE
    tool_error: ToolErrorCategory = "unavailable"
    """How a tool call that fails with it is recorded."""

    def __init__(
        self,
        message: str,
        *,
        sent: bool = False,
        remedy: str = "",
        data: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message, remedy=remedy, data=data)
        self.sent = sent
        """Whether the other side may have seen the request, and so acted on it."""


class Forbidden(EgressError):
    """It may not leave: its address, host, port or form is not allowed."""

    category = ErrorCategory.PERMISSION_DENIED
    tool_error: ToolErrorCategory = "permission_denied"


class Unreachable(EgressError):
    """Nobody answered: no such name, no route, connection refused, broken or not trusted."""


class TimedOut(EgressError):
    """It took longer than it may."""

    tool_error: ToolErrorCategory = "timeout"


class TooLarge(EgressError):
    """The answer, its headers or what it unpacks to is larger than it may be."""

    category = ErrorCategory.TOO_LARGE
    tool_error: ToolErrorCategory = "limit_exceeded"


class BadResponse(EgressError):
    """What came back is no proper answer."""

    tool_error: ToolErrorCategory = "tool_failed"


class Cancelled(EgressError):
    """Whoever asked does not want it any more."""

    tool_error: ToolErrorCategory = "cancelled"
