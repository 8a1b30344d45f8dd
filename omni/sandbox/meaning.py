"""What each way to end means to whoever called: the category of the error, and a sentence."""

from __future__ import annotations

from omni.contracts.types.shapes import ToolErrorCategory
from omni.sandbox.shapes import Limits, Result, Status

CATEGORY: dict[Status, ToolErrorCategory] = {
    "error": "tool_failed",
    "signal": "tool_failed",
    "timeout": "timeout",
    "cpu_limit": "limit_exceeded",
    "memory_limit": "limit_exceeded",
    "file_limit": "limit_exceeded",
    "disk_limit": "limit_exceeded",
    "output_limit": "limit_exceeded",
    "process_limit": "limit_exceeded",
    "denied_syscall": "permission_denied",
    "cancelled": "cancelled",
    "refused": "sandbox_refused",
}
"""Everything but `ok`; the status itself belongs into the error's data."""


def sentence(result: Result, limits: Limits) -> str:
    """For people; says which limit it was and how much was allowed."""
    sentences: dict[Status, str] = {
        "ok": "The program ended well.",
        "error": f"The program ended with exit code {result.exit_code}.",
        "signal": f"The program was ended by signal {-result.exit_code}.",
        "timeout": f"The program ran longer than {limits.wall_seconds:g} seconds.",
        "cpu_limit": f"The program used more than {limits.cpu_seconds:g} processor seconds.",
        "memory_limit": f"The program used more than {_size(limits.memory_bytes)} of memory.",
        "file_limit": f"The program wrote a file of more than {_size(limits.file_bytes)}.",
        "disk_limit": f"The program's folders are full: {_size(limits.disk_bytes)} "
        f"or {limits.inodes} files each.",
        "output_limit": f"The program printed more than {_size(limits.output_bytes)}.",
        "process_limit": f"The program had more than {limits.processes} processes.",
        "denied_syscall": "The program made a system call that the sandbox does not allow.",
        "cancelled": "The program was cancelled.",
        "refused": "The sandbox refused the program; it did not run.",
    }
    return sentences[result.status]


def _size(count: int) -> str:
    for unit, size in (("GB", 1 << 30), ("MB", 1 << 20), ("kB", 1 << 10)):
        if count >= size:
            return f"{count / size:g} {unit}"
    return f"{count} bytes"
