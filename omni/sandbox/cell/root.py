"""The file system of a cell: a small read-only root with what programs need, and nothing else."""

from __future__ import annotations

import os
import socket
import struct
from fcntl import ioctl
from typing import Any

from omni.sandbox.cell.kernel import (
    ATTR_NODEV,
    ATTR_NOSUID,
    ATTR_RDONLY,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    enter_root,
    mount,
    move_mount,
    open_tree,
    set_attributes,
)

USER = 1000
WORK, TEMPORARY, WORKSPACE, OUT = "/work", "/tmp", "/workspace", "out"  # noqa: S108
DEVICES = ("null", "zero", "full", "random", "urandom")
LINKED = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
FOLDERS = ("/usr", "/etc/alternatives", "/etc/ssl/certs", "/etc/pki/ca-trust/extracted")
COPIED = ("/etc/ld.so.cache", "/etc/ssl/openssl.cnf", "/etc/localtime")
WRITTEN = {
    "/etc/passwd": f"sandbox:x:{USER}:{USER}:Sandbox:{WORK}:/bin/sh\nnobody:x:65534:65534::/:\n",
    "/etc/group": f"sandbox:x:{USER}:\nnogroup:x:65534:\n",
    "/etc/hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    "/etc/resolv.conf": "",
}
SYMLINKS = {
    "/dev/fd": "/proc/self/fd",
    "/dev/stdin": "/proc/self/fd/0",
    "/dev/stdout": "/proc/self/fd/1",
    "/dev/stderr": "/proc/self/fd/2",
    "/dev/shm": TEMPORARY,  # noqa: S108
}
LOOPBACK_UP, SET_FLAGS = 1, 0x8914


class Parts:
    """Taken from the machine while it can still be seen; attached when the root is built."""

    def __init__(self) -> None:
        self.trees: dict[str, int] = {}
        self.devices: dict[str, int] = {}
        self.links: dict[str, str] = {}
        self.files: dict[str, bytes] = {}


def gather(interpreters: list[str], without: frozenset[str]) -> Parts:
    """Copies of the mounts, made read-only; those of the interpreter keep their path."""
    parts = Parts()
    for path in LINKED:
        if os.path.islink(path):
            parts.links[path] = os.readlink(path)
    wanted = [*FOLDERS, *(path for path in LINKED if path not in parts.links), *interpreters]
    if "root" in without:
        wanted = [*wanted, "/etc", "/var", "/home", "/root", "/tmp"]  # noqa: S108
    for path in wanted:
        if os.path.isdir(path) and not any(_below(path, other) for other in parts.trees):
            tree = parts.trees[path] = open_tree(path)
            if "readonly" not in without:
                set_attributes(tree, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV)
    for name in DEVICES:
        tree = parts.devices[f"/dev/{name}"] = open_tree(f"/dev/{name}")
        set_attributes(tree, ATTR_NOSUID)
    for path in COPIED:
        if os.path.isfile(path):
            with open(path, "rb") as file:
                parts.files[path] = file.read()
    return parts


def _below(path: str, other: str) -> bool:
    return path == other or path.startswith(f"{other}/")


def build(parts: Parts, without: frozenset[str]) -> None:
    """Attach everything to a new root and enter it; needs a mount and a process namespace."""
    base = TEMPORARY
    options = "mode=0755,size=4m,nr_inodes=4096"
    mount("tmpfs", base, "tmpfs", MS_NOSUID | MS_NODEV, options)
    for path in ("/proc", "/dev", "/etc", WORK, TEMPORARY, WORKSPACE):
        os.makedirs(base + path, exist_ok=True)
    for path, target in {**parts.links, **SYMLINKS}.items():
        os.symlink(target, base + path)
    for path, tree in parts.trees.items():
        os.makedirs(base + path, exist_ok=True)
        move_mount(tree, base + path)
        os.close(tree)
    for path, tree in parts.devices.items():
        _write(base + path, b"")
        move_mount(tree, base + path)
        os.close(tree)
    if "root" not in without:
        for path, data in parts.files.items():
            _write(base + path, data)
        for path, text in WRITTEN.items():
            _write(base + path, text.encode())
    # The kernel gives a cell its own /proc only where a whole one can be seen.
    mount("proc", f"{base}/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    enter_root(base)
    if "readonly" not in without:
        here = os.open("/", os.O_PATH | os.O_CLOEXEC)
        set_attributes(here, ATTR_RDONLY, recursive=False)
        os.close(here)


def _write(path: str, data: bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "xb") as file:
        file.write(data)
    os.chmod(path, 0o644)


def prepare(without: frozenset[str]) -> None:
    """What every job has for itself, before it is known which: /proc, a name, a loopback."""
    flags = MS_NOSUID | MS_NODEV | MS_NOEXEC
    mount("proc", "/proc", "proc", flags, "subset=pid")
    socket.sethostname("sandbox")
    if "net" not in without:
        raise_loopback()


def furnish(request: dict[str, Any], tree: int | None, without: frozenset[str]) -> None:
    """What this job has for itself: room for files, and the workspace."""
    flags = MS_NOSUID | MS_NODEV
    room = f"size={request['disk_bytes']},nr_inodes={request['inodes']}"
    if "disk" in without:
        room = "size=1g"
    mount("tmpfs", WORK, "tmpfs", flags, f"mode=0755,{room}")
    mount("tmpfs", TEMPORARY, "tmpfs", flags, f"mode=1777,{room}")
    if tree is not None:
        move_mount(tree, WORKSPACE)
        os.close(tree)


def raise_loopback() -> None:
    """Programs may talk to themselves; there is no other interface."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        ioctl(door, SET_FLAGS, struct.pack("16sH14x", b"lo", LOOPBACK_UP))
