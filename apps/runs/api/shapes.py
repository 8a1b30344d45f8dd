"""How runs, their events and their approvals look to programs."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.runs.models import Approval, Run
from apps.runs.selectors import RunDetail
from omni.engine.lifecycle import Status


# Any JSON; no docstrings here, OpenAPI would show them.
@extend_schema_field({})
class ResultField(serializers.JSONField):
    pass


@extend_schema_field({"type": ["object", "null"], "additionalProperties": True})
class PayloadField(serializers.JSONField):
    pass


class ApprovalSerializer(serializers.ModelSerializer[Approval]):
    run = serializers.UUIDField(source="run_id", read_only=True, help_text="The run that asks.")
    project = serializers.CharField(
        source="project.slug", read_only=True, help_text="Short name of its project."
    )
    state = serializers.ChoiceField(choices=Approval.State.choices, read_only=True)
    detail = serializers.DictField(read_only=True, help_text="What is needed to decide.")
    options = serializers.ListField(
        child=serializers.CharField(), read_only=True, help_text="Answers to choose from."
    )
    answerable = serializers.BooleanField(
        read_only=True, help_text="Whether it is pending and your roles let you answer it."
    )

    class Meta:
        model = Approval
        fields = (
            "id",
            "run",
            "project",
            "state",
            "title",
            "detail",
            "options",
            "answerable",
            "answer",
            "reason",
            "answered_by",
            "requested_seq",
            "requested_at",
            "expires_at",
            "settled_at",
        )
        read_only_fields = fields


class RunSerializer(serializers.ModelSerializer[Run]):
    project = serializers.CharField(
        source="project.slug", read_only=True, help_text="Short name of its project."
    )
    thread = serializers.UUIDField(source="thread_id", read_only=True, help_text="Its thread.")
    parent = serializers.UUIDField(  # type: ignore[assignment]
        source="parent_id", read_only=True, allow_null=True, help_text="The run that started it."
    )
    created_by = serializers.UUIDField(
        source="created_by_id", read_only=True, allow_null=True, help_text="Who started it."
    )
    worker = serializers.UUIDField(
        source="lease_owner",
        read_only=True,
        allow_null=True,
        help_text="The worker that holds it now; see `/api/workers/{id}`.",
    )
    status = serializers.ChoiceField(choices=[each.value for each in Status], read_only=True)

    class Meta:
        model = Run
        fields = (
            "id",
            "project",
            "thread",
            "run_kind",
            "status",
            "cancel_requested",
            "parent",
            "depth",
            "created_by",
            "worker",
            "last_seq",
            "tip_hash",
            "created_at",
            "ended_at",
        )
        read_only_fields = fields


class UsageSerializer(serializers.Serializer[Any]):
    prompt_tokens = serializers.IntegerField()
    completion_tokens = serializers.IntegerField()
    total_tokens = serializers.IntegerField()
    cost = serializers.DictField(
        child=serializers.CharField(), help_text="Sums by currency, as decimal text."
    )
    unpriced_calls = serializers.IntegerField(help_text="Model calls without a known price.")
    model_calls = serializers.IntegerField()
    tool_calls = serializers.IntegerField()


class ChildSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    run_kind = serializers.CharField()
    status = serializers.ChoiceField(choices=[each.value for each in Status])


class RunDetailSerializer(RunSerializer):
    reason = serializers.CharField(help_text="Why it is in its state, where that was said.")
    waits_for = serializers.CharField(help_text="approval, child or timer; empty while it works.")
    result = ResultField(help_text="What a finished run gave back.")
    steps_done = serializers.IntegerField()
    failures = serializers.IntegerField(help_text="Calls that failed.")
    usage = UsageSerializer(help_text="Sums over all its model and tool calls.")
    pending_approvals = ApprovalSerializer(many=True)
    children = ChildSerializer(many=True, help_text="Runs that it started.")

    class Meta(RunSerializer.Meta):
        fields = (  # type: ignore[assignment]
            *RunSerializer.Meta.fields,
            "reason",
            "waits_for",
            "result",
            "steps_done",
            "failures",
            "usage",
            "pending_approvals",
            "children",
        )
        read_only_fields = fields  # type: ignore[assignment]


def shown_run(detail: RunDetail) -> dict[str, Any]:
    state = detail.state
    return {
        **RunSerializer(detail.run).data,
        "reason": state.reason,
        "waits_for": state.waits_for,
        "result": state.result,
        "steps_done": state.steps_done,
        "failures": state.errors,
        "usage": UsageSerializer(state.usage).data,
        "pending_approvals": ApprovalSerializer(detail.approvals, many=True).data,
        "children": ChildSerializer(detail.children, many=True).data,
    }


class EventSerializer(serializers.Serializer[Any]):
    run_id = serializers.UUIDField(help_text="The run.")
    seq = serializers.IntegerField(help_text="Position in the run: 1, 2, 3 … without gaps.")
    kind = serializers.CharField(help_text="What sort of event it is.")
    name = serializers.CharField(allow_null=True, help_text="Which system event; null otherwise.")
    payload = PayloadField(help_text="What it says, by kind and name; null once erased.")
    payload_hash = serializers.CharField(help_text="SHA-256 of the payload's canonical JSON.")
    prev_hash = serializers.CharField(help_text="`hash` of the event before.")
    hash = serializers.CharField(help_text="SHA-256 over all but the payload itself.")
    actor = serializers.CharField(help_text="Who wrote it, such as `user:…` or `system`.")
    at = serializers.CharField(help_text="When it was written.")
    schema_version = serializers.IntegerField(help_text="Version of the payload's contract.")
    idempotency_key = serializers.CharField(allow_null=True, help_text="What made it unique.")
