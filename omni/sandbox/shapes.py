"""What goes into the sandbox and what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from omni.contracts.errors import ErrorCategory, OmniError

MB = 1 << 20

Status = Literal[
    "ok", "error", "timeout", "cpu_limit", "memory_limit", "file_limit", "disk_limit",
    "output_limit", "process_limit", "denied_syscall", "signal", "cancelled", "refused",
]  # fmt: skip


class Refused(OmniError):
    """This machine cannot isolate the job, so it did not run; `data["reasons"]` says why."""

    category = ErrorCategory.UNAVAILABLE

    def __init__(self, *reasons: str) -> None:
        why = "; ".join(reasons) or "unknown"
        super().__init__(
            f"The sandbox is not available: {why}.",
            remedy="`omni doctor` says what is missing.",
            data={"code": "sandbox_unavailable", "reasons": list(reasons)},
        )
        self.reasons = reasons


@dataclass(frozen=True, slots=True)
class Limits:
    """Each one that is hit has a status of its own."""

    wall_seconds: float = 30.0
    cpu_seconds: float = 20.0
    """Of all processes together."""
    memory_bytes: int = 512 * MB
    """Of all processes together, shared pages counted once."""
    processes: int = 64
    """Processes and threads at the same time."""
    file_bytes: int = 64 * MB
    """One file."""
    disk_bytes: int = 128 * MB
    """Of the job's folder, and as much again of the temporary one."""
    inodes: int = 8192
    output_bytes: int = MB
    """What it writes to its output and its errors together."""
    output_files: int = 64
    output_files_bytes: int = 64 * MB
    open_files: int = 256


@dataclass(frozen=True, slots=True)
class Job:
    """A command and everything it may see."""

    command: tuple[str, ...]
    stdin: bytes = b""
    env: Mapping[str, str] = field(default_factory=dict)
    """In addition to the sandbox's own, which it may replace; nothing of ours is inherited."""
    files: Mapping[str, bytes | Path] = field(default_factory=dict)
    """Placed below the job's folder, by relative path."""
    limits: Limits = field(default_factory=Limits)
    egress: tuple[str, ...] = ()
    """Hosts that it may reach, as `name`, `*.name` or `name:port`; none means no network."""
    allow_private: frozenset[str] = frozenset()
    """`host:port` places of private networks that an operator has opened."""
    workspace: Path | None = None
    """A folder of the machine that appears as `/workspace`."""
    writable: bool = False
    """Whether the workspace may be changed."""
    cwd: str = ""
    """Where it starts: the workspace when there is one, else the job's folder."""


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file that the job left in its output folder."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Result:
    """How it ended. `exit_code` is negative for a signal."""

    status: Status
    exit_code: int
    stdout: bytes = b""
    stderr: bytes = b""
    files: tuple[OutputFile, ...] = ()
    usage: dict[str, Any] = field(default_factory=dict)
    """Seconds, bytes and processes used; skipped files; what was reached in the network."""
