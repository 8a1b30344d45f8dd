"""What an effect sees of its run: streaming, artifacts, and whether to stop."""

from __future__ import annotations

import time
import uuid
from datetime import datetime

from apps.runs.drive.pulse import Pulse
from apps.runs.drive.writer import Writer
from apps.runs.eventlog import Event, NewEvent, Sealed
from apps.runs.services.artifacts import store_artifact

GATHER_SECONDS = 0.05


class DriveContext:
    """Implements the RunContext port for one driver."""

    def __init__(self, writer: Writer, pulse: Pulse) -> None:
        self.appended: list[Event] = []
        self._writer = writer
        self._pulse = pulse
        self._pieces: list[str] = []
        self._message_id = ""
        self._index = 0
        self._flushed = time.monotonic()

    @property
    def run_id(self) -> uuid.UUID:
        return self._writer.run_id

    def cancelled(self) -> bool:
        return self._pulse.must_stop.is_set()

    def now(self) -> datetime:
        return self._writer.now()

    def seal(self, event: NewEvent) -> Sealed:
        return self._writer.seal(event)

    def append(self, events: list[NewEvent]) -> list[Event]:
        done = self._writer.append(events)
        self.appended += done
        return done

    def emit_delta(self, message_id: str, text: str) -> None:
        if message_id != self._message_id:
            self.flush()
            self._message_id, self._index = message_id, 0
        self._pieces.append(text)
        if time.monotonic() - self._flushed >= GATHER_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Append what was gathered; the pieces of one message are numbered from 0."""
        if self._pieces:
            text, self._pieces = "".join(self._pieces), []
            payload = {"message_id": self._message_id, "index": self._index, "text": text}
            self.append([NewEvent("assistant_message_delta", payload)])
            self._index += 1
        self._flushed = time.monotonic()

    def put_artifact(self, data: bytes, *, media_type: str, name: str = "") -> str:
        artifact = store_artifact(
            self.run_id,
            data,
            media_type=media_type,
            name=name,
            lease=self._writer.lease,
            actor=self._writer.actor,
        )
        return artifact.sha256
