"""Reading a run's log: in order, from anywhere, in bounded pieces."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import fields

from apps.runs.eventlog.envelope import Event
from apps.runs.models.event import RunEvent

BATCH = 1000
# Plain rows: a model instance per event would cost more than the query.
FIELDS = tuple(field.name for field in fields(Event))


def read(run_id: uuid.UUID, *, after: int = 0, limit: int = BATCH, kind: str = "") -> list[Event]:
    """The events behind `after`, at most `limit`; all of them, or those of one kind."""
    found = RunEvent.objects.filter(run_id=run_id, seq__gt=after)
    if kind:
        found = found.filter(kind=kind)
    return [Event(*row) for row in found.order_by("seq").values_list(*FIELDS)[:limit]]


def read_all(run_id: uuid.UUID, *, after: int = 0) -> Iterator[Event]:
    """Every event behind `after`, fetched piece by piece."""
    while True:
        events = read(run_id, after=after)
        yield from events
        if len(events) < BATCH:
            return
        after = events[-1].seq


def event_at(run_id: uuid.UUID, seq: int) -> Event | None:
    row = RunEvent.objects.filter(run_id=run_id, seq=seq).values_list(*FIELDS).first()
    return Event(*row) if row else None
