"""The first process of a cell: takes the job, closes the doors, runs it, says how it ended."""

from __future__ import annotations

import errno
import os
import signal
import socket
from contextlib import suppress
from typing import Any

from omni.sandbox.cell import confine, export, wire
from omni.sandbox.cell.names import problem
from omni.sandbox.cell.root import OUT, TEMPORARY, WORK, WORKSPACE
from omni.sandbox.cell.streams import Streams
from omni.sandbox.cell.verdict import verdict
from omni.sandbox.cell.watch import Watch

PROXY = ("127.0.0.1", 3128)
LARGEST_INPUT = 1 << 30
ERRORS_AT = 3


def refuse(channel: socket.socket, reason: str) -> None:
    with suppress(OSError):
        wire.send_json(channel, wire.REFUSED, {"reason": reason})


def run(channel: socket.socket, *, egress: bool, without: frozenset[str]) -> None:
    """One job from the first frame to the last; raises before anything of it has run."""
    greet(channel, egress)
    _, job, given = wire.receive_json(channel, wire.JOB)
    unpack(channel, job)
    stdin = wire.receive_data(channel, LARGEST_INPUT)
    writable = [WORK, TEMPORARY, *([WORKSPACE] if job["writable"] else [])]
    confine.lock_down(writable, without)
    streams = Streams(stdin, job["limits"], given)
    child = start(job, streams, channel, without)
    # From here on it has run: whatever goes wrong now must not look like a refusal.
    with suppress(OSError):
        watch = Watch(child, streams, channel, job["limits"], without)
        watch.until_the_end()
        report(channel, job, watch, streams)


def greet(channel: socket.socket, egress: bool) -> None:
    """Give the platform a handle to end us with, and the door of the proxy when there is one."""
    me = os.pidfd_open(os.getpid())
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as door:
        fds: tuple[int, ...] = (me,)
        if egress:
            door.bind(PROXY)
            door.listen(64)
            fds = (me, door.fileno())
        wire.send_json(channel, wire.HELLO, {}, fds)
    os.close(me)


def unpack(channel: socket.socket, job: dict[str, Any]) -> None:
    """Write the job's files; the platform has checked their names, we check them again."""
    os.mkdir(f"{WORK}/{OUT}")
    for name in job["files"]:
        if problem(name):
            raise wire.Broken("a file outside of the job's folder")
        path = f"{WORK}/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(wire.receive_data(channel, LARGEST_INPUT))


def start(
    job: dict[str, Any], streams: Streams, channel: socket.socket, without: frozenset[str]
) -> int:
    """The job's own process; why it could not begin is written where its errors go."""
    child = os.fork()
    if child:
        streams.close_theirs()
        return child
    try:
        os.setsid()
        streams.take()
        if "descriptors" in without:
            os.set_inheritable(channel.fileno(), True)
        else:
            os.closerange(ERRORS_AT, 1 << 16)
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        os.chdir(job["cwd"])
        confine.limit(job["limits"], without)
        os.execvpe(job["command"][0], job["command"], job["env"])  # noqa: S606  (that is the job)
    except OSError as error:
        word = "not found" if error.errno == errno.ENOENT else error.strerror
        os.write(2, f"{job['command'][0]}: {word}\n".encode())
        os._exit(127 if error.errno == errno.ENOENT else 126)
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
        raise
    finally:
        os._exit(126)


def report(channel: socket.socket, job: dict[str, Any], watch: Watch, streams: Streams) -> None:
    """How it ended, what it said, what it made. Nothing of it lives any more."""
    status, code = verdict(watch, streams, job["limits"])
    found = export.Export([], []) if status == "cancelled" else export.collect(job["limits"])
    head = {
        "status": status,
        "exit_code": code,
        "usage": {**watch.usage(), "skipped": found.skipped},
        "files": [file.name for file in found.files],
    }
    wire.send_json(channel, wire.RESULT, head)
    wire.send(channel, wire.DATA, bytes(streams.said[1]))
    wire.send(channel, wire.DATA, bytes(streams.said[2]))
    for file in found.files:
        wire.send(channel, wire.DATA, file.read())
