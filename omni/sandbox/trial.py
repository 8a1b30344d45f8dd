"""Enters every namespace that a sandbox needs, in a process of its own: there is no way back.

Run as `python -I -S trial.py`; prints "ok", or what this machine refused. As root it first becomes
nobody, because only isolation that needs no rights counts.
"""

from __future__ import annotations

import ctypes
import os
import sys

NOBODY = 65534
PR_SET_DUMPABLE = 4
MS_REC_PRIVATE = 0x44000
USER = 0x10000000
OTHERS = (
    (0x00020000, "mount"),
    (0x40000000, "network"),
    (0x08000000, "ipc"),
    (0x04000000, "uts"),
    (0x20000000, "process"),
)


class Refused(Exception):
    """The kernel or its configuration does not allow this step."""


def need(result: int, what: str) -> None:
    if result:
        raise Refused(f"{what}: {os.strerror(ctypes.get_errno())}")


def main() -> str:
    libc = ctypes.CDLL(None, use_errno=True)
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        # Changing the user closed /proc/self to us; the mapping below is written there.
        libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
    uid, gid = os.getuid(), os.getgid()
    need(libc.unshare(USER), "user namespace")
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    for flag, name in OTHERS:
        need(libc.unshare(flag), f"{name} namespace")
    need(libc.mount(b"none", b"/", None, MS_REC_PRIVATE, None), "private mounts")
    need(libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, b"size=1m"), "tmpfs")
    return _in_new_process(libc)


def _in_new_process(libc: ctypes.CDLL) -> str:
    """Only a child is inside the process namespace; it must be number 1 and see its own /proc."""
    child = os.fork()
    if child == 0:
        if os.getpid() != 1:
            os._exit(2)
        os._exit(3 if libc.mount(b"proc", b"/proc", b"proc", 0, None) else 0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    problems = {0: "ok", 2: "process namespace: no numbering of its own", 3: "/proc: refused"}
    return problems.get(code, "process namespace: the first process failed")


if __name__ == "__main__":
    try:
        print(main())
    except (Refused, OSError) as error:
        print(error)
        sys.exit(1)
