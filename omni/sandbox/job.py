"""The door of the sandbox: a job goes in, its result comes out, or `Refused` and it did not run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from omni.contracts.errors import InvalidInput
from omni.sandbox.cell.names import problem
from omni.sandbox.cell.root import OUT
from omni.sandbox.conversation import Opener, converse
from omni.sandbox.egress.approved import Approved
from omni.sandbox.shapes import Job, Limits, OutputFile, Refused, Result, Status
from omni.sandbox.tier import CHOICE

__all__ = ["Job", "Limits", "OutputFile", "Refused", "Result", "Status", "run"]


def _never() -> bool:
    return False


def run(job: Job, *, cancelled: Callable[[], bool] = _never) -> Result:
    """Run it in a cell of its own; blocks until nothing of it lives any more."""
    chosen = CHOICE.get()
    if chosen.open is None:
        raise Refused(*chosen.reasons)
    result = run_in(chosen.open, job, cancelled=cancelled)
    return _with_tier(result, chosen.tier)


def run_in(opener: Opener, job: Job, *, cancelled: Callable[[], bool] = _never) -> Result:
    """The same with a way to open cells that the caller has chosen."""
    check(job)
    if cancelled():
        return Result("cancelled", -9)
    conversation = converse(opener, job)
    try:
        conversation.send()
        return conversation.result(cancelled)
    finally:
        conversation.close()


def check(job: Job) -> None:
    """What no cell could make sense of is the caller's mistake, not a refusal."""
    if not job.command or any("\0" in word for word in job.command):
        raise InvalidInput.field("command", "A job needs a command.")
    for name in job.files:
        if reason := problem(name):
            raise InvalidInput.field("files", f"The file “{name[:80]}” is refused: {reason}.")
    if OUT in job.files or sum(map(_size, job.files.values())) > job.limits.disk_bytes:
        raise InvalidInput.field("files", "The files do not fit into the job's folder.")
    for name, value in job.env.items():
        if not name or "=" in name or "\0" in name + value:
            raise InvalidInput.field("env", f"The variable “{name[:80]}” is not accepted.")
    if job.workspace is not None and not job.workspace.is_dir():
        raise InvalidInput.field("workspace", "The workspace is not a folder.")
    Approved(job.egress)


def _size(source: bytes | Path) -> int:
    return len(source) if isinstance(source, bytes) else source.stat().st_size


def _with_tier(result: Result, tier: str) -> Result:
    result.usage["tier"] = tier
    return result
