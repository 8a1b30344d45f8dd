"""MCP servers and catalogs as the API shows and takes them."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from apps.registry.api.fields import Body, Choice, Flag, Query, Text, Whole
from apps.tools.models import McpCatalog, McpCheck, McpEntry, McpServer
from apps.tools.models.mcp import SERVER_SLUG

TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
WORDS = {"type": "array", "items": {"type": "string"}, "maxItems": 50}
ANY_OBJECT = {"type": "object", "additionalProperties": True}


@extend_schema_field(TEXTS)
class TextMap(serializers.DictField):
    """Names with texts; keys and values are judged by the service."""

    def to_internal_value(self, data: Any) -> dict[Any, Any]:
        if not isinstance(data, dict):
            self.fail("not_a_dict", input_type=type(data).__name__)
        return dict(data)


@extend_schema_field(WORDS)
class WordList(serializers.ListField):
    """A list of texts, judged by the service."""

    def to_internal_value(self, data: Any) -> list[Any]:
        if not isinstance(data, list) or not all(isinstance(each, str) for each in data):
            self.fail("not_a_list", input_type=type(data).__name__)
        return list(data)


class McpServerSerializer(serializers.ModelSerializer[McpServer]):
    project = serializers.CharField(
        source="project.slug", read_only=True, help_text="Short name of its project."
    )
    headers = TextMap(read_only=True, help_text="Headers that are no secrets.")
    command = WordList(read_only=True, help_text="Program and arguments, in the sandbox.")
    environment = TextMap(read_only=True, help_text="Variables that are no secrets.")
    egress = WordList(read_only=True, help_text="Hosts that the program may reach.")
    credentials = TextMap(
        read_only=True, help_text="Headers or variables with references to secrets."
    )
    allowed_private = WordList(
        read_only=True, help_text="Private `host:port` places that an operator allowed."
    )
    faults = WordList(read_only=True, help_text="What was wrong in its catalog.")
    entries = serializers.IntegerField(
        source="entry_count", read_only=True, help_text="How many entries it offers."
    )
    waiting = serializers.IntegerField(
        source="waiting_count", read_only=True, help_text="How many nobody has accepted."
    )
    checking = serializers.BooleanField(
        source="is_waiting", read_only=True, help_text="Whether a check was asked for and is due."
    )

    class Meta:
        model = McpServer
        fields = (
            "id", "slug", "project", "description", "transport", "url", "headers", "command",
            "environment", "egress", "credentials", "allowed_private", "enabled", "status",
            "protocol", "reported_name", "faults", "entries", "waiting", "checking",
            "last_checked_at", "created_at", "updated_at",
        )  # fmt: skip
        read_only_fields = fields


class ServerFields(Body):
    description = Text(
        max_length=200, required=False, allow_blank=True, help_text="What it is for."
    )
    url = Text(max_length=2000, required=False, allow_blank=True, help_text="Where it listens.")
    headers = TextMap(required=False, help_text="Headers to send; none of them a secret.")
    command = WordList(required=False, help_text="For stdio: the program and its arguments.")
    environment = TextMap(required=False, help_text="For stdio: variables; none of them a secret.")
    egress = WordList(required=False, help_text="For stdio: hosts that the program may reach.")
    credentials = TextMap(
        required=False,
        help_text="Headers (or for stdio variables) that end in a reference: `Bearer secret://X`.",
    )
    allowed_private = WordList(
        required=False, help_text="Private `host:port` places; only operators set them."
    )
    enabled = Flag(required=False, help_text="Whether it is checked and used.")


@extend_schema_serializer(
    examples=[
        OpenApiExample(
            "Over HTTP",
            {
                "slug": "tickets",
                "transport": "streamable_http",
                "url": "https://mcp.example.org/mcp",
                "credentials": {"Authorization": "Bearer secret://TICKETS_TOKEN"},
            },
            request_only=True,
        )
    ]
)
class NewMcpServer(ServerFields):
    slug = Text(
        max_length=40, validators=[SERVER_SLUG], help_text="Its name in addresses and tools."
    )
    transport = Choice(choices=McpServer.Transport.choices, help_text="How it is spoken to.")


class McpServerChange(ServerFields):
    transport = Choice(
        choices=McpServer.Transport.choices, required=False, help_text="How it is spoken to."
    )


class McpCheckSerializer(serializers.ModelSerializer[McpCheck]):
    class Meta:
        model = McpCheck
        fields = ("id", "at", "ok", "latency_ms", "category", "message")
        read_only_fields = fields


class McpEntrySerializer(serializers.ModelSerializer[McpEntry]):
    accepted_by = serializers.SerializerMethodField(help_text="Who accepted it.")

    class Meta:
        model = McpEntry
        fields = (
            "id", "kind", "name", "state", "problem", "renamed_from", "definition_sha256",
            "accepted_sha256", "accepted_by", "accepted_at", "seen_at",
        )  # fmt: skip
        read_only_fields = fields

    def get_accepted_by(self, entry: McpEntry) -> str | None:
        return entry.accepted_by.email if entry.accepted_by else None


@extend_schema_field(ANY_OBJECT)
class AnyObject(serializers.JSONField):
    """A definition as the server wrote it."""


class McpEntryDetailSerializer(McpEntrySerializer):
    definition = AnyObject(read_only=True, help_text="What the server shows now.")
    accepted_definition = AnyObject(
        read_only=True, allow_null=True, help_text="What somebody accepted."
    )

    class Meta:
        model = McpEntry
        fields = (*McpEntrySerializer.Meta.fields, "definition", "accepted_definition")
        read_only_fields = fields


class McpEntryQuery(Query):
    kind = Choice(choices=McpEntry.Kind.choices, required=False, help_text="Only of this kind.")
    state = Choice(choices=McpEntry.State.choices, required=False, help_text="Only in this state.")


class PinEntry(Body):
    risk = Choice(
        choices=["low", "medium", "high", "critical"],
        required=False,
        help_text="Your own judgement; what the server says of itself never lowers it.",
    )


class AcceptedEntry(Body):
    id = serializers.UUIDField(help_text="Which entry.")
    sha256 = Text(max_length=64, help_text="Hash of the definition that was looked at.")


class Acceptance(Body):
    entries = serializers.ListField(
        child=AcceptedEntry(), min_length=1, max_length=1000, help_text="What is accepted."
    )


class AcceptedSerializer(serializers.Serializer[Any]):
    entries = McpEntrySerializer(many=True, help_text="What is accepted now.")


class McpCatalogSerializer(serializers.ModelSerializer[McpCatalog]):
    class Meta:
        model = McpCatalog
        fields = ("number", "at", "sha256")
        read_only_fields = fields


class DiffQuery(Query):
    before = Whole(required=False, min_value=0, max_value=2**31 - 1, help_text="Older version.")
    after = Whole(required=False, min_value=1, max_value=2**31 - 1, help_text="Newer version.")

    def to_internal_value(self, data: Any) -> Any:
        """Numbers arrive as text in an address."""
        read = {key: int(text) if _is_number(text) else text for key, text in data.items()}
        return super().to_internal_value(read)


def _is_number(text: Any) -> bool:
    return isinstance(text, str) and text.isascii() and text.isdigit() and len(text) < 11


class McpDiffLine(serializers.Serializer[Any]):
    sign = serializers.CharField(help_text="`+`, `-`, `@` for a jump, or empty.")
    text = serializers.CharField(help_text="The line.")


class McpChangeSerializer(serializers.Serializer[Any]):
    what = serializers.CharField(help_text="`added`, `removed`, `renamed` or `changed`.")
    kind = serializers.CharField(help_text="Tool, resource or prompt.")
    name = serializers.CharField(help_text="Its name.")
    was = serializers.CharField(help_text="Its name before, if it was renamed.")
    lines = McpDiffLine(many=True, help_text="Its definition, line by line.")


class McpDiffSerializer(serializers.Serializer[Any]):
    before = serializers.IntegerField(allow_null=True, help_text="Older version; null for none.")
    after = serializers.IntegerField(help_text="Newer version.")
    changes = McpChangeSerializer(many=True, help_text="What is not as it was.")
