"""The addresses of live streams: admitted like any request of the API, then kept open."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Any

from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from apps.registry.api.doors import Door
from apps.registry.api.fields import Choice, Query
from apps.registry.permissions import projects_with
from apps.registry.roles import Permission
from apps.registry.selectors import visible_project
from apps.runs.live.access import grant_for, visible_run
from apps.runs.live.admission import Admission
from apps.runs.live.entries import wire
from apps.runs.live.feed import Revoked
from apps.runs.live.formats import Format, Frame, revoked_frame
from apps.runs.live.hub import refuse_too_many
from apps.runs.live.readers import ApprovalReader, ProjectReader
from apps.runs.live.sse import CONTENT_TYPE, EventStreamRenderer, respond
from apps.runs.live.watch import Hint, Snapshot, Watch, WideSignal
from apps.runs.models import Run
from omni.contracts.errors import InvalidInput

LAST_EVENT_ID = "Last-Event-ID"
DIGITS = 18
MESSAGE: dict[str, Any] = {
    "type": "object",
    "description": "One message of the stream.",
    "properties": {
        "id": {"type": "string", "description": "Number of the event; to resume behind it."},
        "event": {"type": "string", "description": "What kind of message it is."},
        "data": {"type": "string", "description": "JSON in one line."},
        "retry": {"type": "integer", "description": "Milliseconds to wait before coming back."},
    },
}
STREAM = {(200, CONTENT_TYPE): MESSAGE}


class RunStreamQuery(Query):
    after = serializers.RegexField(
        rf"^\d{{1,{DIGITS}}}$",
        required=False,
        help_text="Number of the last event that is known already; 0 for all.",
    )
    format = Choice(
        choices=[each.value for each in Format],
        default=Format.OMNI.value,
        help_text="Events as in the log, as AG-UI events, or as CloudEvents 1.0.",
    )


class StreamDoor(Door):
    renderer_classes = (JSONRenderer, EventStreamRenderer)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        refuse_too_many(self.person.pk)


class RunStream(StreamDoor):
    tag = "runs"

    @extend_schema(
        operation_id="stream_run",
        parameters=[
            RunStreamQuery,
            OpenApiParameter(
                LAST_EVENT_ID,
                OpenApiTypes.STR,
                OpenApiParameter.HEADER,
                description="As `after`; browsers send it when they come back.",
            ),
        ],
        responses=STREAM,
    )
    def get(self, request: Request, id: uuid.UUID) -> HttpResponseBase:
        """Follow a run: every event once, in order, until it ends.

        Server-sent events; `id` is the event's number, `data` the event as lists show it. Comments
        keep an idle connection alive. The last message is `end`, or `revoked` when access is lost.
        """
        admission = self.admission(id)
        return respond(request, admission.frames(), admission.present_frames())

    def admission(self, run_id: uuid.UUID) -> Admission:
        asked = self.filters(RunStreamQuery)
        run = visible_run(self.person, run_id)
        after = position_of(self.request.headers.get(LAST_EVENT_ID), asked.get("after"), run)
        grant = grant_for(self.request, Permission.VIEW, run.project_id)
        return Admission(run, after, Format(asked["format"]), grant)


class ProjectStream(StreamDoor):
    tag = "projects"

    @extend_schema(operation_id="stream_project", responses=STREAM)
    def get(self, request: Request, slug: str) -> HttpResponseBase:
        """Follow all runs of a project in short form.

        First `snapshot`, then `run` with run, number, kind, name and status of each event. These
        are hints: after an interruption another snapshot comes instead of what was missed.
        """
        self.filters()
        project = visible_project(self.person, slug)
        grant = grant_for(request, Permission.VIEW, project.pk)
        return respond_wide(request, ProjectReader(grant, frozenset({project.pk})))


class ApprovalStream(StreamDoor):
    tag = "approvals"

    @extend_schema(operation_id="stream_approvals", responses=STREAM)
    def get(self, request: Request) -> HttpResponseBase:
        """Follow the approvals of every project in which you may answer them.

        First `snapshot` with what waits, then `approval` for each one asked, answered or expired.
        """
        self.filters()
        projects = projects_with(self.person, Permission.APPROVE).values_list("pk", flat=True)
        grant = grant_for(request, Permission.APPROVE)
        return respond_wide(request, ApprovalReader(grant, frozenset(projects)))


def position_of(header: str | None, after: str | None, run: Run) -> int:
    """The header wins: a browser that comes back still has the old address, but knows more."""
    name, value = (LAST_EVENT_ID, header) if header else ("after", after or "0")
    if not (value.isascii() and value.isdigit() and len(value) <= DIGITS):
        raise InvalidInput.field(name, f"{name} is the number of an event, such as 42.")
    if int(value) > run.last_seq:
        raise InvalidInput.field(name, f"{name}: the run has no event {int(value)} yet.")
    return int(value)


def respond_wide(request: Request, reader: ProjectReader) -> HttpResponseBase:
    watch = Watch(reader)
    return respond(request, _wide_frames(watch), _present(watch))


async def _wide_frames(watch: Watch) -> AsyncGenerator[list[Frame], None]:
    async with aclosing(watch.signals()) as signals:
        async for signal in signals:
            yield _tell(signal)


def _present(watch: Watch) -> Iterator[list[Frame]]:
    yield [Frame(wire(watch.snapshot()), "snapshot")]


def _tell(signal: WideSignal) -> list[Frame]:
    match signal:
        case Snapshot(text):
            return [Frame(text, "snapshot")]
        case Hint(event, text):
            return [Frame(text, event)]
        case Revoked():
            return [revoked_frame()]
        case _:
            return []
