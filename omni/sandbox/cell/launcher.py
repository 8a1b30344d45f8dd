"""Starts the cells of one platform process: gives up rights, enters namespaces, forks on demand.

Three processes. The launcher stays where the machine's folders can be seen, because it hands over
workspaces. Its child waits for the third, which is number 1 of the namespaces and forks the cells:
when either end of the chain goes, the kernel ends all of them.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
from contextlib import suppress
from typing import Any

from omni.sandbox.cell import forkserver, groups, landlock, root, wire, workspace
from omni.sandbox.cell.kernel import (
    CAP_SYS_ADMIN,
    MS_REC,
    MS_SLAVE,
    PR_SET_DUMPABLE,
    PR_SET_PDEATHSIG,
    SetupFailed,
    map_user,
    mount,
    prctl,
    unshare,
)

LARGEST = 65536
SPACES = ("mount", "pid", "net", "ipc", "uts", "cgroup")


def main(number: int) -> None:
    """Serve the socket with this number until the platform closes it."""
    control = socket.socket(fileno=number)
    os.umask(0o022)
    try:
        plan = json.loads(control.recv(LARGEST))
        cells, users = prepare(plan)
    except Exception as error:  # noqa: BLE001  (nobody else would hear of it)
        reason = str(error) if isinstance(error, SetupFailed | OSError) else repr(error)
        control.send(json.dumps({"refused": reason}).encode())
        return
    hello = json.dumps({"landlock": landlock.version()}).encode()
    # Jobs without a workspace need not come through us.
    socket.send_fds(control, [hello], [cells.fileno()])
    serve(control, cells, users, plan)


def prepare(plan: dict[str, Any]) -> tuple[socket.socket, workspace.Users | None]:
    """A socket to the process that forks cells, and the users' map for root's workspaces."""
    without = frozenset(plan["without"])
    privileged = os.geteuid() == 0
    if privileged and not _may_mount():
        # Root by name only, as in many containers: from here on as anybody else.
        become(plan["uid"])
        privileged = False
    users = workspace.Users(plan["uid"]) if privileged else None
    if users is not None:
        # Most workspaces are root's own; and where this fails nothing else would work.
        users.namespace(0, 0)
    else:
        enter_user_namespace()
        unshare("mount")
        mount("none", "/", None, MS_REC | MS_SLAVE)
    parts = root.gather(plan["interpreters"], without)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        ours.close()
        _as_parent_of_the_first(theirs, parts, plan["uid"] if privileged else None, without)
    theirs.close()
    for tree in (*parts.trees.values(), *parts.devices.values()):
        os.close(tree)
    said = ours.recv(LARGEST)
    if said != b"ready":
        raise SetupFailed(said.decode(errors="replace") or "the first process ended")
    return ours, users


def _as_parent_of_the_first(
    channel: socket.socket, parts: root.Parts, uid: int | None, without: frozenset[str]
) -> None:
    """Enters the namespaces; only a child is really inside the one of processes."""
    code = 1
    try:
        if uid is not None:
            become(uid)
            enter_user_namespace()
        prctl("parent's death", PR_SET_PDEATHSIG, signal.SIGKILL)
        unshare(*(name for name in SPACES if name not in without))
        child = os.fork()
        if child == 0:
            _as_the_first(channel, parts, without)
        channel.close()
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF
    except (SetupFailed, OSError) as error:
        channel.send(str(error).encode())
    finally:
        os._exit(code)


def _as_the_first(channel: socket.socket, parts: root.Parts, without: frozenset[str]) -> None:
    try:
        prctl("parent's death", PR_SET_PDEATHSIG, signal.SIGKILL)
        mount("none", "/", None, MS_REC | MS_SLAVE)
        root.build(parts, without)
        channel.send(b"ready")
        forkserver.serve(channel, without)
    except (SetupFailed, OSError) as error:
        channel.send(str(error).encode())
    finally:
        os._exit(0)


def serve(
    control: socket.socket,
    cells: socket.socket,
    users: workspace.Users | None,
    plan: dict[str, Any],
) -> None:
    """Pass on the requests that want a workspace, with that as a mount."""
    while True:
        ready, _, _ = select.select([control, cells], [], [])
        if cells in ready and not _group(cells, plan):
            # The process that forks has ended; the platform starts another one.
            return
        if control not in ready:
            continue
        message, fds, _, _ = socket.recv_fds(control, LARGEST, 1, socket.MSG_CMSG_CLOEXEC)
        if not message:
            return
        request = json.loads(message)
        carried = list(fds)
        try:
            carried.append(workspace.open_workspace(request, users))
            socket.send_fds(cells, [message], carried)
        except (SetupFailed, OSError) as error:
            with socket.socket(fileno=os.dup(fds[0])) as channel:
                wire.send_json(channel, wire.REFUSED, {"reason": str(error)})
        finally:
            for each in carried:
                os.close(each)


def _group(cells: socket.socket, plan: dict[str, Any]) -> bool:
    """Put a new cell into its control group; False when there will be no more."""
    message, fds, _, _ = socket.recv_fds(cells, LARGEST, 1, socket.MSG_CMSG_CLOEXEC)
    for handle in fds:
        # The platform does it again when the cell is used, and says what is wrong.
        with suppress(OSError, StopIteration):
            groups.enter(plan["groups"], plan["owner"], groups.pid_of(handle))
        os.close(handle)
    return bool(message)


def become(uid: int) -> None:
    """Another user for good, with no groups; /proc/self would be closed to it otherwise."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    prctl("dumpable", PR_SET_DUMPABLE, 1)


def enter_user_namespace() -> None:
    outside = os.getuid(), os.getgid()
    unshare("user")
    map_user((0, 0), outside)


def _may_mount() -> bool:
    with open("/proc/self/status") as file:
        rights = next(line.split()[1] for line in file if line.startswith("CapEff:"))
    return bool(int(rights, 16) >> CAP_SYS_ADMIN & 1)
