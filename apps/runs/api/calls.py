"""Single tool calls, each as a run of its own."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.registry.api.doors import Door
from apps.registry.api.fields import Body, Choice, Text
from apps.registry.api.idempotency import idempotent
from apps.registry.selectors import visible_project
from apps.runs.api.runs import made
from apps.runs.api.shapes import RunSerializer
from apps.runs.services.calls import call_tool


@extend_schema_serializer(
    examples=[
        OpenApiExample(
            "Look around",
            {"tool": "filesystem.list", "arguments": {"depth": 2}},
            request_only=True,
        )
    ]
)
class NewCall(Body):
    tool = Text(max_length=128, help_text="Name of an installed tool.")
    arguments = serializers.DictField(required=False, help_text="What it is called with.")
    version = Text(
        required=False, max_length=64, help_text="A version, or a range; the project's otherwise."
    )
    mode = Choice(
        required=False,
        choices=["normal", "analysis_only", "dry_run"],
        help_text="`analysis_only` refuses what would change something, `dry_run` simulates it.",
    )
    thread_id = serializers.UUIDField(
        required=False, help_text="The thread whose workspace it works in; your own otherwise."
    )


class CallList(Door):
    tag = "tools"

    @extend_schema(operation_id="call_tool", request=NewCall, responses={201: RunSerializer})
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Call a tool: a run starts, the policy decides, and the run's log holds the result."""
        project = visible_project(self.person, slug)
        body = {"arguments": {}, **self.accept(NewCall)}
        return made(request, call_tool(actor=self.person, project=project, **body))
