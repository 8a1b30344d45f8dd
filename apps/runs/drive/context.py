"""What an effect sees of its run: streaming, artifacts, and whether to stop."""

from __future__ import annotations

import time
import uuid
from datetime import datetime, timedelta

from apps.runs.drive.memory import RunMemory
from apps.runs.drive.pulse import Pulse
from apps.runs.drive.writer import Writer
from apps.runs.eventlog import Event, NewEvent, Sealed
from apps.runs.eventlog.envelope import stamp
from apps.runs.selectors.artifacts import project_artifact
from apps.runs.services.artifacts import TooLarge, open_artifact, store_artifact

GATHER_SECONDS = 0.05
MAX_SECONDS = 10 * 366 * 86400.0


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

    @property
    def memory(self) -> RunMemory:
        return RunMemory(self.run_id)

    def cancelled(self) -> bool:
        return self._pulse.must_stop.is_set()

    def now(self) -> datetime:
        return self._writer.now()

    def after(self, seconds: float) -> str:
        """A moment from now, as events name it."""
        return stamp(self.now() + timedelta(seconds=min(seconds, MAX_SECONDS)))

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

    def get_artifact(self, sha256: str, *, max_bytes: int) -> bytes:
        artifact = project_artifact(self.run_id, sha256)
        if artifact.size > max_bytes:
            raise TooLarge(f"The artifact has {artifact.size} bytes; {max_bytes} are allowed here.")
        with open_artifact(sha256) as stream:
            return stream.read()
