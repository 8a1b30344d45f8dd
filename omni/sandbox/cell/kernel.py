"""Calls into the kernel that Python does not offer, with their numbers on the machines we know."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Iterable
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
LOCKED = ctypes.PyDLL(None, use_errno=True)
MACHINE = os.uname().machine

NEW_NAMESPACE = {
    "user": 0x10000000, "mount": 0x00020000, "pid": 0x20000000, "net": 0x40000000,
    "ipc": 0x08000000, "uts": 0x04000000, "cgroup": 0x02000000,
}  # fmt: skip

MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
MS_REC, MS_SLAVE = 0x4000, 0x80000
MNT_DETACH = 2

AT_FDCWD = -100
AT_EMPTY_PATH = 0x1000
AT_RECURSIVE = 0x8000
OPEN_TREE_CLONE = 1
OPEN_TREE_CLOEXEC = os.O_CLOEXEC
MOVE_FROM_EMPTY_PATH = 4
ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV, ATTR_IDMAP = 1, 2, 4, 0x100000

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_READ, PR_CAPBSET_DROP = 1, 4, 23, 24
PR_SET_SECCOMP, PR_SET_SECUREBITS, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 22, 28, 38, 47
CAP_SYS_ADMIN = 21

# These were given the same numbers everywhere, except the first three.
CLONE = {"x86_64": 56, "aarch64": 220}
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
CAPSET = {"x86_64": 126, "aarch64": 91}
OPEN_TREE, MOVE_MOUNT, MOUNT_SETATTR = 428, 429, 442
LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446


class SetupFailed(Exception):
    """A step of the isolation did not work; nothing may run."""


class MountAttributes(ctypes.Structure):
    _fields_ = [
        ("attr_set", ctypes.c_uint64),
        ("attr_clr", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    ]


def need(result: int, what: str) -> int:
    if result < 0:
        raise SetupFailed(f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def syscall(number: int, *arguments: Any) -> int:
    wide = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    return int(LIBC.syscall(ctypes.c_long(number), *wide))


def prctl(what: str, option: int, *arguments: Any) -> None:
    wide = [ctypes.c_ulong(each) if isinstance(each, int) else each for each in arguments]
    wide += [ctypes.c_ulong(0)] * (4 - len(wide))
    need(int(LIBC.prctl(option, *wide)), what)


def unshare(*names: str) -> None:
    """One at a time, so that a refusal names the namespace."""
    for name in names:
        need(int(LIBC.unshare(NEW_NAMESPACE[name])), f"{name} namespace")


def fork_into(names: Iterable[str]) -> int:
    """As `os.fork`, but the child is in new namespaces, also as the first process of its own.

    The interpreter must have one thread and must not let go of its lock meanwhile: that is all
    that Python's own fork would put in order.
    """
    flags = sum(NEW_NAMESPACE[name] for name in names) | signal.SIGCHLD
    wide = [ctypes.c_long(each) for each in (CLONE[MACHINE], flags, 0, 0, 0, 0)]
    return need(int(LOCKED.syscall(*wide)), "namespaces of a job")


def mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    result = LIBC.mount(
        source.encode(),
        os.fsencode(target),
        kind.encode() if kind else None,
        ctypes.c_ulong(flags),
        data.encode() or None,
    )
    need(int(result), f"mounting {kind or 'a change'} on {target}")


def open_tree(path: str) -> int:
    """A copy of what is mounted there and below, attached nowhere yet."""
    flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE
    return need(syscall(OPEN_TREE, AT_FDCWD, os.fsencode(path), flags), f"reaching {path}")


def move_mount(tree: int, target: str) -> None:
    done = syscall(MOVE_MOUNT, tree, b"", AT_FDCWD, os.fsencode(target), MOVE_FROM_EMPTY_PATH)
    need(done, f"attaching {target}")


def set_attributes(
    tree: int, attributes: int, *, user_namespace: int = -1, recursive: bool = True
) -> None:
    wanted = MountAttributes(attr_set=attributes)
    if user_namespace >= 0:
        wanted.attr_set |= ATTR_IDMAP
        wanted.userns_fd = user_namespace
    flags = AT_EMPTY_PATH | (AT_RECURSIVE if recursive else 0)
    size = ctypes.sizeof(wanted)
    done = syscall(MOUNT_SETATTR, tree, b"", flags, ctypes.byref(wanted), size)
    need(done, "mount attributes")


def enter_root(folder: str) -> None:
    """Make the folder the root; what was the root is gone from this mount namespace."""
    os.chdir(folder)
    need(syscall(PIVOT_ROOT[MACHINE], b".", b"."), "pivoting the root")
    need(int(LIBC.umount2(b".", MNT_DETACH)), "leaving the old root")
    os.chdir("/")


def map_user(inside: tuple[int, int], outside: tuple[int, int], process: str = "self") -> None:
    """One user and one group; everybody else appears as nobody."""
    pairs = zip(("uid_map", "gid_map"), inside, outside, strict=True)
    rows = {name: f"{within} {without} 1" for name, within, without in pairs}
    for name, text in {"setgroups": "deny", **rows}.items():
        try:
            with open(f"/proc/{process}/{name}", "w") as file:
                file.write(text)
        except OSError as error:
            raise SetupFailed(f"user namespace: {name}: {error.strerror}") from None
