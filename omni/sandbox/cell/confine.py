"""The last doors, closed in this order before a single byte of the job runs."""

from __future__ import annotations

import os
import resource
import struct
from typing import Any

from omni.sandbox.cell import filter as seccomp
from omni.sandbox.cell import landlock
from omni.sandbox.cell.kernel import (
    CAPSET,
    LIBC,
    MACHINE,
    PR_CAP_AMBIENT,
    PR_CAPBSET_DROP,
    PR_SET_DUMPABLE,
    PR_SET_NO_NEW_PRIVS,
    PR_SET_SECUREBITS,
    need,
    prctl,
    syscall,
)

CAPABILITY_VERSION = 0x20080522
AMBIENT_CLEAR_ALL = 4
# No rights for user 0, none kept across a change of user, no ambient ones; and no way back.
SECURE_BITS = 0b11101111
LAST_CAPABILITY = 63
# Node reserves gigabytes that it never touches.
ADDRESS_SPACE = 4 << 30


def lock_down(writable: list[str], without: frozenset[str]) -> None:
    """For this process and everything it starts."""
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
    if "capabilities" not in without:
        drop_capabilities()
    prctl("no_new_privs", PR_SET_NO_NEW_PRIVS, 1)
    if "landlock" not in without:
        landlock.restrict(writable)
    if "seccomp" not in without:
        seccomp.install()
    # Nobody of the same user may look into us, not even through /proc.
    prctl("dumpable", PR_SET_DUMPABLE, int("dumpable" in without))


def drop_capabilities() -> None:
    """From every set that a process has."""
    for capability in range(LAST_CAPABILITY + 1):
        if int(LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)) < 0:
            # The first one that this kernel does not know; it must know some.
            if capability < 30:
                need(-1, "bounding set")
            break
    # bubblewrap has taken the right to set these away already.
    LIBC.prctl(PR_SET_SECUREBITS, SECURE_BITS, 0, 0, 0)
    prctl("ambient capabilities", PR_CAP_AMBIENT, AMBIENT_CLEAR_ALL)
    header, nothing = struct.pack("Ii", CAPABILITY_VERSION, 0), bytes(24)
    need(syscall(CAPSET[MACHINE], header, nothing), "capabilities")


def limit(limits: dict[str, Any], without: frozenset[str]) -> None:
    """The kernel's own limits of the job's process; the watchdog's are tighter."""
    memory = max(ADDRESS_SPACE, 2 * int(limits["memory_bytes"]))
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_RTPRIO: 0,
        resource.RLIMIT_NOFILE: int(limits["open_files"]),
        resource.RLIMIT_FSIZE: int(limits["file_bytes"]),
        resource.RLIMIT_AS: memory,
        # One more than the watchdog lets pass, and the supervisor, and the one who started it.
        resource.RLIMIT_NPROC: int(limits["processes"]) + 3,
        resource.RLIMIT_CPU: int(limits["cpu_seconds"]) + 2,
    }
    for name, value in wanted.items():
        if "rlimits" in without and name != resource.RLIMIT_CORE:
            continue
        _, hard = resource.getrlimit(name)
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(name, (value, value))
    os.nice(5)
