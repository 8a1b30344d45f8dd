"""What follows from a run's end: approvals are withdrawn, children stopped, the parent told."""

from __future__ import annotations

import uuid

from django.db import transaction

from apps.runs import eventlog, wakeup
from apps.runs.eventlog import RunEnded, system
from apps.runs.eventlog.approvals import withdraw
from apps.runs.eventlog.project import load_state
from apps.runs.models import Run
from apps.runs.services.runs import cancel_run
from omni.engine.lifecycle import TERMINAL


@transaction.atomic
def settle_ended(run_id: uuid.UUID) -> bool:
    """Idempotent, so that a crash at any point is repaired by calling it again."""
    parent_id = Run.objects.values_list("parent_id", flat=True).get(pk=run_id)
    if parent_id is not None:
        # From parent to child, as a cancel does: two orders would lock each other out.
        Run.objects.select_for_update().get(pk=parent_id)
    run = Run.objects.select_for_update().get(pk=run_id)
    if run.status not in TERMINAL or run.settled:
        return False
    withdraw(run)
    for child in run.children.exclude(status__in=TERMINAL):
        cancel_run(actor=None, run=child, reason="the parent run has ended")
    if run.parent_id is not None:
        _tell_parent(run, run.parent_id)
    Run.objects.filter(pk=run_id).update(settled=True)
    return True


def _tell_parent(run: Run, parent_id: uuid.UUID) -> None:
    created = eventlog.read(run.pk, limit=1)[0].payload or {}
    call_id = created.get("parent", {}).get("call_id", "")
    finished = {
        "child_run_id": str(run.pk),
        "call_id": call_id,
        "status": run.status,
        "result": _envelope(run),
    }
    try:
        eventlog.append(
            parent_id,
            [system("child_finished", finished, key=f"child-end-{call_id}")],
        )
    except RunEnded:
        return
    wakeup.advance_soon(parent_id)


def _envelope(run: Run) -> dict[str, object]:
    """What a parent gets from delegated work: summary, artifacts, errors."""
    state = load_state(run.pk)
    answers = [m["text"] for m in state.messages if m["role"] == "assistant"]
    summary = answers[-1] if answers else f"{state.steps_done} steps"
    errors = [state.reason] if run.status != "done" and state.reason else []
    return {"summary": summary[:4000], "artifacts": state.artifacts[:100], "errors": errors}
