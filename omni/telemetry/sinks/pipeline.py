"""Between the log and the sinks: a bounded queue and a thread for each sink.

Handing over never waits and never raises. A sink that is too slow, hangs or fails loses events,
which are counted; the others and the run go on.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields

import structlog

from omni.telemetry.sinks.base import Line, Recorded, Sink

log = structlog.get_logger(__name__)
MOST_AT_ONCE = 500
REPORT_SECONDS = 1.0
PAUSE_SECONDS = 0.5
# A sink that fails all day says so now and then, not for every batch.
WARN_SECONDS = 60.0

Report = Callable[[str, "Counts"], None]


@dataclass(slots=True)
class Counts:
    """Events of one sink in one process, since it began."""

    written: int = 0
    dropped: int = 0
    failed: int = 0

    def since(self, before: Counts) -> Counts:
        return Counts(*(getattr(self, f.name) - getattr(before, f.name) for f in fields(self)))

    def __bool__(self) -> bool:
        return bool(self.written or self.dropped or self.failed)


class Lane:
    """One sink with what waits for it."""

    def __init__(self, sink: Sink, *, limit: int) -> None:
        self.sink = sink
        self.counts = Counts()
        self._limit = limit
        self._queue: deque[Recorded] = deque()
        self._changed = threading.Condition()
        self._busy = self._closing = False
        self._warned = float("-inf")
        self._thread = threading.Thread(target=self._work, name=f"sink-{sink.name}", daemon=True)
        self._thread.start()

    def put(self, events: Sequence[Recorded]) -> None:
        """All of a batch or nothing of it: half a batch would look like a lost event."""
        with self._changed:
            if self._closing or len(self._queue) + len(events) > self._limit:
                self.counts.dropped += len(events)
                return
            self._queue.extend(events)
            self._changed.notify_all()

    def drain(self, until: float) -> bool:
        """Wait until all is handed over, or until that moment."""
        with self._changed:
            return self._changed.wait_for(
                lambda: not self._queue and not self._busy, max(0.0, until - time.monotonic())
            )

    def close(self, until: float) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join(max(0.0, until - time.monotonic()))

    def _take(self) -> list[Recorded]:
        with self._changed:
            self._busy = False
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._queue or self._closing)
            self._busy = True
            return [self._queue.popleft() for _ in range(min(len(self._queue), MOST_AT_ONCE))]

    def _work(self) -> None:
        while batch := self._take():
            try:
                lines: list[Line] = [event.as_json() for event in batch]
                self.sink.write(lines)
                self.counts.written += len(batch)
            except Exception as error:  # noqa: BLE001  (the lane outlives whatever its sink does)
                self.counts.failed += len(batch)
                self._complain(error)
                time.sleep(PAUSE_SECONDS)
        try:
            self.sink.close()
        except Exception as error:  # noqa: BLE001  (it is leaving anyway)
            self._complain(error)
        with self._changed:
            self._busy = False
            self._changed.notify_all()

    def _complain(self, error: Exception) -> None:
        if time.monotonic() - self._warned > WARN_SECONDS:
            self._warned = time.monotonic()
            reason = f"{type(error).__name__}: {error}"
            log.warning("telemetry_sink_failed", sink=self.sink.name, error=reason)


class Pipeline:
    """All sinks of a process; `report` hears what changed in the counts, about every second."""

    def __init__(self, sinks: Iterable[Sink], *, limit: int, report: Report | None = None) -> None:
        self._lanes = [Lane(sink, limit=limit) for sink in sinks]
        self._report = report
        self._told = {lane.sink.name: Counts() for lane in self._lanes}
        self._closed = threading.Event()
        if report is not None and self._lanes:
            threading.Thread(target=self._tell_often, name="sink-counts", daemon=True).start()

    def put(self, events: Sequence[Recorded]) -> None:
        for lane in self._lanes:
            lane.put(events)

    @property
    def counts(self) -> dict[str, Counts]:
        return {lane.sink.name: lane.counts for lane in self._lanes}

    def drain(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        left = [lane for lane in self._lanes if not lane.drain(until)]
        return not left

    def close(self, seconds: float) -> None:
        """Hand over what waits, for at most so long; a sink that hangs is left behind."""
        until = time.monotonic() + seconds
        for lane in self._lanes:
            lane.close(until)
        self._closed.set()
        self._tell()

    def _tell_often(self) -> None:
        while not self._closed.wait(REPORT_SECONDS):
            self._tell()

    def _tell(self) -> None:
        for lane in self._lanes:
            name, now = lane.sink.name, Counts(*_values(lane.counts))
            news = now.since(self._told[name])
            if not news or self._report is None:
                continue
            if news.dropped:
                log.warning("telemetry_dropped", sink=name, events=news.dropped)
            try:
                self._report(name, news)
            except Exception as error:  # noqa: BLE001  (counting must not end the counting)
                log.warning("telemetry_not_counted", sink=name, error=type(error).__name__)
                continue
            self._told[name] = now


def _values(counts: Counts) -> list[int]:
    return [getattr(counts, field.name) for field in fields(counts)]
