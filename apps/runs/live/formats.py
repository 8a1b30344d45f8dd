"""The forms in which a run's stream can be had; SSE and WebSocket carry the same ones."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple, Protocol, cast

from apps.runs.live.agui import AgUiEvent, AgUiProjection
from apps.runs.live.entries import Entry, wire
from apps.runs.live.feed import End
from apps.runs.models import Run
from omni import config
from omni.contracts.cloudevents import to_cloudevent
from omni.contracts.types import RunEvent


class Format(StrEnum):
    OMNI = "omni"
    AG_UI = "ag-ui"
    CLOUDEVENTS = "cloudevents"


class Frame(NamedTuple):
    """One message of a stream; one without `id` leaves the client's position where it is."""

    data: str
    event: str = ""
    id: str = ""
    is_control: bool = False


class Teller(Protocol):
    """Turns what the feed says into frames."""

    def tell(self, entry: Entry) -> list[Frame]: ...

    def end(self, end: End) -> list[Frame]: ...

    def revoked(self) -> list[Frame]: ...


class OmniTeller:
    """The events as they are in the log."""

    def tell(self, entry: Entry) -> list[Frame]:
        return [Frame(self.text(entry), entry.kind, str(entry.seq))]

    def text(self, entry: Entry) -> str:
        return entry.text

    def end(self, end: End) -> list[Frame]:
        about = {"run_id": str(end.run_id), "status": end.status, "last_seq": end.last_seq}
        return [Frame(wire(about), "end", is_control=True)]

    def revoked(self) -> list[Frame]:
        return [revoked_frame()]


class CloudEventTeller(OmniTeller):
    """The same in CloudEvents 1.0 envelopes."""

    def text(self, entry: Entry) -> str:
        source = f"{config.current().base_url}/api/runs/{entry.run_id}"
        event = to_cloudevent(cast(RunEvent, entry.envelope), source=source)
        return wire(cast(dict[str, Any], event))


class AgUiTeller:
    """As AG-UI events. Its clients read every message as one, so there are no control frames."""

    def __init__(self, run: Run) -> None:
        self._projection = AgUiProjection(run.pk, run.thread_id)

    def tell(self, entry: Entry) -> list[Frame]:
        frames = _frames(self._projection.project(entry))
        # Only the last one moves the position: a client never resumes in the middle of an event.
        return [*frames[:-1], frames[-1]._replace(id=str(entry.seq))] if frames else []

    def end(self, end: End) -> list[Frame]:
        return _frames(self._projection.finish(end.status))

    def revoked(self) -> list[Frame]:
        reason = "Access to this run was withdrawn."
        return _frames([{"type": "RUN_ERROR", "message": reason, "code": "revoked"}])


def _frames(events: list[AgUiEvent]) -> list[Frame]:
    return [Frame(wire(event)) for event in events]


def revoked_frame() -> Frame:
    about = {"detail": "You may not read this any more.", "category": "permission_denied"}
    return Frame(wire(about), "revoked", is_control=True)


def teller_for(format: Format, run: Run) -> Teller:
    if format is Format.AG_UI:
        return AgUiTeller(run)
    return CloudEventTeller() if format is Format.CLOUDEVENTS else OmniTeller()
