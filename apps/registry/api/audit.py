"""The audit log as far as a person may read it."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.registry.api.doors import Door
from apps.registry.api.fields import Choice, Query, Text
from apps.registry.models import AuditAction, AuditEntry
from apps.registry.selectors import audit_entry, audit_log


class AuditSerializer(serializers.ModelSerializer[AuditEntry]):
    action = serializers.ChoiceField(choices=AuditAction.choices, read_only=True)
    project = serializers.CharField(
        source="project_slug",
        read_only=True,
        allow_null=True,
        help_text="Short name of the project it happened in, while you can see it.",
    )
    actor = serializers.UUIDField(
        source="actor_id", read_only=True, allow_null=True, help_text="Who did it."
    )
    data = serializers.DictField(  # type: ignore[assignment]
        read_only=True, help_text="Details; they differ by action."
    )

    class Meta:
        model = AuditEntry
        fields = (
            "id",
            "at",
            "actor",
            "actor_label",
            "action",
            "allowed",
            "project",
            "target_type",
            "target_id",
            "target_label",
            "data",
            "ip_address",
            "request_id",
        )
        read_only_fields = fields


LOOKUPS = {
    "project": "project_slug",
    "action": "action",
    "actor": "actor_id",
    "since": "at__gte",
    "until": "at__lt",
}


class AuditQuery(Query):
    project = Text(required=False, max_length=63, help_text="Short name of a project.")
    action = Choice(required=False, choices=AuditAction.choices, help_text="What was done.")
    allowed = Choice(
        required=False, choices=["true", "false"], help_text="`false` finds what was refused."
    )
    actor = serializers.UUIDField(required=False, help_text="Who did it.")
    since = serializers.DateTimeField(required=False, help_text="From this time on.")
    until = serializers.DateTimeField(required=False, help_text="Before this time.")


class AuditList(Door):
    tag = "audit"
    ordering = ("-id",)

    @extend_schema(
        operation_id="list_audit", parameters=[AuditQuery], responses=AuditSerializer(many=True)
    )
    def get(self, request: Request) -> Response:
        """List what you did, and what happened in projects whose log you may read."""
        asked = self.filters(AuditQuery)
        found = audit_log(self.person).filter(**_conditions(asked))
        return self.page(found, AuditSerializer)


class AuditDetail(Door):
    tag = "audit"

    @extend_schema(operation_id="read_audit_entry", responses=AuditSerializer)
    def get(self, request: Request, id: int) -> Response:
        """Read one entry of the audit log."""
        return Response(AuditSerializer(audit_entry(self.person, id)).data)


def _conditions(asked: dict[str, Any]) -> dict[str, Any]:
    given = {LOOKUPS[name]: asked[name] for name in LOOKUPS if name in asked}
    return given | ({"allowed": asked["allowed"] == "true"} if "allowed" in asked else {})
