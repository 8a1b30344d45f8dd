"""Workers and beats as they last reported, and what they drive now."""

from __future__ import annotations

import uuid
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.registry.api.doors import Door
from apps.registry.api.fields import Choice, Query
from apps.runs.models import Worker
from apps.runs.selectors import worker_seen_by, workers_seen_by
from omni.engine.lifecycle import Status


class CurrentRunSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField(help_text="The run.")
    project = serializers.CharField(help_text="Short name of its project.")
    run_kind = serializers.CharField(help_text="What decides its course.")
    status = serializers.ChoiceField(choices=[each.value for each in Status])


class WorkerSerializer(serializers.ModelSerializer[Worker]):
    alive = serializers.BooleanField(read_only=True, help_text="Whether it reported lately.")
    state = serializers.ChoiceField(
        choices=Worker.State.choices,
        read_only=True,
        help_text="Where it is in its life; `lost` once it missed four reports.",
    )
    busy = serializers.IntegerField(
        read_only=True, help_text="Runs that it drives now, also those of others' projects."
    )
    current_runs = CurrentRunSerializer(
        many=True, read_only=True, help_text="Those of them that you may see."
    )
    queues = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = Worker
        fields = (
            "id",
            "kind",
            "node_id",
            "pid",
            "state",
            "alive",
            "busy",
            "current_runs",
            "queues",
            "concurrency",
            "version",
            "started_at",
            "ready_at",
            "seen_at",
            "draining_at",
            "stopped_at",
        )
        read_only_fields = fields


class WorkerQuery(Query):
    kind = Choice(required=False, choices=Worker.Kind.choices, help_text="Workers or beats.")
    state = Choice(required=False, choices=Worker.State.choices, help_text="Only in this state.")
    alive = Choice(required=False, choices=["true", "false"], help_text="Whether it still reports.")


class WorkerList(Door):
    tag = "workers"
    ordering = ("-started_at", "id")

    @extend_schema(
        operation_id="list_workers", parameters=[WorkerQuery], responses=WorkerSerializer(many=True)
    )
    def get(self, request: Request) -> Response:
        """List the processes that execute work or keep the time, newest first."""
        asked = self.filters(WorkerQuery)
        if "alive" in asked:
            asked["alive"] = asked["alive"] == "true"
        return self.page(workers_seen_by(self.person).filter(**asked), WorkerSerializer)


class WorkerDetail(Door):
    tag = "workers"

    @extend_schema(operation_id="get_worker", responses=WorkerSerializer)
    def get(self, request: Request, id: uuid.UUID) -> Response:
        """Show one process and the runs that it drives now."""
        self.filters()
        return Response(WorkerSerializer(worker_seen_by(self.person, id)).data)
