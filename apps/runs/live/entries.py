"""One event on its way to readers, and the only spelling in which it leaves the platform."""

from __future__ import annotations

import uuid
from typing import Any

from apps.runs.eventlog import Event
from omni.contracts.canonical import canonical
from omni.engine.lifecycle import TERMINAL


def wire(envelope: dict[str, Any]) -> str:
    """Canonical JSON: pushed, read again or exported, an event has the same bytes."""
    return canonical(envelope).decode()


class Entry:
    """An envelope whose text is made once for all who read it."""

    __slots__ = ("_text", "envelope", "run_id", "seq")

    def __init__(self, envelope: dict[str, Any]) -> None:
        self.envelope = envelope
        self.run_id = uuid.UUID(envelope["run_id"])
        self.seq: int = envelope["seq"]
        self._text = ""

    @classmethod
    def of(cls, event: Event) -> Entry:
        return cls(event.as_json())

    @property
    def text(self) -> str:
        if not self._text:
            self._text = wire(self.envelope)
        return self._text

    @property
    def kind(self) -> str:
        return str(self.envelope["kind"])

    @property
    def name(self) -> str:
        return self.envelope["name"] or ""

    @property
    def payload(self) -> dict[str, Any]:
        """Empty once erased."""
        return self.envelope["payload"] or {}

    @property
    def new_status(self) -> str:
        """The state this event brings its run into, if it does."""
        return str(self.payload.get("to", "")) if self.name == "state_changed" else ""

    @property
    def is_end(self) -> bool:
        return self.new_status in TERMINAL
