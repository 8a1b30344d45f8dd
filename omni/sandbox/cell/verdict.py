"""From how a job's process ended to the one word that says why."""

from __future__ import annotations

import os
import signal
from typing import Any

from omni.sandbox.cell.root import TEMPORARY, WORK
from omni.sandbox.cell.streams import Streams
from omni.sandbox.cell.watch import Watch

BY_SIGNAL = {
    signal.SIGSYS: "denied_syscall",
    signal.SIGXCPU: "cpu_limit",
    signal.SIGXFSZ: "file_limit",
}
# Shells report a signal of their child as this much more.
SHELL = 128
LAST_WORDS = 4096


def verdict(watch: Watch, streams: Streams, limits: dict[str, Any]) -> tuple[str, int]:
    """Status and exit code; a negative code is the signal that ended the process."""
    code = os.waitstatus_to_exitcode(watch.ended) if watch.ended is not None else -9
    if watch.killed:
        return watch.killed, code
    if streams.full:
        return "output_limit", code
    if code == 0:
        return "ok", code
    for number, status in BY_SIGNAL.items():
        if code in (-number, SHELL + number):
            return status, code
    return _by_evidence(watch, streams, limits) or ("signal" if code < 0 else "error"), code


def _by_evidence(watch: Watch, streams: Streams, limits: dict[str, Any]) -> str:
    """Programs get an error number for most limits and end by themselves; the traces remain."""
    said = bytes(streams.said[2][-LAST_WORDS:])
    if watch.crowded:
        return "process_limit"
    if watch.disk_full:
        return "disk_limit"
    if _has_largest_file(int(limits["file_bytes"])) or b"File too large" in said:
        return "file_limit"
    if b"MemoryError" in said or b"Cannot allocate memory" in said:
        return "memory_limit"
    return ""


def _has_largest_file(size: int) -> bool:
    for top in (WORK, TEMPORARY):
        for place, _, names in os.walk(top):
            for name in names:
                facts = os.lstat(os.path.join(place, name))
                if facts.st_size >= size > 0:
                    return True
    return False
