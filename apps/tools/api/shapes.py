"""How tools and policies look to programs."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.registry.api.fields import Body
from apps.tools.models import PolicyVersion, ProjectRule, ToolInstallation, ToolVersion
from omni.contracts.errors import InvalidInput

EFFECTS = ("deny", "ask", "allow")
MODES = ("normal", "analysis_only", "dry_run")
JSON_OBJECT = {"type": "object", "additionalProperties": True}


# A JSON object and nothing else; no docstrings here, OpenAPI would show them.
@extend_schema_field(JSON_OBJECT)
class ObjectField(serializers.JSONField):
    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, dict):
            self.fail("invalid")
        return data


class ToolSerializer(serializers.ModelSerializer[ToolVersion]):
    project = serializers.CharField(
        source="project.slug",
        read_only=True,
        allow_null=True,
        default=None,
        help_text="The only project that sees it; null for all.",
    )
    title = serializers.CharField(read_only=True, help_text="What people call it.")
    description = serializers.CharField(
        source="manifest.description", read_only=True, help_text="What it does."
    )
    risk = serializers.CharField(source="manifest.risk", read_only=True)
    capabilities = serializers.ListField(
        child=serializers.CharField(),
        source="manifest.capabilities",
        read_only=True,
        help_text="Classes of effect that it has.",
    )
    deprecated = serializers.CharField(
        source="warning", read_only=True, help_text="Why not to use it any more; empty otherwise."
    )

    class Meta:
        model = ToolVersion
        fields = (
            "id",
            "name",
            "version",
            "sha256",
            "project",
            "origin",
            "title",
            "description",
            "risk",
            "capabilities",
            "deprecated",
            "created_at",
        )
        read_only_fields = fields


class ToolDetailSerializer(ToolSerializer):
    manifest = ObjectField(read_only=True, help_text="The whole manifest, as it was hashed.")

    class Meta(ToolSerializer.Meta):
        fields = (*ToolSerializer.Meta.fields, "manifest")  # type: ignore[assignment]
        read_only_fields = fields  # type: ignore[assignment]


class InstallationSerializer(serializers.ModelSerializer[ToolInstallation]):
    version = serializers.CharField(source="tool.version", read_only=True)
    sha256 = serializers.CharField(source="tool.sha256", read_only=True)
    pinned = serializers.BooleanField(
        source="is_pinned", read_only=True, help_text="The version that the name stands for."
    )
    risk = serializers.CharField(source="tool.manifest.risk", read_only=True)
    description = serializers.CharField(source="tool.manifest.description", read_only=True)
    deprecated = serializers.CharField(source="tool.warning", read_only=True)
    installed_by = serializers.CharField(
        source="installed_by.email", read_only=True, default="", help_text="Empty for built-ins."
    )

    class Meta:
        model = ToolInstallation
        fields = (
            "id",
            "name",
            "version",
            "sha256",
            "pinned",
            "enabled",
            "risk",
            "description",
            "deprecated",
            "installed_by",
            "installed_at",
        )
        read_only_fields = fields


class UseSerializer(serializers.Serializer[Any]):
    project = serializers.CharField(source="project.slug", help_text="Short name of the project.")
    version = serializers.CharField()
    pinned = serializers.BooleanField(source="is_pinned")
    enabled = serializers.BooleanField()


class InstalledToolSerializer(ToolDetailSerializer):
    installed = InstallationSerializer(many=True, help_text="Versions that the project has.")
    available = serializers.ListField(
        child=serializers.CharField(), help_text="Every version, newest first."
    )
    used_by = UseSerializer(many=True, help_text="Projects of yours that have it.")

    class Meta(ToolDetailSerializer.Meta):
        fields = (  # type: ignore[assignment]
            *ToolDetailSerializer.Meta.fields,
            "installed",
            "available",
            "used_by",
        )
        read_only_fields = fields  # type: ignore[assignment]


class PolicySerializer(serializers.ModelSerializer[PolicyVersion]):
    project = serializers.CharField(
        source="project.slug",
        read_only=True,
        allow_null=True,
        default=None,
        help_text="The project it belongs to; null for the platform's.",
    )
    in_force = serializers.SerializerMethodField(help_text="Whether it decides now.")
    document = ObjectField(read_only=True, help_text="The policy, as it was hashed.")
    published_by = serializers.CharField(
        source="published_by.email", read_only=True, default="", help_text="Empty for built-ins."
    )

    class Meta:
        model = PolicyVersion
        fields = (
            "id",
            "name",
            "version",
            "sha256",
            "project",
            "in_force",
            "document",
            "published_by",
            "published_at",
        )
        read_only_fields = fields

    def get_in_force(self, policy: PolicyVersion) -> bool:
        return policy.pk in self.context.get("in_force", ())


class RuleSerializer(serializers.ModelSerializer[ProjectRule]):
    rule = ObjectField(read_only=True, help_text="The rule, with its origin.")
    added_by = serializers.CharField(source="added_by.email", read_only=True)
    withdrawn_by = serializers.CharField(
        source="withdrawn_by.email", read_only=True, allow_null=True, default=None
    )

    class Meta:
        model = ProjectRule
        fields = (
            "id",
            "rule_id",
            "rule",
            "approval_id",
            "run_id",
            "added_by",
            "added_at",
            "withdrawn_by",
            "withdrawn_at",
        )
        read_only_fields = fields


class ConsideredSerializer(serializers.Serializer[Any]):
    policy = serializers.CharField()
    version = serializers.CharField()
    rule = serializers.CharField()
    effect = serializers.ChoiceField(choices=EFFECTS)
    matched = serializers.BooleanField()
    why = serializers.CharField(help_text="Which condition did not hold, or what became of it.")


class DecisionSerializer(serializers.Serializer[Any]):
    effect = serializers.ChoiceField(
        choices=EFFECTS, source="decision.effect", help_text="What would be decided."
    )
    reason = serializers.CharField(source="decision.reason", help_text="Why, for people.")
    policy = serializers.CharField(
        source="decision.policy", allow_null=True, help_text="Null when the platform decides."
    )
    policy_version = serializers.CharField(source="decision.policy_version", allow_null=True)
    rule = serializers.CharField(
        source="decision.rule", allow_null=True, help_text="The deciding rule."
    )
    considered = ConsideredSerializer(
        source="decision.considered", many=True, help_text="Every rule there is."
    )
    tool = serializers.CharField(source="tool.name")
    version = serializers.CharField(
        source="tool.version", help_text="The version that would be called."
    )
    invalid = serializers.CharField(help_text="What the tool says to the arguments, if wrong.")


class Manifest(Body):
    manifest = ObjectField(help_text="See /api/schemas/v1/tool-manifest.")


class ValiditySerializer(serializers.Serializer[Any]):
    valid = serializers.BooleanField()
    sha256 = serializers.CharField(allow_null=True, help_text="Hash it would be pinned by.")
    errors = serializers.DictField(  # type: ignore[assignment]
        child=serializers.ListField(child=serializers.CharField()),
        help_text="What is wrong, by JSON Pointer.",
    )


def problems_of(error: InvalidInput) -> dict[str, list[str]]:
    """What is wrong, by place."""
    found: dict[str, list[str]] = error.data.get("errors") or {"/": [error.message]}
    return found
