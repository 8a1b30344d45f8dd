"""Finds what a lost hint, a dead worker or a crash left undone, and sets it going again."""

from __future__ import annotations

import uuid

import structlog

from apps.runs import wakeup
from apps.runs.models import Run
from apps.runs.services.approvals import expire_approvals
from apps.runs.services.leases import due_runs
from apps.runs.services.settle import settle_ended
from omni.engine.lifecycle import TERMINAL

log = structlog.get_logger(__name__)


def sweep() -> dict[str, int]:
    """Harmless to run twice or at the same time: everything it starts is idempotent."""
    due = due_runs()
    for run_id in due:
        wakeup.advance_soon(run_id)
    unsettled = Run.objects.filter(status__in=TERMINAL, settled=False).values_list("pk", flat=True)
    settled = sum(_settle(run_id) for run_id in list(unsettled[:500]))
    found = {"due": len(due), "settled": settled, "expired": expire_approvals()}
    if any(found.values()):
        log.info("swept", **found)
    return found


def _settle(run_id: uuid.UUID) -> bool:
    try:
        return settle_ended(run_id)
    except Exception as error:  # noqa: BLE001  (one broken run must not keep the others waiting)
        log.error("not_settled", run_id=str(run_id), error=f"{type(error).__name__}: {error}")
        return False
