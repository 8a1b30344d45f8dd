"""Questions of runs, and people's answers."""

from __future__ import annotations

import uuid

from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.registry.api.doors import Door
from apps.registry.api.fields import Body, Choice, Query, Text
from apps.registry.api.idempotency import idempotent
from apps.runs.api.shapes import ApprovalSerializer
from apps.runs.models import Approval
from apps.runs.selectors import visible_approval, visible_approvals
from apps.runs.services.approvals import answer_approval


@extend_schema_serializer(
    examples=[
        OpenApiExample("Yes", {"answer": "approve", "reason": "Looks right."}, request_only=True)
    ]
)
class Answer(Body):
    answer = Text(max_length=40, help_text="One of the approval's options.")
    reason = Text(required=False, allow_blank=True, max_length=1000, help_text="Why.")
    arguments = serializers.DictField(
        required=False,
        help_text="What the call is made with instead, where `detail.editable` is true.",
    )


class ApprovalQuery(Query):
    state = Choice(required=False, choices=Approval.State.choices, help_text="Only in this state.")
    project = Text(required=False, max_length=63, help_text="Short name of a project.")


class ApprovalList(Door):
    tag = "approvals"
    ordering = ("-requested_at", "id")

    @extend_schema(
        operation_id="list_approvals",
        parameters=[ApprovalQuery],
        responses=ApprovalSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        """List the approvals of your projects, newest first; `answerable` marks yours to answer."""
        found = visible_approvals(self.person, **self.filters(ApprovalQuery))
        return self.page(found, ApprovalSerializer)


class ApprovalDetail(Door):
    tag = "approvals"

    @extend_schema(operation_id="read_approval", responses=ApprovalSerializer)
    def get(self, request: Request, id: uuid.UUID) -> Response:
        """Read one approval."""
        return Response(ApprovalSerializer(visible_approval(self.person, id)).data)


class ApprovalAnswer(Door):
    tag = "approvals"

    @extend_schema(operation_id="answer_approval", request=Answer, responses=ApprovalSerializer)
    @idempotent
    def post(self, request: Request, id: uuid.UUID) -> Response:
        """Answer an approval. The first answer counts; a later, different one is told so (409)."""
        approval = visible_approval(self.person, id)
        answer_approval(actor=self.person, approval=approval, **self.accept(Answer))
        return Response(ApprovalSerializer(visible_approval(self.person, id)).data)
