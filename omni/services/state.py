"""What the supervisor tells others: one small file, replaced at every change."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from omni.services import private

Phase = Literal["starting", "ready", "stopping", "stopped"]
ProcessState = Literal["running", "restarting", "stopping", "stopped"]


@dataclass(frozen=True)
class ProcessStatus:
    name: str
    state: ProcessState
    pid: int | None
    started_at: float | None
    restarts: int = 0
    last_exit: str = ""
    next_start: float | None = None


@dataclass(frozen=True)
class Status:
    """`running` is what the lock says; the rest is what the supervisor last wrote."""

    running: bool = False
    phase: Phase = "stopped"
    pid: int = 0
    url: str = ""
    host: str = ""
    port: int = 0
    started_at: float | None = None
    processes: list[ProcessStatus] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def state_file(home: Path) -> Path:
    return home / "run" / "state.json"


def write_state(home: Path, status: Status) -> None:
    private.write_json(state_file(home), status.as_json())


def read_state(home: Path) -> Status:
    """As last written, whoever wrote it; an unreadable file counts as nothing known."""
    values = private.read_json(state_file(home))
    try:
        processes = [ProcessStatus(**entry) for entry in values.pop("processes", [])]
        return Status(**values, processes=processes)
    except TypeError:
        return Status()
