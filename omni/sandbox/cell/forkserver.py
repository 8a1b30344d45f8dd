"""The process that is warm: it keeps cells ready; each waits for one job and takes no other."""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import time
from contextlib import suppress
from typing import Any

from omni.sandbox.cell import root, supervisor, wire
from omni.sandbox.cell.kernel import SetupFailed, fork_into, map_user

LARGEST = 65536
SPACES = ("user", "mount", "pid", "net", "ipc", "uts", "cgroup")
SPARES = 2
QUIET_MS = 30
PAUSE_SECONDS = 0.05


def serve(requests: socket.socket, without: frozenset[str]) -> None:
    """Until nobody can ask any more. Requests are read by the cells themselves, one by each."""
    # Children are not waited for: the kernel forgets them.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.disable()
    gc.freeze()
    poll = select.poll()
    poll.register(requests, 0)
    spares = 0
    while True:
        # With one in reserve the next is made when it is quiet: the job that began needs the time.
        events = poll.poll(QUIET_MS if spares < SPARES else None) if spares else []
        if not events:
            poll.register(_spare(requests, without), select.POLLIN)
            spares += 1
        for ready, _ in events:
            if ready == requests.fileno():
                return
            if not os.read(ready, 1):
                # It died unused, which must not become a race of births and deaths.
                time.sleep(PAUSE_SECONDS)
            poll.unregister(ready)
            os.close(ready)
            spares -= 1


def _spare(requests: socket.socket, without: frozenset[str]) -> int:
    """A cell that waits; the descriptor tells when it has been taken, or has died."""
    reading, writing = os.pipe()
    try:
        child = fork_into(name for name in SPACES if name not in without)
        if child == 0:
            _first(requests, writing, without)
        _announce(requests, child)
    except SetupFailed as error:
        if os.fork() == 0:
            _refuse_next(requests, writing, str(error))
    os.close(writing)
    return reading


def _announce(requests: socket.socket, child: int) -> None:
    """To the launcher, which can put it into a control group."""
    with suppress(OSError):
        handle = os.pidfd_open(child)
        socket.send_fds(requests, [b"spare"], [handle])
        os.close(handle)


def _first(requests: socket.socket, taken: int, without: frozenset[str]) -> None:
    """The first process of a cell; never returns."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        map_user((root.USER, root.USER), (0, 0))
        root.prepare(without)
    except (SetupFailed, OSError) as error:
        _refuse_next(requests, taken, str(error))
    request, channel, tree = _take(requests, taken)
    try:
        root.furnish(request, tree, without)
        supervisor.run(channel, egress=bool(request["egress"]), without=without)
    except (SetupFailed, OSError, wire.Broken) as error:
        supervisor.refuse(channel, str(error))
    finally:
        os._exit(0)


def _take(requests: socket.socket, taken: int) -> tuple[dict[str, Any], socket.socket, int | None]:
    """The next request; ends the process when there is none to come."""
    message, fds, _, _ = socket.recv_fds(requests, LARGEST, 2, socket.MSG_CMSG_CLOEXEC)
    if not message:
        os._exit(0)
    os.write(taken, b".")
    os.close(taken)
    requests.close()
    return json.loads(message), socket.socket(fileno=fds[0]), fds[1] if len(fds) > 1 else None


def _refuse_next(requests: socket.socket, taken: int, reason: str) -> None:
    """Whoever asks next learns what is wrong with this machine; never returns."""
    try:
        _, channel, _ = _take(requests, taken)
        supervisor.refuse(channel, reason)
    finally:
        os._exit(0)
