"""What others offer becomes tools of a project: accepted MCP definitions, OpenAPI operations."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db import transaction

from apps.registry.models import Project, User
from apps.registry.permissions import require
from apps.registry.roles import Permission
from apps.tools.executors.openapi.compiler import Compiled
from apps.tools.mcp.manifest import manifest_of
from apps.tools.models import McpEntry, OpenApiDocument, ToolOrigin, ToolVersion
from apps.tools.policy.versions import key
from apps.tools.services.openapi import Credential, compiled_document
from apps.tools.services.tools import install_tool, register_tool
from omni.contracts.errors import NotFound
from omni.contracts.types.shapes import Risk


@transaction.atomic
def pin_mcp_entry(*, actor: User, entry: McpEntry, risk: Risk | None = None) -> ToolVersion:
    """An accepted definition as an installed tool; a changed one is the next version."""
    project = entry.server.project
    require(actor, Permission.MANAGE_TOOLS, project)
    manifest = manifest_of(entry, risk=risk)
    known = ToolVersion.objects.filter(project=project, name=manifest["name"])
    newest = max(known, key=lambda row: key(row.version), default=None)
    if newest is not None:
        same = {**manifest, "version": newest.version}
        version = newest.version if newest.manifest == same else _next(newest.version)
        manifest = manifest_of(entry, version=version, risk=risk)
    return _install(actor, project, manifest, ToolOrigin.MCP)


@transaction.atomic
def install_operations(
    *,
    actor: User,
    document: OpenApiDocument,
    names: Collection[str] = (),
    base_url: str = "",
    credential: Credential = None,
) -> list[ToolVersion]:
    """Operations of an accepted document as installed tools: those named, or all."""
    require(actor, Permission.MANAGE_TOOLS, document.project)
    compiled: Compiled = compiled_document(document, base_url=base_url, credential=credential)
    chosen = [tool for tool in compiled.tools if not names or tool.manifest["name"] in names]
    missing = set(names) - {tool.manifest["name"] for tool in chosen}
    if missing:
        raise NotFound(
            f"The document has no tool {sorted(missing)[0]}.", data={"missing": sorted(missing)}
        )
    return [_install(actor, document.project, tool.manifest, ToolOrigin.OPENAPI) for tool in chosen]


def _install(actor: User, project: Project, manifest: Any, origin: ToolOrigin) -> ToolVersion:
    tool, _ = register_tool(actor=actor, manifest=manifest, project=project, origin=origin)
    install_tool(actor=actor, project=project, tool=tool, pin=True)
    return tool


def _next(version: str) -> str:
    """What a changed definition is: a new minor version, since nobody says what it breaks."""
    major, minor, _ = version.split(".", 2)
    return f"{major}.{int(minor) + 1}.0"
