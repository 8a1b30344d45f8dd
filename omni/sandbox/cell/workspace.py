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


class Users:
    """For root: the files of a workspace's owner are shown as the sandbox user's, and made so."""

    def __init__(self, uid: int) -> None:
        self.uid = uid
        self._made: dict[tuple[int, int], int] = {}

    def namespace(self, owner: int, group: int) -> int:
        """A user namespace of which only the map is used."""
        if (owner, group) not in self._made:
            self._made[owner, group] = _namespace(owner, group, self.uid)
        return self._made[owner, group]


def _namespace(owner: int, group: int, uid: int) -> int:
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
        map_user((owner, group), (uid, uid), str(child))
        return os.open(f"/proc/{child}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(ready)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def open_workspace(request: dict[str, Any], users: Users | None) -> int:
    """The mount of the folder, not yet attached; read-only unless the request says otherwise."""
    tree = open_tree(str(request["workspace"]))
    attributes = ATTR_NOSUID | ATTR_NODEV | (0 if request["writable"] else ATTR_RDONLY)
    try:
        if users is None or not _mapped(tree, attributes, users):
            if users is not None:
                hand_over(tree, users.uid)
            set_attributes(tree, attributes)
    except (SetupFailed, OSError):
        os.close(tree)
        raise
    return tree


def _mapped(tree: int, attributes: int, users: Users) -> bool:
    """Not every file system can show its files as another user's."""
    facts = os.fstat(tree)
    try:
        namespace = users.namespace(facts.st_uid, facts.st_gid)
        set_attributes(tree, attributes, user_namespace=namespace, recursive=False)
    except SetupFailed:
        return False
    return True


def hand_over(tree: int, uid: int) -> None:
    """Give what is there to the sandbox user; root reads and removes it all the same."""
    os.chown(".", uid, uid, dir_fd=tree)
    for _, folders, files, place in os.fwalk(".", dir_fd=tree):
        for name in (*folders, *files):
            os.chown(name, uid, uid, dir_fd=place, follow_symlinks=False)
