"""Live streams of the workspace's pages: the same feed as the API's, told in HTML fragments."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http.response import HttpResponseBase
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from apps.registry.permissions import projects_with
from apps.registry.roles import Permission
from apps.runs.eventlog import Event
from apps.runs.live.access import Grant, grant_for, visible_run
from apps.runs.live.doors import (
    LAST_EVENT_ID,
    RunStreamQuery,
    StreamDoor,
    position_of,
    respond_wide,
)
from apps.runs.live.entries import Entry, wire
from apps.runs.live.feed import End, Entries, Revoked, Signal, catch_up, follow
from apps.runs.live.formats import Frame, OmniTeller
from apps.runs.live.readers import ProjectReader, RunReader
from apps.runs.live.sse import respond
from apps.runs.live.threads import in_thread
from apps.runs.models import Run
from apps.runs.timeline.groups import DELTA, Shown, shown_from
from apps.runs.timeline.items import plain
from apps.runs.timeline.render import Renderer

# Events after which the figures at the top of a run's page are not what they were.
CHANGES_SUMMARY = frozenset({"state_changed", "cancel_requested", "model_result", "child_started"})


class TimelineQuery(RunStreamQuery):
    show = serializers.CharField(required=False, max_length=200)


class TimelineTeller:
    """Frames for the run page: a rendered entry, a piece of a draft, or only a new position."""

    def __init__(self, shown: Shown, renderer: Renderer) -> None:
        self._shown = shown
        self._renderer = renderer
        self._plain = OmniTeller()

    def tell(self, signal: Signal) -> list[Frame]:
        match signal:
            case Entries(entries):
                return self._tell_entries([_event(entry) for entry in entries])
            case End():
                return self._plain.end(signal)
            case Revoked():
                return self._plain.revoked()
            case _:
                return []

    def _tell_entries(self, events: list[Event]) -> list[Frame]:
        items = {item.event.seq: item for item in self._renderer.items(events)}
        return [self._frame(event, items[event.seq]) for event in events]

    def _frame(self, event: Event, item: Any) -> Frame:
        about: dict[str, Any] = {}
        key = event.name or event.kind
        if key in CHANGES_SUMMARY:
            about["changes"] = True
        if not self._shown.has(key):
            return Frame(wire(about), "position", str(event.seq))
        payload = event.payload or {}
        if key == DELTA:
            about |= {"message": payload.get("message_id"), "text": plain(payload.get("text", ""))}
            return Frame(wire(about), "piece", str(event.seq))
        about |= {"html": self._renderer.html(item), "say": item.said}
        if key == "assistant_message":
            about["message"] = payload.get("message_id")
        if item.approval_id:
            about["approval"] = item.approval_id
        return Frame(wire(about), "entry", str(event.seq))


@dataclass(frozen=True, slots=True)
class TimelineFeed:
    """What an admitted page reads, from where on."""

    run: Run
    after: int
    grant: Grant
    teller: TimelineTeller

    async def frames(self) -> AsyncGenerator[list[Frame], None]:
        reader = RunReader(self.grant, self.run.pk, self.after)
        async with aclosing(follow(reader)) as signals:
            async for signal in signals:
                yield await in_thread(self.teller.tell, signal)

    def present_frames(self) -> Iterator[list[Frame]]:
        """What there is now, for a server that cannot wait."""
        position = self.after
        while True:
            entries, end = catch_up(self.run.pk, position)
            yield self.teller.tell(Entries(entries))
            if end is not None:
                yield self.teller.tell(end)
            if end is not None or not entries:
                return
            position = entries[-1].seq


@extend_schema(exclude=True)
class TimelineStream(StreamDoor):
    """A run's timeline as it grows; what it sends is what a reload shows."""

    tag = "runs"

    def get(self, request: Request, run_id: uuid.UUID) -> HttpResponseBase:
        asked = self.filters(TimelineQuery)
        run = visible_run(self.person, run_id)
        after = position_of(request.headers.get(LAST_EVENT_ID), asked.get("after"), run)
        renderer = Renderer(timezone.get_current_timezone())
        teller = TimelineTeller(shown_from(asked.get("show", "")), renderer)
        grant = grant_for(request, Permission.VIEW, run.project_id)
        feed = TimelineFeed(run, after, grant, teller)
        return respond(request, feed.frames(), feed.present_frames())


@extend_schema(exclude=True)
class RunsStream(StreamDoor):
    """Hints about the runs of every project that the person sees, for the dashboard."""

    tag = "runs"

    def get(self, request: Request) -> HttpResponseBase:
        self.filters()
        projects = projects_with(self.person, Permission.VIEW).values_list("pk", flat=True)
        grant = grant_for(request, Permission.VIEW)
        return respond_wide(request, ProjectReader(grant, frozenset(projects)))


def _event(entry: Entry) -> Event:
    """The pushed envelope as the log reads it, so that both are rendered alike."""
    told = entry.envelope
    return Event(
        **{
            **told,
            "run_id": entry.run_id,
            "name": entry.name,
            "at": datetime.fromisoformat(told["at"]),
        }
    )
