"""Threads of a project, and the runs that are started in them."""

from __future__ import annotations

import uuid

from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_serializer
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from apps.registry.api.doors import Door
from apps.registry.api.fields import Body, Choice, Flag, Query, Text
from apps.registry.api.idempotency import idempotent
from apps.registry.selectors import visible_project
from apps.runs.models import Thread
from apps.runs.selectors import visible_thread, visible_threads
from apps.runs.services import runs, threads

ARCHIVED = {"true": True, "false": False, "any": None}


class ThreadSerializer(serializers.ModelSerializer[Thread]):
    project = serializers.CharField(
        source="project.slug", read_only=True, help_text="Short name of its project."
    )
    created_by = serializers.UUIDField(
        source="created_by_id", read_only=True, help_text="Who made it."
    )
    runs = serializers.IntegerField(
        source="run_count", read_only=True, help_text="How many runs it has."
    )
    archived = serializers.SerializerMethodField(help_text="Hidden from lists.")

    class Meta:
        model = Thread
        fields = (
            "id",
            "project",
            "title",
            "runs",
            "archived",
            "archived_at",
            "created_by",
            "created_at",
            "updated_at",
        )
        read_only_fields = fields

    def get_archived(self, thread: Thread) -> bool:
        return thread.archived_at is not None


@extend_schema_serializer(
    examples=[OpenApiExample("A thread", {"title": "Landing sites"}, request_only=True)]
)
class NewThread(Body):
    title = Text(max_length=200, help_text="What it is about.")


class ThreadChange(Body):
    title = Text(max_length=200, help_text="What it is about.")
    archived = Flag(help_text="Whether lists hide it.")


class ThreadQuery(Query):
    q = Text(required=False, allow_blank=True, max_length=200, help_text="Words in the title.")
    archived = Choice(
        choices=list(ARCHIVED), default="false", help_text="Which ones: archived, active or any."
    )


class ThreadList(Door):
    tag = "threads"
    ordering = ("-updated_at", "id")

    @extend_schema(
        operation_id="list_threads",
        parameters=[ThreadQuery],
        responses=ThreadSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        """List the threads of a project, the latest active first."""
        asked = self.filters(ThreadQuery)
        project = visible_project(self.person, slug)
        found = visible_threads(
            self.person, project, q=asked.get("q", ""), archived=ARCHIVED[asked["archived"]]
        )
        return self.page(found, ThreadSerializer)

    @extend_schema(
        operation_id="create_thread", request=NewThread, responses={201: ThreadSerializer}
    )
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Begin a thread."""
        project = visible_project(self.person, slug)
        made = runs.create_thread(actor=self.person, project=project, **self.accept(NewThread))
        where = reverse("runs_api:thread", kwargs={"id": made.pk}, request=request)
        shown = ThreadSerializer(visible_thread(self.person, made.pk)).data
        return Response(shown, status=status.HTTP_201_CREATED, headers={"Location": where})


class ThreadDetail(Door):
    tag = "threads"

    @extend_schema(operation_id="read_thread", responses=ThreadSerializer)
    def get(self, request: Request, id: uuid.UUID) -> Response:
        """Read one thread."""
        return Response(ThreadSerializer(visible_thread(self.person, id)).data)

    @extend_schema(operation_id="change_thread", request=ThreadChange, responses=ThreadSerializer)
    def patch(self, request: Request, id: uuid.UUID) -> Response:
        """Rename, archive or restore a thread."""
        thread = visible_thread(self.person, id)
        body = self.accept(ThreadChange, partial=True)
        threads.update_thread(actor=self.person, thread=thread, **body)
        return Response(ThreadSerializer(visible_thread(self.person, id)).data)
