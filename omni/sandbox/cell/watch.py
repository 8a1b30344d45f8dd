"""The watchdog of a job: every few milliseconds it compares what the job uses with its limits."""

from __future__ import annotations

import os
import resource
import select
import signal
import socket
import time
from contextlib import suppress
from typing import Any

from omni.sandbox.cell.root import TEMPORARY, WORK
from omni.sandbox.cell.streams import Streams

TICK_MS = 50
PAGE = resource.getpagesize()
HERTZ = os.sysconf("SC_CLK_TCK")
KILLING_SECONDS = 5


class Watch:
    """`ended` is the wait status of the job's own process, `killed` why we ended it ourselves."""

    def __init__(
        self,
        child: int,
        streams: Streams,
        channel: socket.socket,
        limits: dict[str, Any],
        without: frozenset[str],
    ) -> None:
        self.child, self.streams, self.channel, self.limits = child, streams, channel, limits
        self.ended: int | None = None
        self.killed = ""
        self.disk_full = self.crowded = False
        self.memory_peak = self.processes_peak = 0
        self.cpu = 0.0
        self._blind = "watchdog" in without
        self._began = time.monotonic()
        self._seconds = 0.0

    def until_the_end(self) -> None:
        """Returns when the job's process has ended, or had to, and nothing of it lives."""
        handle = os.pidfd_open(self.child)
        next_look = self._began + TICK_MS / 1000
        while self.ended is None and not self.killed:
            self._wait_for_something(handle)
            if self.streams.full:
                self.killed = "output_limit"
            now = time.monotonic()
            if now >= next_look:
                self.look()
                next_look = now + TICK_MS / 1000
        self.look(last=True)
        os.close(handle)
        self._end_all()
        self.streams.drain_rest()
        self._seconds = time.monotonic() - self._began

    def _wait_for_something(self, handle: int) -> None:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        poll.register(self.channel, select.POLLIN | select.POLLHUP)
        for end in self.streams.readers():
            poll.register(end, select.POLLIN | select.POLLHUP)
        for end in self.streams.writers():
            poll.register(end, select.POLLOUT | select.POLLERR)
        for ready, _ in poll.poll(TICK_MS):
            if ready == handle:
                self._reap()
            elif ready == self.channel.fileno():
                # The platform says nothing more, so this is its end of the line.
                self.killed = "cancelled"
            elif ready in self.streams.readers():
                self.streams.drain(ready)
            elif ready in self.streams.writers():
                self.streams.feed()

    def look(self, *, last: bool = False) -> None:
        """Everything that is measured; the first limit that is passed ends the job."""
        if not last:
            self._reap()
        processes = [number for name in os.listdir("/proc") if (number := _number(name)) > 1]
        tasks, memory, live = 0, 0, 0.0
        for number in processes:
            with suppress(OSError, ValueError, IndexError):
                threads, seconds = _stat(number)
                tasks, live = tasks + threads, live + seconds
                memory += _resident(number)
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cpu = max(self.cpu, live + spent.ru_utime + spent.ru_stime)
        self.processes_peak = max(self.processes_peak, tasks)
        if memory > self.limits["memory_bytes"]:
            memory = sum(_proportional(number) for number in processes)
        self.memory_peak = max(self.memory_peak, memory)
        self.disk_full = self.disk_full or any(_is_full(place) for place in (WORK, TEMPORARY))
        self.crowded = self.crowded or tasks > self.limits["processes"]
        if not (last or self._blind or self.killed):
            self._judge(memory)

    def _judge(self, memory: int) -> None:
        if memory > self.limits["memory_bytes"]:
            self.killed = "memory_limit"
        elif self.crowded:
            self.killed = "process_limit"
        elif self.cpu > self.limits["cpu_seconds"]:
            self.killed = "cpu_limit"
        elif time.monotonic() - self._began > self.limits["wall_seconds"]:
            self.killed = "timeout"

    def _reap(self) -> None:
        """Also those whose parents have gone: we are the first process, they became ours."""
        with suppress(ChildProcessError):
            while True:
                number, status = os.waitpid(-1, os.WNOHANG)
                if not number:
                    return
                if number == self.child:
                    self.ended = status

    def _end_all(self) -> None:
        """Everybody in the namespace but us, until the kernel says that nobody is left."""
        until = time.monotonic() + KILLING_SECONDS
        while time.monotonic() < until:
            with suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
            try:
                number, status = os.waitpid(-1, 0)
            except ChildProcessError:
                return
            if number == self.child:
                self.ended = status

    def usage(self) -> dict[str, Any]:
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        largest = spent.ru_maxrss * 1024
        return {
            "cpu_seconds": round(max(self.cpu, spent.ru_utime + spent.ru_stime), 4),
            "wall_seconds": round(self._seconds, 4),
            "memory_peak_bytes": max(self.memory_peak, largest),
            "processes_peak": max(1, self.processes_peak),
        }


def _number(name: str) -> int:
    return int(name) if name.isdigit() else 0


def _stat(number: int) -> tuple[int, float]:
    """Threads, and seconds of the processor including children that it has waited for."""
    with open(f"/proc/{number}/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    if fields[0] == b"Z":
        return 0, 0.0
    return int(fields[17]), sum(int(fields[at]) for at in (11, 12, 13, 14)) / HERTZ


def _resident(number: int) -> int:
    with open(f"/proc/{number}/statm", "rb") as file:
        return int(file.read().split()[1]) * PAGE


def _proportional(number: int) -> int:
    """Shared pages counted once; who hides them counts in full."""
    with suppress(OSError), open(f"/proc/{number}/smaps_rollup", "rb") as file:
        for line in file:
            if line.startswith(b"Pss:"):
                return int(line.split()[1]) * 1024
    with suppress(OSError, ValueError, IndexError):
        return _resident(number)
    return 0


def _is_full(place: str) -> bool:
    facts = os.statvfs(place)
    return facts.f_bavail == 0 or (facts.f_files > 0 and facts.f_favail == 0)
