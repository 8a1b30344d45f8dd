"""A folder of the machine as a mount that can be handed to a cell, and to nobody else."""

from __future__ import annotations

import os
import signal
from typing import Any

from omni.sandbox.cell.kernel import (
    ATTR_NODEV,
    ATTR_NOSUID,
    ATTR_RDONLY,
    SetupFailed,
    map_user,
    open_tree,
    set_attributes,
    unshare,
)


def users_map(uid: int) -> int:
    """A user namespace in which root's files are the sandbox user's; only its map is used."""
    ready, done = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ready)
        try:
            unshare("user")
            os.write(done, b".")
            signal.pause()
        except SetupFailed as error:
            os.write(done, str(error).encode())
        finally:
            os._exit(0)
    os.close(done)
    try:
        said = os.read(ready, 1000)
        if said != b".":
            raise SetupFailed(said.decode() or "user namespace: its process ended")
        map_user(0, uid, uid, str(child))
        return os.open(f"/proc/{child}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(ready)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def open_workspace(request: dict[str, Any], users: int) -> int:
    """The mount of the folder, not yet attached; read-only unless the request says otherwise."""
    folder, writable = str(request["workspace"]), bool(request["writable"])
    tree = open_tree(folder)
    attributes = ATTR_NOSUID | ATTR_NODEV | (0 if writable else ATTR_RDONLY)
    try:
        if users >= 0 and os.stat(folder).st_uid == 0 and _mapped(tree, attributes, users):
            return tree
        set_attributes(tree, attributes)
        if users >= 0:
            hand_over(tree, int(request["uid"]))
    except (SetupFailed, OSError):
        os.close(tree)
        raise
    return tree


def _mapped(tree: int, attributes: int, users: int) -> bool:
    """Not every file system can show its files as another user's."""
    try:
        set_attributes(tree, attributes, user_namespace=users, recursive=False)
    except SetupFailed:
        return False
    return True


def hand_over(tree: int, uid: int) -> None:
    """Give what is there to the sandbox user; root reads and removes it all the same."""
    os.chown(".", uid, uid, dir_fd=tree)
    for _, folders, files, place in os.fwalk(".", dir_fd=tree):
        for name in (*folders, *files):
            os.chown(name, uid, uid, dir_fd=place, follow_symlinks=False)
