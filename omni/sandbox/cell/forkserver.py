"""The process that is warm: it forks one cell for each request and never sees what a job says."""

from __future__ import annotations

import json
import os
import signal
import socket
from typing import Any

from omni.sandbox.cell import root, supervisor, wire
from omni.sandbox.cell.kernel import SetupFailed, map_user, unshare

LARGEST = 65536
SPACES = ("user", "mount", "pid", "net", "ipc", "uts", "cgroup")


def serve(requests: socket.socket, without: frozenset[str]) -> None:
    """Until the launcher ends. Children are not waited for: the kernel forgets them."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        message, fds, _, _ = socket.recv_fds(requests, LARGEST, 2, socket.MSG_CMSG_CLOEXEC)
        if not message:
            return
        if os.fork() == 0:
            requests.close()
            _start(json.loads(message), list(fds), without)
        for each in fds:
            os.close(each)


def _start(request: dict[str, Any], fds: list[int], without: frozenset[str]) -> None:
    """A child of ours enters namespaces of its own; its child is the first process in them."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    channel = socket.socket(fileno=fds[0])
    try:
        unshare(*(name for name in SPACES if name not in without))
        if "user" not in without:
            map_user(root.USER, 0, 0)
        if os.fork() == 0:
            _first(channel, request, fds[1] if len(fds) > 1 else None, without)
    except (SetupFailed, OSError) as error:
        supervisor.refuse(channel, str(error))
    finally:
        os._exit(0)


def _first(
    channel: socket.socket, request: dict[str, Any], tree: int | None, without: frozenset[str]
) -> None:
    try:
        root.furnish(request, tree, without)
        supervisor.run(channel, egress=bool(request["egress"]), without=without)
    except (SetupFailed, OSError, wire.Broken) as error:
        supervisor.refuse(channel, str(error))
    finally:
        os._exit(0)
