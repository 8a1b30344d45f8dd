"""A run's events for one reader: from the table where it must, from the push where it can."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator
from dataclasses import dataclass

import structlog
from django.db import Error as DatabaseError

from apps.runs import eventlog
from apps.runs.live.entries import Entry
from apps.runs.live.hub import current_hub
from apps.runs.live.readers import Reader, RunReader
from apps.runs.live.threads import in_thread
from apps.runs.models import Run
from omni import config

log = structlog.get_logger(__name__)
PAGE = 200
RETRY_SECONDS = 1.0
# Without an answer about permissions for so long, a stream ends rather than trusts.
TRUST_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Entries:
    """The next events, in order."""

    entries: list[Entry]


@dataclass(frozen=True, slots=True)
class Beat:
    """Nothing happened for a while; the connection lives."""


@dataclass(frozen=True, slots=True)
class End:
    """The run has ended and every event was given."""

    run_id: uuid.UUID
    status: str
    last_seq: int


@dataclass(frozen=True, slots=True)
class Revoked:
    """The reader may not read on."""


Signal = Entries | Beat | End | Revoked


def catch_up(run_id: uuid.UUID, after: int) -> tuple[list[Entry], End | None]:
    """A page of events behind `after`; with the end, if these are the last of an ended run."""
    run = Run.objects.values("last_seq", "status", "ended_at").get(pk=run_id)
    entries: list[Entry] = []
    if run["last_seq"] > after:
        entries = [Entry.of(event) for event in eventlog.read(run_id, after=after, limit=PAGE)]
        for entry in entries:
            _ = entry.text  # written here, in a thread, rather than in the event loop
    position = entries[-1].seq if entries else after
    is_end = run["ended_at"] is not None and position >= run["last_seq"]
    return entries, End(run_id, run["status"], position) if is_end else None


async def follow(reader: RunReader) -> AsyncGenerator[Signal, None]:
    """Every event behind the reader's position exactly once, in order, until the run ends."""
    hub, pace = current_hub(), Pace(reader)
    hub.add(reader)
    try:
        while not pace.is_over:
            entries, behind = reader.take()
            end = None
            if behind:
                entries, end = await _read(reader)
            fresh = reader.in_order(entries)
            if any(entry.is_end for entry in fresh):
                # Only the table knows whether something followed.
                reader.fall_behind()
            if fresh:
                pace.spoke()
                yield Entries(fresh)
            if end is not None:
                yield end
                return
            if pace.beat_is_due:
                pace.spoke()
                yield Beat()
            await reader.wait(pace.seconds_to_beat)
        if reader.closed == "revoked":
            yield Revoked()
    finally:
        hub.remove(reader)


async def _read(reader: RunReader) -> tuple[list[Entry], End | None]:
    try:
        entries, end = await in_thread(catch_up, reader.run_id, reader.position)
    except (DatabaseError, OSError) as error:
        log.warning("live_read_failed", run_id=str(reader.run_id), error=type(error).__name__)
        await asyncio.sleep(RETRY_SECONDS)
        reader.fall_behind()
        return [], None
    if len(entries) >= PAGE and end is None:
        reader.fall_behind()
    return entries, end


class Pace:
    """When a stream must give a sign of life, and when it must end."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._every = float(config.current().stream_heartbeat_seconds)
        self._spoke_at = time.monotonic()

    def spoke(self) -> None:
        self._spoke_at = time.monotonic()

    @property
    def seconds_to_beat(self) -> float:
        return self._spoke_at + self._every - time.monotonic()

    @property
    def beat_is_due(self) -> bool:
        return self.seconds_to_beat <= 0

    @property
    def is_over(self) -> bool:
        if self._reader.closed:
            return True
        if time.monotonic() - self._reader.verified > TRUST_SECONDS:
            self._reader.close("unverified")
        return bool(self._reader.closed)
