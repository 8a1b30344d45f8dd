"""Undoing what a run changed in its workspace: by another run, under policy, step by step."""

from __future__ import annotations

from typing import Any

from apps.registry.models import User
from apps.runs import eventlog
from apps.runs.models import ArtifactUse, Run
from apps.runs.services.runs import create_run
from omni.contracts.errors import Conflict
from omni.engine.lifecycle import TERMINAL

TOOL = "filesystem.restore"
MOST_STEPS = 100


def roll_back(*, actor: User, run: Run, seq: int | None = None) -> Run:
    """A run that puts files back as they were; one change alone, or all that the run made.

    Each file is touched only if nobody has changed it since, and only if the policy lets it.
    """
    if run.status not in TERMINAL and seq is None:
        raise Conflict("The run has not ended yet.", remedy="Cancel it first, or wait.")
    steps = [_step(change) for change in _changes(run, seq)]
    if not steps:
        raise Conflict(
            "There is nothing to undo here." if seq is None else f"Event {seq} changed no file."
        )
    if len(steps) > MOST_STEPS:
        raise Conflict(
            f"It changed {len(steps)} files; at most {MOST_STEPS} are put back in one go.",
            remedy="Undo single changes by their event.",
        )
    _refuse_unkept(run, steps)
    return create_run(actor=actor, thread=run.thread, run_kind="plan", input={"steps": steps})


def _refuse_unkept(run: Run, steps: list[dict[str, Any]]) -> None:
    """A large file is known by its hash alone: there is nothing that could be put back."""
    wanted = {step["arguments"]["content"]: step["arguments"]["path"] for step in steps}
    wanted.pop(None, None)
    uses = ArtifactUse.objects.filter(run=run, artifact__in=wanted)
    kept = set(uses.values_list("artifact", flat=True))
    missing = sorted(path for sha256, path in wanted.items() if sha256 not in kept)
    if missing:
        raise Conflict(
            f"The earlier content of “{missing[0]}” was not kept.",
            remedy="Large files, and those that hold a secret, are known by their hash only.",
            data={"paths": missing[:100]},
        )


def _changes(run: Run, seq: int | None) -> list[dict[str, Any]]:
    """The last state of each file with what it was at first; later changes are undone first."""
    made: dict[str, dict[str, Any]] = {}
    for event in eventlog.read_all(run.pk):
        if event.name != "workspace_changed" or event.payload is None:
            continue
        if seq is not None and event.seq != seq:
            continue
        path = event.payload["path"]
        first = made.pop(path, event.payload)
        made[path] = {"path": path, "before": first["before"], "after": event.payload["after"]}
    return [each for each in reversed(made.values()) if each["before"] != each["after"]]


def _step(change: dict[str, Any]) -> dict[str, Any]:
    arguments = {
        "path": change["path"],
        "expect": change["after"],
        "content": change["before"],
    }
    return {"tool": TOOL, "arguments": arguments}
