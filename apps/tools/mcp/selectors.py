"""Reads of MCP servers and their catalogs, for members of the project."""

from __future__ import annotations

import uuid

from django.db.models import Count, Q, QuerySet

from apps.registry.models import Project, User
from apps.registry.permissions import projects_with, require
from apps.registry.roles import Permission
from apps.tools.mcp.diff import Change, changes
from apps.tools.models import McpCatalog, McpCheck, McpEntry, McpServer
from omni.contracts.errors import NotFound

WAITING = ("new", "changed", "quarantined")


def servers_of(user: User, project: Project) -> QuerySet[McpServer]:
    """With how many entries there are, and how many wait for somebody to look at them."""
    require(user, Permission.VIEW, project)
    return _counted(McpServer.objects.filter(project=project))


def visible_servers(user: User) -> QuerySet[McpServer]:
    """Those of every project that the person sees."""
    projects = projects_with(user, Permission.VIEW).filter(archived_at=None)
    return _counted(McpServer.objects.filter(project__in=projects))


def visible_server(user: User, project: Project, slug: str) -> McpServer:
    found = servers_of(user, project).filter(slug=slug).first()
    if found is None:
        raise NotFound("There is no such MCP server.")
    return found


def entries_of(server: McpServer, *, kind: str = "", state: str = "") -> QuerySet[McpEntry]:
    """The caller has found the server through `visible_server`."""
    rows = server.entries.select_related("accepted_by", "server")
    if kind:
        rows = rows.filter(kind=kind)
    return rows.filter(state=state) if state else rows


def visible_entry(server: McpServer, entry_id: uuid.UUID) -> McpEntry:
    found = entries_of(server).filter(pk=entry_id).first()
    if found is None:
        raise NotFound("There is no such entry.")
    return found


def checks_of(server: McpServer) -> QuerySet[McpCheck]:
    return server.checks.all()


def catalogs_of(server: McpServer) -> QuerySet[McpCatalog]:
    return server.catalogs.defer("entries")


def catalog_changes(
    server: McpServer, before: int | None = None, after: int | None = None
) -> tuple[McpCatalog | None, McpCatalog, list[Change]]:
    """What changed between two versions; without numbers, between the last two."""
    rows = server.catalogs.order_by("-number")
    newer = rows.filter(number=after).first() if after is not None else rows.first()
    if newer is None:
        raise NotFound("There is no such version of the catalog.")
    if before is None:
        older = rows.filter(number__lt=newer.number).first()
    else:
        older = rows.filter(number=before).first()
        if older is None:
            raise NotFound("There is no such version of the catalog.")
    return older, newer, changes(older.entries if older else [], newer.entries)


def _counted(rows: QuerySet[McpServer]) -> QuerySet[McpServer]:
    offered = ~Q(entries__state="removed")
    return (
        rows.select_related("project", "added_by")
        .annotate(
            entry_count=Count("entries", filter=offered),
            waiting_count=Count("entries", filter=Q(entries__state__in=WAITING)),
        )
        .order_by("slug", "id")
    )
