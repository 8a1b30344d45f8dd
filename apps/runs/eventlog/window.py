"""Reading a run's log backwards: the newest events of some kinds, in bounded pieces."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Q

from apps.runs.eventlog.envelope import Event
from apps.runs.eventlog.read import FIELDS
from apps.runs.models.event import RunEvent


@dataclass(frozen=True, slots=True)
class Window:
    """Some events in order, and whether there are earlier ones of these kinds."""

    events: list[Event]
    has_earlier: bool


def window(run_id: uuid.UUID, *, before: int, keys: frozenset[str], limit: int) -> Window:
    """The last `limit` events ahead of `before`; a key is a kind, or a system event's name."""
    found = RunEvent.objects.filter(run_id=run_id, seq__lt=before).filter(
        Q(name__in=keys) | Q(name="", kind__in=keys)
    )
    rows = list(found.order_by("-seq").values_list(*FIELDS)[: limit + 1])
    return Window([Event(*row) for row in reversed(rows[:limit])], len(rows) > limit)


def tools_called(run_id: uuid.UUID, calls: Iterable[str], *, before: int) -> dict[str, str]:
    """Which tool each of these calls was for, as far as they were made ahead of `before`."""
    found = RunEvent.objects.filter(
        run_id=run_id, seq__lt=before, kind="tool_call", payload__call_id__in=list(calls)
    )
    payloads = found.values_list("payload", flat=True)
    return {payload["call_id"]: payload["tool"] for payload in payloads if payload}
