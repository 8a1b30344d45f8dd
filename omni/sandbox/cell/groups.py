"""Control groups of cells. Moving a process takes the kernel long, so cells move while waiting."""

from __future__ import annotations

import os
from contextlib import suppress

PREFIX = "omni-job-"


def folders(parents: list[str], owner: int, pid: int) -> list[str]:
    """Of the cell with this first process; `owner` is the platform's process that uses it."""
    return [f"{parent}/{PREFIX}{owner}-{pid}" for parent in parents]


def enter(parents: list[str], owner: int, pid: int) -> None:
    """Put the process into its groups, which are made; OSError when that is not possible."""
    for folder in folders(parents, owner, pid):
        with suppress(FileExistsError):
            os.mkdir(folder)
        members = f"{folder}/cgroup.procs"
        with open(members) as file:
            inside = str(pid) in file.read().split()
        if not inside:
            with open(members, "w") as file:
                file.write(str(pid))


def pid_of(handle: int) -> int:
    """The number of a process that is known by a descriptor."""
    with open(f"/proc/self/fdinfo/{handle}") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Pid:"))
