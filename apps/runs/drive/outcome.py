"""Results and failures of effects as events that can always be recorded."""

from __future__ import annotations

from typing import Any

from apps.runs.drive.context import DriveContext
from apps.runs.drive.overflow import overflowed
from apps.runs.eventlog import NewEvent, Sealed
from omni.contracts.errors import ErrorCategory, InvalidInput, OmniError

MAX_MESSAGE = 2000


def settled_tool(payload: dict[str, Any], key: str, context: DriveContext) -> Sealed:
    """A large output moves into an artifact; what cannot be recorded at all is an error."""
    try:
        if "category" in payload:
            return context.seal(NewEvent("tool_error", payload, key=key))
        try:
            return context.seal(NewEvent("tool_result", payload, key=key))
        except InvalidInput as error:
            if error.category is not ErrorCategory.TOO_LARGE:
                raise
        return context.seal(overflowed(payload, key, context))
    except InvalidInput as error:
        failed = {name: payload[name] for name in ("call_id", "duration_ms")}
        failed |= {"category": "invalid_output", "message": error.message[:MAX_MESSAGE]}
        return context.seal(NewEvent("tool_error", failed, key=key))


def failure(error: Exception) -> dict[str, str]:
    """The message of whatever was raised."""
    message = str(error) if isinstance(error, OmniError) else f"{type(error).__name__}: {error}"
    return {"message": storable(message)[:MAX_MESSAGE] or type(error).__name__}


def storable(text: str) -> str:
    """Messages of others may hold anything; NUL and half characters cannot be stored."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
