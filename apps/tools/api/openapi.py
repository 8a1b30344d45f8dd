"""OpenAPI documents of a project: added, listed, shown with their tools, removed."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.registry.api.doors import Door
from apps.registry.api.fields import Body, Choice, Query, Text
from apps.registry.api.idempotency import idempotent
from apps.registry.selectors import visible_project
from apps.tools.api.shapes import ToolSerializer
from apps.tools.executors.openapi.compiler import Compiled, Tool
from apps.tools.executors.openapi.reading import MAX_BYTES
from apps.tools.models import OpenApiDocument
from apps.tools.models.secret import SECRET_NAME
from apps.tools.selectors import openapi_document_of, openapi_documents_of
from apps.tools.services.openapi import (
    add_openapi_document,
    compiled_document,
    remove_openapi_document,
)
from apps.tools.services.pinning import install_operations


class OpenApiDocumentSerializer(serializers.ModelSerializer[OpenApiDocument]):
    added_by = serializers.CharField(
        source="added_by.email", read_only=True, help_text="Who added it."
    )

    class Meta:
        model = OpenApiDocument
        fields: tuple[str, ...] = (
            "sha256",
            "title",
            "api_version",
            "base_url",
            "source_url",
            "tool_count",
            "skipped_count",
            "added_by",
            "added_at",
        )
        read_only_fields = fields


class OpenApiTool(serializers.Serializer[Any]):
    name = serializers.CharField(help_text="Name of the tool.")
    version = serializers.CharField(help_text="Its version, with a stamp of where it comes from.")
    operation_id = serializers.CharField(help_text="The operation in the document.")
    method = serializers.CharField(help_text="HTTP method.")
    path = serializers.CharField(help_text="Path below the server.")
    description = serializers.CharField(help_text="What it does.")
    risk = serializers.CharField(help_text="How much harm a wrong call can do.")
    notes = serializers.ListField(
        child=serializers.CharField(), help_text="What its schemas leave open."
    )
    manifest = serializers.DictField(
        required=False, help_text="The whole manifest, with `manifests=true`."
    )


class SkippedOperation(serializers.Serializer[Any]):
    method = serializers.CharField(help_text="HTTP method; empty when it is the whole path.")
    path = serializers.CharField(help_text="Path in the document.")
    reason = serializers.CharField(help_text="Why it cannot be a tool.")


class CompiledDocument(OpenApiDocumentSerializer):
    tools = OpenApiTool(many=True, help_text="One for each operation.")
    skipped = SkippedOperation(many=True, help_text="Operations that cannot be tools.")

    class Meta(OpenApiDocumentSerializer.Meta):
        fields = (*OpenApiDocumentSerializer.Meta.fields, "tools", "skipped")
        read_only_fields = fields


class NewOpenApiDocument(Body):
    document = Text(
        max_length=MAX_BYTES,
        required=False,
        trim_whitespace=False,
        help_text="The document as JSON or YAML text.",
    )
    url = Text(max_length=2000, required=False, help_text="Where to fetch it instead.")
    base_url = Text(
        max_length=2000, required=False, help_text="Server to call; else the document's first one."
    )
    credential = Text(
        max_length=64,
        required=False,
        validators=[SECRET_NAME],
        help_text="Name of the secret that signs calls in.",
    )


class ChosenOperations(Body):
    tools = serializers.ListField(
        child=serializers.CharField(max_length=128),
        max_length=500,
        required=False,
        help_text="Names of the tools, as the document shows them; all when left out.",
    )
    base_url = Text(max_length=2000, required=False, help_text="Another server to call.")
    credential = Text(
        max_length=64, required=False, validators=[SECRET_NAME], help_text="Name of a secret."
    )


class CompiledQuery(Query):
    base_url = Text(max_length=2000, required=False, help_text="Another server to call.")
    credential = Text(
        max_length=64, required=False, validators=[SECRET_NAME], help_text="Name of a secret."
    )
    manifests = Choice(
        choices=("true", "false"), required=False, help_text="With the whole manifests."
    )


class OpenApiDoor(Door):
    tag = "openapi"
    ordering = ("title", "id")


class OpenApiList(OpenApiDoor):
    @extend_schema(
        operation_id="list_openapi_documents", responses=OpenApiDocumentSerializer(many=True)
    )
    def get(self, request: Request, slug: str) -> Response:
        """List a project's OpenAPI documents."""
        self.filters()
        rows = openapi_documents_of(self.person, visible_project(self.person, slug))
        return self.page(rows, OpenApiDocumentSerializer)

    @extend_schema(
        operation_id="add_openapi_document",
        request=NewOpenApiDocument,
        responses={200: CompiledDocument, 201: CompiledDocument},
    )
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Add an OpenAPI document and see which tools it gives; none is installed by this."""
        project = visible_project(self.person, slug)
        body = self.accept(NewOpenApiDocument)
        row, compiled, is_new = add_openapi_document(
            actor=self.person,
            project=project,
            text=body.get("document", ""),
            url=body.get("url", ""),
            base_url=body.get("base_url", ""),
            credential=_reference(body),
        )
        code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        return Response(_shown(row, compiled), status=code)


class OpenApiDetail(OpenApiDoor):
    @extend_schema(
        operation_id="show_openapi_document",
        parameters=[CompiledQuery],
        responses=CompiledDocument,
    )
    def get(self, request: Request, slug: str, document: str) -> Response:
        """Show an OpenAPI document with the tools it gives and what it cannot give."""
        query = self.filters(CompiledQuery)
        row = openapi_document_of(self.person, visible_project(self.person, slug), document)
        compiled = compiled_document(
            row, base_url=query.get("base_url", ""), credential=_reference(query)
        )
        return Response(_shown(row, compiled, whole=query.get("manifests") == "true"))

    @extend_schema(operation_id="remove_openapi_document", responses={204: None})
    def delete(self, request: Request, slug: str, document: str) -> Response:
        """Remove an OpenAPI document; tools that are pinned to it stop working."""
        project = visible_project(self.person, slug)
        remove_openapi_document(actor=self.person, project=project, sha256=document)
        return Response(status=status.HTTP_204_NO_CONTENT)


class OpenApiInstall(OpenApiDoor):
    @extend_schema(
        operation_id="install_openapi_tools",
        request=ChosenOperations,
        responses={201: ToolSerializer(many=True)},
    )
    @idempotent
    def post(self, request: Request, slug: str, document: str) -> Response:
        """Install operations of a document as tools of the project; twice is once."""
        row = openapi_document_of(self.person, visible_project(self.person, slug), document)
        body = self.accept(ChosenOperations)
        made = install_operations(
            actor=self.person,
            document=row,
            names=body.get("tools", ()),
            base_url=body.get("base_url", ""),
            credential=_reference(body),
        )
        return Response(ToolSerializer(made, many=True).data, status=status.HTTP_201_CREATED)


def _reference(given: dict[str, Any]) -> str | None:
    return f"secret:{given['credential']}" if given.get("credential") else None


def _shown(row: OpenApiDocument, compiled: Compiled, *, whole: bool = False) -> dict[str, Any]:
    skipped = [
        {"method": each.method, "path": each.path, "reason": each.reason}
        for each in compiled.skipped
    ]
    tools = [_tool(each, whole=whole) for each in compiled.tools]
    return {**OpenApiDocumentSerializer(row).data, "tools": tools, "skipped": skipped}


def _tool(tool: Tool, *, whole: bool) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "name": tool.manifest["name"],
        "version": tool.manifest["version"],
        "operation_id": tool.operation.key,
        "method": tool.operation.method,
        "path": tool.operation.path,
        "description": tool.manifest["description"],
        "risk": tool.manifest["risk"],
        "notes": list(tool.notes),
    }
    return {**shown, "manifest": tool.manifest} if whole else shown
