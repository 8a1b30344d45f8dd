"""A run's log in pieces."""

from __future__ import annotations

from dataclasses import dataclass

from apps.runs import eventlog
from apps.runs.eventlog import Event
from apps.runs.models import Run
from omni.contracts.errors import NotFound

MAX_EVENTS = 1000
DEFAULT_EVENTS = 200


@dataclass(frozen=True, slots=True)
class EventPage:
    """Some events in order, and whether more follow."""

    events: list[Event]
    more: bool


def event_page(
    run: Run, *, after: int = 0, limit: int = DEFAULT_EVENTS, kind: str = ""
) -> EventPage:
    """The events behind `after`; the door has found the run through `visible_run`."""
    limit = min(limit, MAX_EVENTS)
    found = eventlog.read(run.pk, after=after, limit=limit + 1, kind=kind)
    return EventPage(found[:limit], more=len(found) > limit)


def visible_event(run: Run, seq: int) -> Event:
    event = eventlog.event_at(run.pk, seq)
    if event is None:
        raise NotFound("The run has no such event.")
    return event
