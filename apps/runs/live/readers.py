"""What waits for one reader: bounded, so that a slow one costs no memory and loses no event."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import deque

from apps.runs.eventlog.approvals import NAMES as APPROVAL_NAMES
from apps.runs.live.access import Grant
from apps.runs.live.entries import Entry

QUEUE = 256


class Reader:
    """A queue between the hub and one stream.

    When it overflows, or something may have been missed, the reader is `behind`: the queue may be
    incomplete, and the database is asked instead. Nothing is lost, only delayed.
    """

    def __init__(self, grant: Grant) -> None:
        self.grant = grant
        self.closed = ""
        self.verified = time.monotonic()
        self._queue: deque[Entry] = deque()
        self._behind = True
        self._waiter: asyncio.Future[None] | None = None

    def offer(self, entry: Entry) -> None:
        if len(self._queue) >= QUEUE:
            self._queue.clear()
            self._behind = True
        self._queue.append(entry)
        self._wake()

    def fall_behind(self) -> None:
        self._behind = True
        self._wake()

    def close(self, reason: str) -> None:
        """End the stream; the first reason counts."""
        self.closed = self.closed or reason
        self._wake()

    def take(self) -> tuple[list[Entry], bool]:
        """Everything that waits, and whether the database must be asked."""
        entries, behind = list(self._queue), self._behind
        self._queue.clear()
        self._behind = False
        return entries, behind

    @property
    def newest_queued(self) -> int:
        return self._queue[-1].seq if self._queue else 0

    async def wait(self, seconds: float) -> None:
        """Until there is something to take or to end, at most so long."""
        if self._queue or self._behind or self.closed or seconds <= 0:
            return
        loop = asyncio.get_running_loop()
        self._waiter = waiter = loop.create_future()
        timer = loop.call_later(seconds, self._wake)
        try:
            await waiter
        finally:
            timer.cancel()
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class RunReader(Reader):
    """Reads one run from a position on: only the next number passes, any other shows a gap."""

    def __init__(self, grant: Grant, run_id: uuid.UUID, after: int) -> None:
        super().__init__(grant)
        self.run_id = run_id
        self.position = after

    def in_order(self, entries: list[Entry]) -> list[Entry]:
        fresh = []
        for entry in entries:
            if entry.seq == self.position + 1:
                fresh.append(entry)
                self.position = entry.seq
            elif entry.seq > self.position:
                self.fall_behind()
                break
        return fresh


class ProjectReader(Reader):
    """Hears of every event of one project."""

    def __init__(self, grant: Grant, projects: frozenset[uuid.UUID]) -> None:
        super().__init__(grant)
        self.projects = projects

    def wants(self, project_id: uuid.UUID, entry: Entry) -> bool:
        return project_id in self.projects


class ApprovalReader(ProjectReader):
    """Hears of approvals, and of ends of runs, which withdraw them."""

    def wants(self, project_id: uuid.UUID, entry: Entry) -> bool:
        return project_id in self.projects and (entry.name in APPROVAL_NAMES or entry.is_end)
