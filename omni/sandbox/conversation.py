"""Our side of one job: hand it over, wait for its end or make one, check all that comes back."""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

from omni.sandbox import interpreter
from omni.sandbox.cell import groups, wire
from omni.sandbox.cell.export import MAX_SKIPPED
from omni.sandbox.cell.names import problem
from omni.sandbox.cell.root import OUT, TEMPORARY, WORK, WORKSPACE
from omni.sandbox.cell.supervisor import PROXY
from omni.sandbox.cgroup import Group
from omni.sandbox.egress.proxy import Proxy
from omni.sandbox.shapes import Job, OutputFile, Refused, Result, Status

Opener = Callable[[Job], socket.socket]

GREETING_SECONDS = 60
ANSWER_SECONDS = 60
# After the wall time the supervisor ends the job by itself; this is for one that cannot.
GRACE_SECONDS = 10
CANCEL_SECONDS = 0.7
LOOK_SECONDS = 0.05
STATUSES = frozenset(get_args(Status)) - {"refused"}
MEASURES = ("cpu_seconds", "wall_seconds", "memory_peak_bytes", "processes_peak")


class Unborn(Refused):
    """The cell ended before it greeted, with the process that makes them; nothing has run."""


class Conversation:
    """With the supervisor of one cell. Closing it ends the cell, whatever state it is in."""

    def __init__(self, channel: socket.socket, job: Job) -> None:
        self._channel, self._job = channel, job
        self._handle = -1
        self._group: Group | None = None
        self._proxy: Proxy | None = None
        try:
            self._greet()
        except BaseException:
            self.close()
            raise

    def _greet(self) -> None:
        self._channel.settimeout(GREETING_SECONDS)
        try:
            kind, said, fds = wire.receive_json(self._channel, wire.HELLO, wire.REFUSED)
        except (wire.Broken, OSError) as error:
            raise Unborn(f"the cell did not start: {error}") from None
        if kind == wire.REFUSED:
            raise Refused(str(said["reason"]))
        self._handle, *doors = fds
        for number in doors:
            door = socket.socket(fileno=number)
            if self._job.egress:
                self._proxy = Proxy(door, self._job.egress, self._job.allow_private)
            else:
                door.close()
        self._group = Group.enter(groups.pid_of(self._handle), self._job.limits)

    def send(self, pipes: tuple[int, ...] = ()) -> None:
        """Everything the job needs; it starts when the last byte has arrived."""
        job = self._job
        files = {name: _bytes_of(source) for name, source in job.files.items()}
        head = {
            "command": list(job.command),
            "env": self._environment(),
            "cwd": job.cwd or (WORKSPACE if job.workspace else WORK),
            "limits": asdict(job.limits),
            "writable": bool(job.workspace and job.writable),
            "files": list(files),
        }
        self._channel.settimeout(ANSWER_SECONDS)
        try:
            wire.send_json(self._channel, wire.JOB, head, pipes)
            for data in (*files.values(), job.stdin):
                wire.send(self._channel, wire.DATA, data)
        except OSError:
            # Why it closed the line early is in what it said last; `result` reads that.
            return

    def _environment(self) -> dict[str, str]:
        proxy = f"http://{PROXY[0]}:{PROXY[1]}"
        names = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
        return {
            "PATH": interpreter.path_variable(),
            "HOME": WORK,
            "TMPDIR": TEMPORARY,
            "LANG": "C.UTF-8",
            "OUTPUT_DIR": f"{WORK}/{OUT}",
            "PYTHONDONTWRITEBYTECODE": "1",
            **self._job.env,
            **(dict.fromkeys(names, proxy) if self._job.egress else {}),
        }

    def result(self, cancelled: Callable[[], bool]) -> Result:
        """Wait for it; a job that nobody wants any more is ended within a second."""
        until = time.monotonic() + self._job.limits.wall_seconds + GRACE_SECONDS
        forced: Status | None = None
        while not self._readable():
            now = time.monotonic()
            if now > until:
                forced = forced or "timeout"
                self._kill()
                until = now + GRACE_SECONDS
            elif forced is None and cancelled():
                forced, until = "cancelled", now + CANCEL_SECONDS
                with suppress(OSError):
                    self._channel.shutdown(socket.SHUT_WR)
        return self._read(forced)

    def _readable(self) -> bool:
        return bool(select.select([self._channel], [], [], LOOK_SECONDS)[0])

    def _read(self, forced: Status | None) -> Result:
        self._channel.settimeout(ANSWER_SECONDS)
        try:
            kind, head, _ = wire.receive_json(self._channel, wire.RESULT, wire.REFUSED)
            if kind == wire.REFUSED:
                raise Refused(str(head["reason"]))
            return self._checked(head, forced)
        except (wire.Broken, OSError, KeyError, TypeError):
            # It was ended from outside, by us or by the kernel for want of memory; or it is not
            # our supervisor any more that speaks, and nothing it says counts.
            self._kill()
            killed: Status = "memory_limit" if self._starved() else "signal"
            return Result(forced or killed, -signal.SIGKILL, usage=self._usage({}))

    def _checked(self, head: dict[str, Any], forced: Status | None) -> Result:
        limits = self._job.limits
        status, code, names = head["status"], head["exit_code"], head["files"]
        if status not in STATUSES or not isinstance(code, int) or not isinstance(names, list):
            raise wire.Broken("a result of another shape")
        if len(names) > limits.output_files or len(set(names)) < len(names):
            raise wire.Broken("files that were not agreed on")
        if any(not isinstance(name, str) or problem(name) for name in names):
            raise wire.Broken("names that were not agreed on")
        stdout = wire.receive_data(self._channel, limits.output_bytes)
        stderr = wire.receive_data(self._channel, limits.output_bytes)
        left, files = limits.output_files_bytes, []
        for name in names:
            data = wire.receive_data(self._channel, left)
            left -= len(data)
            files.append(OutputFile(name, data))
        if status in ("signal", "error") and self._starved():
            status = "memory_limit"
        usage = self._usage(head["usage"])
        return Result(forced or status, code, stdout, stderr, tuple(files), usage)

    def _starved(self) -> bool:
        return self._group is not None and self._group.starved()

    def _usage(self, said: dict[str, Any]) -> dict[str, Any]:
        usage: dict[str, Any] = {
            name: said[name] for name in MEASURES if isinstance(said.get(name), int | float)
        }
        usage["skipped"] = [
            {"name": str(row["name"])[:200], "reason": str(row["reason"])[:200]}
            for row in said.get("skipped", [])[:MAX_SKIPPED]
        ]
        if self._proxy is not None:
            self._proxy.close()
            usage["egress"] = self._proxy.log
        return usage

    def _kill(self) -> None:
        if self._handle >= 0:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def close(self) -> None:
        """Returns when the first process of the cell is gone, and so everything in it."""
        if self._handle >= 0:
            self._kill()
            select.select([self._handle], [], [], GRACE_SECONDS)
            os.close(self._handle)
            self._handle = -1
        if self._proxy is not None:
            self._proxy.close()
        if self._group is not None:
            self._group.close()
        self._channel.close()


def converse(opener: Opener, job: Job) -> Conversation:
    """With a new cell; asked a second time when the process that makes them has just died."""
    try:
        return Conversation(opener(job), job)
    except Unborn:
        return Conversation(opener(job), job)


def _bytes_of(source: bytes | Path) -> bytes:
    return source if isinstance(source, bytes) else source.read_bytes()
