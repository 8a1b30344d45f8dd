"""Tools: registered, checked, deprecated; installed, pinned and removed in a project."""

from __future__ import annotations

import uuid
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.registry.api.doors import Door
from apps.registry.api.fields import Body, Choice, Flag, Query, Text
from apps.registry.api.idempotency import idempotent
from apps.registry.models import Project, Scope
from apps.registry.selectors import visible_project
from apps.tools.api.shapes import (
    InstallationSerializer,
    InstalledToolSerializer,
    Manifest,
    ToolDetailSerializer,
    ToolSerializer,
    UseSerializer,
    ValiditySerializer,
    problems_of,
)
from apps.tools.models import ToolInstallation, ToolVersion
from apps.tools.selectors import (
    available_tool,
    available_tools,
    installations_of,
    users_of_tool,
    versions_of,
    visible_tools,
)
from apps.tools.services import tools
from omni.contracts.canonical import digest
from omni.contracts.errors import InvalidInput, NotFound

REGISTERED = {200: ToolDetailSerializer, 201: ToolDetailSerializer}


class ToolQuery(Query):
    q = Text(required=False, allow_blank=True, max_length=100, help_text="Words to find it by.")


class InstalledQuery(Query):
    pinned = Choice(
        required=False, choices=["true"], help_text="Only what the names of tools stand for."
    )


class VersionQuery(Query):
    version = Text(required=False, max_length=100, help_text="Exact version; all when missing.")


class NewInstallation(Body):
    name = Text(max_length=128, help_text="Name of the tool.")
    version = Text(
        required=False, max_length=100, help_text="Version or range; the newest when missing."
    )
    pin = Flag(required=False, default=False, help_text="Make it what the name stands for.")


class Pin(Body):
    version = Text(max_length=64, help_text="An installed version.")


class Deprecation(Body):
    reason = Text(
        max_length=2000, allow_blank=True, help_text="Why, and what instead; empty takes it back."
    )


class ToolList(Door):
    tag = "tools"
    ordering = ("name", "-created_at", "id")

    @extend_schema(
        operation_id="list_tools", parameters=[ToolQuery], responses=ToolSerializer(many=True)
    )
    def get(self, request: Request) -> Response:
        """List versions of tools: for everybody, and of your projects."""
        asked = self.filters(ToolQuery)
        return self.page(visible_tools(self.person, q=asked.get("q", "")), ToolSerializer)

    @extend_schema(operation_id="register_platform_tool", request=Manifest, responses=REGISTERED)
    @idempotent
    def post(self, request: Request) -> Response:
        """Publish a version of a tool for every project; for operators."""
        return _registered(self, None)


class ToolValidation(Door):
    tag = "tools"
    change_scope = Scope.READ

    @extend_schema(operation_id="validate_tool", request=Manifest, responses=ValiditySerializer)
    @idempotent
    def post(self, request: Request) -> Response:
        """Check a manifest without publishing it."""
        manifest = self.accept(Manifest)["manifest"]
        answer: dict[str, Any] = {"valid": True, "sha256": None, "errors": {}}
        try:
            tools.check_manifest(manifest)
            answer["sha256"] = digest(manifest)
        except InvalidInput as error:
            answer |= {"valid": False, "errors": problems_of(error)}
        return Response(ValiditySerializer(answer).data)


class VersionDoor(Door):
    """One version of a tool, by its id."""

    tag = "tools"

    def tool(self, id: uuid.UUID) -> ToolVersion:
        found = visible_tools(self.person).filter(pk=id).first()
        if found is None:
            raise NotFound("There is no such tool.")
        return found


class ToolDetail(VersionDoor):
    @extend_schema(operation_id="read_tool", responses=ToolDetailSerializer)
    def get(self, request: Request, id: uuid.UUID) -> Response:
        """Read one version of a tool."""
        return Response(ToolDetailSerializer(self.tool(id)).data)


class ToolDeprecation(VersionDoor):
    @extend_schema(
        operation_id="deprecate_tool", request=Deprecation, responses=ToolDetailSerializer
    )
    @idempotent
    def post(self, request: Request, id: uuid.UUID) -> Response:
        """Say why not to use a version any more."""
        tool = self.tool(id)
        body = self.accept(Deprecation)
        tool = tools.deprecate_tool(actor=self.person, tool=tool, reason=body["reason"])
        return Response(ToolDetailSerializer(tool).data)


class ProjectToolList(Door):
    tag = "tools"
    ordering = ("name", "-installed_at", "id")

    @extend_schema(
        operation_id="list_project_tools",
        parameters=[InstalledQuery],
        responses=InstallationSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        """List the versions of tools that a project has."""
        asked = self.filters(InstalledQuery)
        rows = installations_of(self.person, visible_project(self.person, slug))
        if asked.get("pinned"):
            rows = rows.filter(is_pinned=True)
        return self.page(rows, InstallationSerializer)

    @extend_schema(
        operation_id="install_tool",
        request=NewInstallation,
        responses={201: InstallationSerializer},
    )
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Give a project a version of a tool."""
        project = visible_project(self.person, slug)
        body = self.accept(NewInstallation)
        tool = available_tool(self.person, project, body["name"], body.get("version"))
        row = tools.install_tool(actor=self.person, project=project, tool=tool, pin=body["pin"])
        return Response(InstallationSerializer(row).data, status=status.HTTP_201_CREATED)


class ProjectCatalogue(Door):
    tag = "tools"
    ordering = ("name", "-created_at", "id")

    @extend_schema(
        operation_id="list_available_tools",
        parameters=[ToolQuery],
        responses=ToolSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        """List the versions of tools that a project may install."""
        asked = self.filters(ToolQuery)
        project = visible_project(self.person, slug)
        found = available_tools(self.person, project, q=asked.get("q", ""))
        return self.page(found, ToolSerializer)

    @extend_schema(operation_id="register_tool", request=Manifest, responses=REGISTERED)
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Publish a version of a tool of the project's own.

        The same content again is the same version; other content under a published version is a
        conflict.
        """
        return _registered(self, visible_project(self.person, slug))


class ProjectTool(Door):
    tag = "tools"

    @extend_schema(
        operation_id="read_project_tool",
        parameters=[VersionQuery],
        responses=InstalledToolSerializer,
    )
    def get(self, request: Request, slug: str, tool: str) -> Response:
        """Read a tool as a project knows it: its manifest, its versions, who uses it."""
        project = visible_project(self.person, slug)
        wanted = self.filters(VersionQuery).get("version")
        installed = list(installations_of(self.person, project).filter(name=tool))
        shown = _chosen(installed, wanted) or available_tool(self.person, project, tool, wanted)
        versions = [each.version for each in versions_of(self.person, project, tool)]
        answer = {
            **ToolDetailSerializer(shown).data,
            "installed": InstallationSerializer(installed, many=True).data,
            "available": versions,
            "used_by": UseSerializer(users_of_tool(self.person, tool), many=True).data,
        }
        return Response(answer)

    @extend_schema(operation_id="uninstall_tool", parameters=[VersionQuery], responses={204: None})
    def delete(self, request: Request, slug: str, tool: str) -> Response:
        """Take a tool from a project, or one version of it."""
        project = visible_project(self.person, slug)
        version = self.filters(VersionQuery).get("version")
        tools.uninstall_tool(actor=self.person, project=project, name=tool, version=version)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ProjectToolPin(Door):
    tag = "tools"

    @extend_schema(operation_id="pin_tool", request=Pin, responses=InstallationSerializer)
    @idempotent
    def post(self, request: Request, slug: str, tool: str) -> Response:
        """Choose which installed version the tool's name stands for."""
        project = visible_project(self.person, slug)
        body = self.accept(Pin)
        row = tools.pin_tool(actor=self.person, project=project, name=tool, version=body["version"])
        return Response(InstallationSerializer(row).data)


def _registered(door: Door, project: Project | None) -> Response:
    body = door.accept(Manifest)
    made, is_new = tools.register_tool(
        actor=door.person, manifest=body["manifest"], project=project
    )
    code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
    return Response(ToolDetailSerializer(made).data, status=code)


def _chosen(rows: list[ToolInstallation], wanted: str | None) -> ToolVersion | None:
    for row in rows:
        if row.tool.version == wanted or (wanted is None and row.is_pinned):
            return row.tool
    return None
