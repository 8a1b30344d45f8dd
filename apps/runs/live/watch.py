"""Streams over many runs: a snapshot first, then hints; a new snapshot wherever hints may lack."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

import structlog
from django.db import Error as DatabaseError

from apps.runs.live import snapshots
from apps.runs.live.entries import Entry, wire
from apps.runs.live.feed import RETRY_SECONDS, Beat, Pace, Revoked
from apps.runs.live.hub import current_hub
from apps.runs.live.readers import ApprovalReader, ProjectReader
from apps.runs.live.threads import in_thread

log = structlog.get_logger(__name__)
# The end of a run withdraws its approvals a moment later, without an event of their own.
SETTLE_SECONDS = 1.5


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Where things stand now."""

    text: str


@dataclass(frozen=True, slots=True)
class Hint:
    """Something happened; `event` says of what kind."""

    event: str
    text: str


WideSignal = Snapshot | Hint | Beat | Revoked


class Watch:
    """What one project's or approvals stream says, and when."""

    def __init__(self, reader: ProjectReader) -> None:
        self.reader = reader
        self._is_inbox = isinstance(reader, ApprovalReader)
        self._shown = ""
        self._statuses: dict[uuid.UUID, snapshots.Known] = {}
        self._look_at = 0.0

    async def signals(self) -> AsyncGenerator[WideSignal, None]:
        hub, pace = current_hub(), Pace(self.reader)
        hub.add(self.reader)
        try:
            while not pace.is_over:
                entries, behind = self.reader.take()
                said = [*await self._snapshots(behind, pace), *await self._hints(entries)]
                for signal in said or ([Beat()] if pace.beat_is_due else []):
                    pace.spoke()
                    yield signal
                await self.reader.wait(min(pace.seconds_to_beat, self._seconds_to_look))
            if self.reader.closed == "revoked":
                yield Revoked()
        finally:
            hub.remove(self.reader)

    def snapshot(self) -> dict[str, Any]:
        make = snapshots.approval_snapshot if self._is_inbox else snapshots.project_snapshot
        return make(self.reader.projects)

    async def _snapshots(self, behind: bool, pace: Pace) -> list[WideSignal]:
        """A new one where hints may be missing, and at every beat, for nothing depends on them."""
        if not (behind or pace.beat_is_due or self._seconds_to_look <= 0):
            return []
        self._look_at = 0.0
        try:
            text = wire(await in_thread(self.snapshot))
        except (DatabaseError, OSError) as error:
            log.warning("live_snapshot_failed", error=type(error).__name__)
            await asyncio.sleep(RETRY_SECONDS)
            self.reader.fall_behind()
            return []
        self._statuses.clear()
        if text == self._shown:
            return []
        self._shown = text
        return [Snapshot(text)]

    async def _hints(self, entries: list[Entry]) -> list[WideSignal]:
        if any(entry.is_end for entry in entries):
            self._look_at = time.monotonic() + SETTLE_SECONDS
        if self._is_inbox:
            return [Hint("approval", wire(hint)) for hint in snapshots.approval_hints(entries)]
        unknown = {entry.run_id for entry in entries} - self._statuses.keys()
        if unknown:
            try:
                self._statuses |= await in_thread(snapshots.statuses_of, unknown)
            except (DatabaseError, OSError):
                self.reader.fall_behind()
        return [Hint("run", wire(hint)) for hint in snapshots.run_hints(entries, self._statuses)]

    @property
    def _seconds_to_look(self) -> float:
        return self._look_at - time.monotonic() if self._look_at else float("inf")
