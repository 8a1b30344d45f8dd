"""A control group for one job, where we may make one: a limit that nothing gets around."""

from __future__ import annotations

import atexit
import os
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from omni.sandbox.cell import groups
from omni.sandbox.shapes import Limits

PREFIX = groups.PREFIX
TOP = Path("/sys/fs/cgroup")
# Version 2 has one tree; version 1 one for each kind of limit.
MEMORY = ("memory.max", "memory.limit_in_bytes")
REMOVE_SECONDS = 2


@dataclass
class Group:
    """The folders that make it up: one, or in version 1 one for memory and one for processes."""

    folders: tuple[Path, ...]

    @classmethod
    def enter(cls, pid: int, limits: Limits) -> Group | None:
        """Where the first process of a cell already waits; None where we may not make one."""
        if not parents():
            return None
        group = cls(tuple(map(Path, groups.folders(parents(), os.getpid(), pid))))
        # What a job writes to its folders is memory too, and has a limit of its own.
        memory = limits.memory_bytes + 2 * limits.disk_bytes + (32 << 20)
        try:
            groups.enter(parents(), os.getpid(), pid)
            for folder in group.folders:
                _set(folder, "memory.max", memory)
                _set(folder, "memory.swap.max", 0)
                _set(folder, "memory.limit_in_bytes", memory)
                _set(folder, "pids.max", limits.processes + 8)
        except OSError:
            group.close()
            return None
        return group

    def starved(self) -> bool:
        """Whether the kernel ended something in it for want of memory."""
        for folder in self.folders:
            for name in ("memory.events", "memory.oom_control"):
                with suppress(OSError):
                    rows = (folder / name).read_text().splitlines()
                    if any(row.startswith("oom_kill ") and row.split()[1] != "0" for row in rows):
                        return True
        return False

    def close(self) -> None:
        """Nobody waits for the kernel to let go of it: what cannot be removed yet is later."""
        with _lock:
            _ended.extend(self.folders)
        sweep()


_lock = threading.Lock()
_ended: list[Path] = []


def sweep() -> None:
    """Remove the groups of ended jobs; those that are still busy stay on the list."""
    with _lock:
        _ended[:] = [folder for folder in dict.fromkeys(_ended) if not _remove(folder)]


def sweep_unused() -> None:
    """Also the groups of cells that were never used; those that live are busy, and stay."""
    mine = f"{PREFIX}{os.getpid()}-*"
    with _lock:
        _ended.extend(path for parent in parents() for path in Path(parent).glob(mine))
    sweep()


def _remove(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def sweep_all() -> None:
    """Before this process ends; its successor would find what is left all the same."""
    until = time.monotonic() + REMOVE_SECONDS
    while _ended and time.monotonic() < until:
        sweep()
        time.sleep(0.005)


def _after_fork() -> None:
    """They are our parent's to remove."""
    global _lock
    _lock = threading.Lock()
    _ended.clear()


atexit.register(sweep_all)
os.register_at_fork(after_in_child=_after_fork)
_found: tuple[Path, ...] | None = None


def writable() -> bool:
    return bool(parents())


def parents() -> list[str]:
    """The groups below which we may make others; empty where we may not."""
    global _found
    if _found is None:
        _found = _search()
    return list(map(str, _found))


def _search() -> tuple[Path, ...]:
    """Only making a group shows it: the files' modes say nothing in a container."""
    try:
        rows = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    except OSError:
        return ()
    found: dict[str, Path] = {}
    for _, kinds, own in rows:
        for kind in ("memory", "pids"):
            if kind in kinds.split(","):
                found[kind] = TOP / kinds / own.lstrip("/")
            elif not kinds:
                found.setdefault("all", TOP / own.lstrip("/"))
    for tried in ((found.get("all"),), (found.get("memory"), found.get("pids"))):
        usable = tuple(parent for parent in tried if parent is not None and _offers(parent))
        if usable and any((parent / "cgroup.procs").exists() for parent in usable):
            return usable
    return ()


def _offers(parent: Path) -> bool:
    """A group below it has a limit that we know; what earlier processes left is removed."""
    trial = parent / f"{PREFIX}{os.getpid()}-trial"
    try:
        for left in parent.glob(f"{PREFIX}*"):
            if not Path("/proc", left.name.removeprefix(PREFIX).split("-")[0]).exists():
                with suppress(OSError):
                    left.rmdir()
        trial.mkdir()
    except OSError:
        return False
    try:
        return any((trial / name).exists() for name in (*MEMORY, "pids.max"))
    finally:
        with suppress(OSError):
            trial.rmdir()


def _set(folder: Path, name: str, value: int) -> None:
    if (folder / name).exists():
        (folder / name).write_text(str(value))
