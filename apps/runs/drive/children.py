"""Child runs: started once by their derived id, bounded in depth and number."""

from __future__ import annotations

import uuid
from typing import Any

from django.db import transaction
from django.utils import timezone

from apps.runs import eventlog, wakeup
from apps.runs.eventlog import Lease, NewEvent, system
from apps.runs.models import Run
from apps.runs.services.runs import MAX_CHILDREN, MAX_DEPTH, pins
from omni.contracts.errors import InvalidInput
from omni.engine.decide import CHECKS
from omni.engine.effects import StartChild


@transaction.atomic
def start_child(run_id: uuid.UUID, effect: StartChild, lease: Lease, actor: str) -> None:
    """Make the child and tell the parent's log, both or neither."""
    parent = Run.objects.select_for_update().get(pk=run_id)
    refusal = _refusal(parent, effect)
    started = {
        "child_run_id": effect.child_run_id,
        "call_id": effect.call_id,
        "run_kind": effect.run_kind,
    }
    events = [system("child_started", started, key=f"child-{effect.call_id}")]
    if refusal:
        finished = {
            "child_run_id": effect.child_run_id,
            "call_id": effect.call_id,
            "status": "failed",
            "result": {"summary": refusal, "artifacts": [], "errors": [refusal]},
        }
        events.append(system("child_finished", finished, key=f"child-end-{effect.call_id}"))
    eventlog.append(run_id, events, actor=actor, lease=lease)
    if not refusal:
        _create(parent, effect, actor)


def _refusal(parent: Run, effect: StartChild) -> str:
    if parent.depth + 1 > MAX_DEPTH:
        return f"Runs may be nested {MAX_DEPTH} deep."
    if parent.children.count() >= MAX_CHILDREN:
        return f"A run may have {MAX_CHILDREN} children."
    try:
        if effect.run_kind in CHECKS:
            CHECKS[effect.run_kind](effect.input)
    except InvalidInput as error:
        return str(error)[:1000]
    return ""


def _create(parent: Run, effect: StartChild, actor: str) -> None:
    child = Run(
        pk=uuid.UUID(effect.child_run_id),
        project_id=parent.project_id,
        thread_id=parent.thread_id,
        run_kind=effect.run_kind,
        created_by_id=parent.created_by_id,
        parent=parent,
        depth=parent.depth + 1,
        due_at=timezone.now(),
    )
    child.save(force_insert=True)
    created: dict[str, Any] = {
        "run_kind": effect.run_kind,
        "input": effect.input,
        "pins": pins(parent.project_id, effect.input),
        "parent": {"run_id": str(parent.pk), "call_id": effect.call_id, "depth": child.depth},
    }
    mode = (eventlog.read(parent.pk, limit=1)[0].payload or {}).get("mode")
    if mode:
        # Delegating must not be a way out of a safe mode.
        created["mode"] = mode
    eventlog.append(child.pk, [NewEvent("run_created", created, key="created")], actor=actor)
    wakeup.advance_soon(child.pk)
