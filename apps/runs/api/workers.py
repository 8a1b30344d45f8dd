"""Workers and beats as they last reported."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.registry.api.doors import Door
from apps.registry.api.fields import Choice, Query
from apps.runs.models import Worker
from apps.runs.selectors import workers


class WorkerSerializer(serializers.ModelSerializer[Worker]):
    alive = serializers.BooleanField(read_only=True, help_text="Whether it reported lately.")
    queues = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = Worker
        fields = (
            "id",
            "kind",
            "node_id",
            "pid",
            "queues",
            "concurrency",
            "version",
            "alive",
            "started_at",
            "seen_at",
            "stopped_at",
        )
        read_only_fields = fields


class WorkerQuery(Query):
    kind = Choice(required=False, choices=Worker.Kind.choices, help_text="Workers or beats.")
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
        return self.page(workers().filter(**asked), WorkerSerializer)
