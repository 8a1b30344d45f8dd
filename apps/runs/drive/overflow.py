"""A result that is too large for the log: its output moves into an artifact, or it is an error.

The tool has done its work by then, so a store that is away is waited for, and what cannot be
kept in the end is recorded as lost: a call never stays without an outcome.
"""

from __future__ import annotations

import time
from typing import Any

import structlog
from django.db import InterfaceError, OperationalError, connection

from apps.runs.drive.context import DriveContext
from apps.runs.eventlog import NewEvent, cleaned
from omni import config
from omni.contracts.bounds import check_bounds
from omni.contracts.canonical import canonical
from omni.contracts.errors import Unavailable

log = structlog.get_logger(__name__)
PATIENCE_SECONDS = 60.0
PAUSE_SECONDS = 0.5
MEDIA_TYPE = "application/json"


def overflowed(payload: dict[str, Any], key: str, context: DriveContext) -> NewEvent:
    """The `tool_result` with a reference in place of its output, or a `tool_error`."""
    check_bounds(payload["output"], max_bytes=config.current().artifact_max_bytes)
    body = canonical(cleaned(payload["output"]))
    name = f"{payload['call_id']}.json"
    try:
        sha256 = _keep(body, name, context)
    except Unavailable as error:
        failed = {each: payload[each] for each in ("call_id", "duration_ms")}
        failed["category"] = "unavailable"
        failed["message"] = f"The tool did its work, but its output could not be kept: {error}"
        return NewEvent("tool_error", failed, key=key)
    reference = {"sha256": sha256, "size": len(body), "media_type": MEDIA_TYPE, "name": name}
    artifacts = [*payload.get("artifacts", []), reference]
    moved = {**payload, "output": {"artifact": sha256}, "artifacts": artifacts}
    return NewEvent("tool_result", moved, key=key)


def _keep(body: bytes, name: str, context: DriveContext) -> str:
    """Storing the same bytes again is harmless, so whatever was away is tried again."""
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return context.put_artifact(body, media_type=MEDIA_TYPE, name=name)
        except Unavailable as error:
            if context.cancelled() or time.monotonic() > until:
                raise
            log.warning("output_waits_for_the_store", error=str(error))
        except (OperationalError, InterfaceError) as error:
            if connection.in_atomic_block or time.monotonic() > until:
                raise
            log.warning("output_waits_for_the_database", error=type(error).__name__)
            connection.close()
        time.sleep(PAUSE_SECONDS)
