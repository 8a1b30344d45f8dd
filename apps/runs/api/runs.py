"""Runs: started, found, read, steered."""

from __future__ import annotations

import uuid
from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_serializer
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from apps.registry.api.doors import Door
from apps.registry.api.fields import Body, Choice, Query, Text
from apps.registry.api.idempotency import idempotent
from apps.runs.api.shapes import EventSerializer, RunDetailSerializer, RunSerializer, shown_run
from apps.runs.models import Run
from apps.runs.selectors import run_detail, visible_run, visible_runs, visible_thread
from apps.runs.services import runs
from apps.runs.services.rollback import roll_back
from omni.engine.decide import DECIDERS
from omni.engine.lifecycle import TERMINAL, Status

STATUSES = [each.value for each in Status]


@extend_schema_serializer(
    examples=[
        OpenApiExample("A question", {"run_kind": "echo", "text": "Hello."}, request_only=True),
        OpenApiExample(
            "Tool calls",
            {
                "run_kind": "plan",
                "input": {"steps": [{"tool": "filesystem.list", "arguments": {"depth": 3}}]},
            },
            request_only=True,
        ),
        OpenApiExample("Steps", {"run_kind": "script", "input": {"steps": 3}}, request_only=True),
    ]
)
class NewRun(Body):
    run_kind = Choice(choices=sorted(DECIDERS), help_text="What decides its course.")
    input = serializers.DictField(required=False, help_text="What it works on, by kind.")
    text = Text(
        required=False,
        allow_blank=True,
        trim_whitespace=False,
        help_text="The first message to it.",
    )
    mode = Choice(
        required=False,
        choices=["normal", "analysis_only", "dry_run"],
        help_text="`analysis_only` refuses what would change something, `dry_run` simulates it.",
    )
    run_id = serializers.UUIDField(
        required=False, help_text="Its id, if you choose it; given twice, one run is made."
    )


class ThreadRunQuery(Query):
    status = Choice(required=False, choices=STATUSES, help_text="Only in this state.")
    run_kind = Text(required=False, max_length=40, help_text="Only of this kind.")
    since = serializers.DateTimeField(required=False, help_text="Started at this time or later.")


class RunQuery(ThreadRunQuery):
    project = Text(required=False, max_length=63, help_text="Short name of a project.")
    thread = serializers.UUIDField(required=False, help_text="Only of this thread.")


class Why(Body):
    reason = Text(
        required=False, allow_blank=True, max_length=1000, help_text="Why; kept in its log."
    )


class Undo(Body):
    seq = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=2**53 - 1,
        help_text="Only the change that this event records; left out, all of the run's.",
    )


class Said(Body):
    text = Text(trim_whitespace=False, help_text="What is said to the run.")


class CancelSerializer(serializers.Serializer[Any]):
    cancelled = serializers.BooleanField(help_text="Whether this request stopped it.")
    reason = serializers.CharField(allow_blank=True, help_text="Why not, where it did not.")
    status = serializers.ChoiceField(choices=STATUSES, help_text="Its state now.")


class RunList(Door):
    tag = "runs"
    ordering = ("-created_at", "id")

    @extend_schema(
        operation_id="list_runs", parameters=[RunQuery], responses=RunSerializer(many=True)
    )
    def get(self, request: Request) -> Response:
        """List the runs of your projects, newest first."""
        return self.page(visible_runs(self.person, **self.filters(RunQuery)), RunSerializer)


class ThreadRunList(Door):
    tag = "threads"
    ordering = ("-created_at", "id")

    @extend_schema(
        operation_id="list_thread_runs",
        parameters=[ThreadRunQuery],
        responses=RunSerializer(many=True),
    )
    def get(self, request: Request, id: uuid.UUID) -> Response:
        """List the runs of a thread, newest first."""
        asked = self.filters(ThreadRunQuery)
        thread = visible_thread(self.person, id)
        return self.page(visible_runs(self.person, thread=thread.pk, **asked), RunSerializer)

    @extend_schema(operation_id="start_run", request=NewRun, responses={201: RunSerializer})
    @idempotent
    def post(self, request: Request, id: uuid.UUID) -> Response:
        """Start a run; it is queued, and a worker takes it from there."""
        thread = visible_thread(self.person, id)
        body = {"input": {}, **self.accept(NewRun)}
        return made(request, runs.create_run(actor=self.person, thread=thread, **body))


class RunDetailDoor(Door):
    tag = "runs"

    @extend_schema(operation_id="read_run", responses=RunDetailSerializer)
    def get(self, request: Request, id: uuid.UUID) -> Response:
        """Read a run: its state, what it used, what it waits for, its parent and children."""
        return Response(shown_run(run_detail(self.person, id)))


class RunMessages(Door):
    tag = "runs"

    @extend_schema(operation_id="send_message", request=Said, responses={201: EventSerializer})
    @idempotent
    def post(self, request: Request, id: uuid.UUID) -> Response:
        """Say something to a run; the answer is the event that says so."""
        run = visible_run(self.person, id)
        event = runs.append_user_message(actor=self.person, run=run, **self.accept(Said))
        return Response(event.as_json(), status=status.HTTP_201_CREATED)


class RunCancel(Door):
    tag = "runs"

    @extend_schema(operation_id="cancel_run", request=Why, responses=CancelSerializer)
    @idempotent
    def post(self, request: Request, id: uuid.UUID) -> Response:
        """Stop a run and its children; twice or too late is harmless and says so."""
        run = visible_run(self.person, id)
        cancelled = runs.cancel_run(actor=self.person, run=run, **self.accept(Why))
        run.refresh_from_db()
        reason = "" if cancelled else _why_not(run)
        return Response({"cancelled": cancelled, "reason": reason, "status": run.status})


class RunResume(Door):
    tag = "runs"

    @extend_schema(operation_id="resume_run", request=None, responses=RunSerializer)
    @idempotent
    def post(self, request: Request, id: uuid.UUID) -> Response:
        """Have a worker look at a run that stands still."""
        runs.resume_run(actor=self.person, run=visible_run(self.person, id))
        return Response(RunSerializer(visible_run(self.person, id)).data)


class RunRetry(Door):
    tag = "runs"

    @extend_schema(operation_id="retry_run", request=None, responses={201: RunSerializer})
    @idempotent
    def post(self, request: Request, id: uuid.UUID) -> Response:
        """Start an ended run anew, with the same input; the old one stays as it is."""
        return made(request, runs.retry_run(actor=self.person, run=visible_run(self.person, id)))


class RunRollback(Door):
    tag = "runs"

    @extend_schema(operation_id="roll_back_run", request=Undo, responses={201: RunSerializer})
    @idempotent
    def post(self, request: Request, id: uuid.UUID) -> Response:
        """Undo what a run changed in its workspace, by a run that puts the files back."""
        run = visible_run(self.person, id)
        return made(request, roll_back(actor=self.person, run=run, **self.accept(Undo)))


def made(request: Request, run: Run) -> Response:
    where = reverse("runs_api:run", kwargs={"id": run.pk}, request=request)
    shown = RunSerializer(run).data
    return Response(shown, status=status.HTTP_201_CREATED, headers={"Location": where})


def _why_not(run: Run) -> str:
    if run.status in TERMINAL:
        return f"The run has ended already ({run.status})."
    return "The run is being cancelled already."
