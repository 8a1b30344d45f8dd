"""MCP servers of a project: registered, checked, and their catalogs accepted."""

from __future__ import annotations

import uuid

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from apps.registry.api.doors import Door
from apps.registry.api.idempotency import idempotent
from apps.registry.selectors import visible_project
from apps.tools.api import mcp_shapes as shapes
from apps.tools.api.shapes import ToolSerializer
from apps.tools.mcp import selectors
from apps.tools.mcp.manifest import manifest_of
from apps.tools.models import McpServer
from apps.tools.services import mcp_catalog, mcp_checks, mcp_servers
from apps.tools.services.pinning import pin_mcp_entry
from omni.contracts.errors import InvalidInput


class McpDoor(Door):
    tag = "mcp"

    def server(self, slug: str, server: str) -> McpServer:
        return selectors.visible_server(self.person, visible_project(self.person, slug), server)


class McpServerList(McpDoor):
    ordering = ("slug", "id")

    @extend_schema(operation_id="list_mcp_servers", responses=shapes.McpServerSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the MCP servers of a project."""
        self.filters()
        found = selectors.servers_of(self.person, visible_project(self.person, slug))
        return self.page(found, shapes.McpServerSerializer)

    @extend_schema(
        operation_id="add_mcp_server",
        request=shapes.NewMcpServer,
        responses={201: shapes.McpServerSerializer},
    )
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Register an MCP server.

        It is checked soon. Nothing that it offers is used before somebody accepts it.
        """
        project = visible_project(self.person, slug)
        body = self.accept(shapes.NewMcpServer)
        made = mcp_servers.add_server(actor=self.person, project=project, **body)
        mcp_checks.send_check(made.pk)
        kwargs = {"slug": slug, "server": made.slug}
        where = reverse("tools_api:mcp_server", kwargs=kwargs, request=request)
        shown = shapes.McpServerSerializer(self.server(slug, made.slug)).data
        return Response(shown, status=status.HTTP_201_CREATED, headers={"Location": where})


class McpServerDetail(McpDoor):
    @extend_schema(operation_id="read_mcp_server", responses=shapes.McpServerSerializer)
    def get(self, request: Request, slug: str, server: str) -> Response:
        """Read one MCP server: how it is reached and how it fares."""
        return Response(shapes.McpServerSerializer(self.server(slug, server)).data)

    @extend_schema(
        operation_id="change_mcp_server",
        request=shapes.McpServerChange,
        responses=shapes.McpServerSerializer,
    )
    def patch(self, request: Request, slug: str, server: str) -> Response:
        """Change an MCP server; at another address it starts without acceptances."""
        row = self.server(slug, server)
        body = self.accept(shapes.McpServerChange, partial=True)
        changed = mcp_servers.change_server(actor=self.person, server=row, **body)
        if changed.enabled:
            mcp_checks.send_check(changed.pk)
        return Response(shapes.McpServerSerializer(self.server(slug, server)).data)

    @extend_schema(operation_id="remove_mcp_server", responses={204: None})
    def delete(self, request: Request, slug: str, server: str) -> Response:
        """Remove an MCP server with its catalog; tools pinned from it fail from now on."""
        mcp_servers.remove_server(actor=self.person, server=self.server(slug, server))
        return Response(status=status.HTTP_204_NO_CONTENT)


class McpServerCheck(McpDoor):
    @extend_schema(
        operation_id="check_mcp_server", request=None, responses=shapes.McpServerSerializer
    )
    @idempotent
    def post(self, request: Request, slug: str, server: str) -> Response:
        """Have a worker check the server soon; `checking` is true until it has."""
        row = self.server(slug, server)
        mcp_checks.request_check(actor=self.person, server=row)
        return Response(shapes.McpServerSerializer(self.server(slug, server)).data)


class McpCheckList(McpDoor):
    ordering = ("-id",)

    @extend_schema(operation_id="list_mcp_checks", responses=shapes.McpCheckSerializer(many=True))
    def get(self, request: Request, slug: str, server: str) -> Response:
        """List the recent health checks of a server, the latest first."""
        self.filters()
        return self.page(selectors.checks_of(self.server(slug, server)), shapes.McpCheckSerializer)


class McpEntryList(McpDoor):
    ordering = ("kind", "name", "id")

    @extend_schema(
        operation_id="list_mcp_entries",
        parameters=[shapes.McpEntryQuery],
        responses=shapes.McpEntrySerializer(many=True),
    )
    def get(self, request: Request, slug: str, server: str) -> Response:
        """List the tools, resources and prompts that a server offers or offered."""
        asked = self.filters(shapes.McpEntryQuery)
        found = selectors.entries_of(self.server(slug, server), **asked)
        return self.page(found, shapes.McpEntrySerializer)


class McpEntryDetail(McpDoor):
    @extend_schema(operation_id="read_mcp_entry", responses=shapes.McpEntryDetailSerializer)
    def get(self, request: Request, slug: str, server: str, mcp_entry: uuid.UUID) -> Response:
        """Read one entry with its definition, and the one that was accepted."""
        row = selectors.visible_entry(self.server(slug, server), mcp_entry)
        return Response(shapes.McpEntryDetailSerializer(row).data)


class McpEntryManifest(McpDoor):
    @extend_schema(operation_id="read_mcp_manifest", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str, server: str, mcp_entry: uuid.UUID) -> Response:
        """Read the tool manifest that an accepted entry becomes when it is pinned as a tool."""
        row = selectors.visible_entry(self.server(slug, server), mcp_entry)
        return Response(manifest_of(row))


class McpEntryPin(McpDoor):
    @extend_schema(
        operation_id="pin_mcp_entry", request=shapes.PinEntry, responses={201: ToolSerializer}
    )
    @idempotent
    def post(self, request: Request, slug: str, server: str, mcp_entry: uuid.UUID) -> Response:
        """Pin an accepted entry as a tool of the project, like any other; twice is once."""
        row = selectors.visible_entry(self.server(slug, server), mcp_entry)
        tool = pin_mcp_entry(actor=self.person, entry=row, **self.accept(shapes.PinEntry))
        return Response(ToolSerializer(tool).data, status=status.HTTP_201_CREATED)


class McpEntryReject(McpDoor):
    @extend_schema(
        operation_id="reject_mcp_entry", request=None, responses=shapes.McpEntrySerializer
    )
    @idempotent
    def post(self, request: Request, slug: str, server: str, mcp_entry: uuid.UUID) -> Response:
        """Refuse an entry, or take its acceptance back; it is not used from now on."""
        row = selectors.visible_entry(self.server(slug, server), mcp_entry)
        changed = mcp_catalog.reject_entry(actor=self.person, entry=row)
        return Response(shapes.McpEntrySerializer(changed).data)


class McpAccept(McpDoor):
    @extend_schema(
        operation_id="accept_mcp_entries",
        request=shapes.Acceptance,
        responses=shapes.AcceptedSerializer,
    )
    @idempotent
    def post(self, request: Request, slug: str, server: str) -> Response:
        """Accept definitions, each by the hash that was looked at; all of them or none."""
        row = self.server(slug, server)
        given = self.accept(shapes.Acceptance)["entries"]
        expected = {each["id"]: each["sha256"] for each in given}
        if len(expected) < len(given):
            raise InvalidInput.field("entries", "An entry is named twice.")
        found = mcp_catalog.accept_entries(actor=self.person, server=row, expected=expected)
        return Response(shapes.AcceptedSerializer({"entries": found}).data)


class McpCatalogList(McpDoor):
    ordering = ("-number",)

    @extend_schema(
        operation_id="list_mcp_catalogs", responses=shapes.McpCatalogSerializer(many=True)
    )
    def get(self, request: Request, slug: str, server: str) -> Response:
        """List the versions of a server's catalog, the newest first."""
        self.filters()
        found = selectors.catalogs_of(self.server(slug, server))
        return self.page(found, shapes.McpCatalogSerializer)


class McpDiff(McpDoor):
    @extend_schema(
        operation_id="diff_mcp_catalogs",
        parameters=[shapes.DiffQuery],
        responses=shapes.McpDiffSerializer,
    )
    def get(self, request: Request, slug: str, server: str) -> Response:
        """Read what changed between two versions of a catalog, by default the last two."""
        asked = self.filters(shapes.DiffQuery)
        older, newer, found = selectors.catalog_changes(self.server(slug, server), **asked)
        shown = {
            "before": older.number if older else None, "after": newer.number, "changes": found,
        }  # fmt: skip
        return Response(shapes.McpDiffSerializer(shown).data)
