"""Becomes another program that dies with its starter, without root's rights where root starts it.

Run as `python -I -S launch.py PARENT SIGNAL WAY UID COUNT folders… program args…`; a separate small
program because code between fork and exec must not run in the large, threaded parent.
"""

from __future__ import annotations

import ctypes
import os
import signal
import stat
import sys

PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38
CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 4096, 16384, 1 << 18
NOBODY = 65534
NAMES = "passwd"
CANNOT_CONFINE = 97
CANNOT_START = 98


def die_with_parent(number: int = signal.SIGKILL) -> None:
    """Ask the kernel to send `number` to this process when the thread that started it ends."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_PDEATHSIG, ctypes.c_ulong(number), 0, 0, 0)


def become(uid: int) -> None:
    """Another user of the machine, for good: no groups, no capabilities, no way back."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    ctypes.CDLL(None).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def show_only(folders: list[str]) -> None:
    """Make folders reachable that lie below closed ones, in a view of the files of our own.

    What is closed to others is covered by an empty folder, in which only these appear, under their
    own names: programs find their libraries and files where they always are.
    """
    covers = sorted({cover for folder in folders if (cover := closed_above(folder))})
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS):
        raise OSError(ctypes.get_errno(), "unshare")
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    os.umask(0o022)
    handles = {folder: os.open(folder, os.O_PATH) for folder in folders}
    for cover in covers:
        mount("tmpfs", cover, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=64k")
    for folder, handle in handles.items():
        if closed_below(folder, covers):
            os.makedirs(folder, exist_ok=True)
            mount(f"/proc/self/fd/{handle}", folder, None, MS_BIND | MS_REC)
        os.close(handle)
        introduce(folder)
    os.chdir("/")


def introduce(folder: str) -> None:
    """Programs that ask for the name of their user find it in the list that their folder has."""
    names = f"{folder}/{NAMES}"
    if os.path.isfile(names) and os.path.isfile("/etc/passwd"):
        mount(names, "/etc/passwd", None, MS_BIND)


def closed_above(folder: str) -> str:
    """The topmost folder on the way that others may not enter; empty when there is none."""
    way = ""
    for part in folder.strip("/").split("/")[:-1]:
        way += f"/{part}"
        if not os.stat(way).st_mode & stat.S_IXOTH:
            return way
    return ""


def closed_below(folder: str, covers: list[str]) -> bool:
    return any(folder.startswith(f"{cover}/") for cover in covers)


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    words = [os.fsencode(source), os.fsencode(target), kind.encode() if kind else None]
    if libc.mount(*words, ctypes.c_ulong(flags), options.encode()):
        raise OSError(ctypes.get_errno(), "mount", target)


def enter_user_namespace() -> None:
    """Appear as nobody inside, without capabilities; root's own files stay within reach."""
    libc = ctypes.CDLL(None, use_errno=True)
    uid, gid = os.getuid(), os.getgid()
    if libc.unshare(CLONE_NEWUSER):
        raise OSError(ctypes.get_errno(), "unshare")
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{NOBODY} {uid} 1"),
        ("gid_map", f"{NOBODY} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def confine(way: str, uid: int, folders: list[str]) -> None:
    if way == "namespace":
        enter_user_namespace()
    if way == "view":
        show_only(folders)
    if way in ("view", "user"):
        become(uid)


def main(argv: list[str]) -> int:
    parent, number, way, uid, count, *rest = argv
    folders, command = rest[: int(count)], rest[int(count) :]
    try:
        confine(way, int(uid), folders)
    except OSError as error:
        print(f"{command[0]}: {error}", file=sys.stderr)
        return CANNOT_CONFINE
    # Only now: the kernel forgets the death signal when credentials change.
    die_with_parent(int(number))
    if os.getppid() != int(parent):
        return CANNOT_START
    try:
        os.execv(command[0], command)  # noqa: S606  (the point of this file)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
    return CANNOT_START


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
