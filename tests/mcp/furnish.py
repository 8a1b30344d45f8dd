"""A server with a history, for pages and walks that need one and speak to none."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone

from apps.tools.mcp.client import Found
from apps.tools.mcp.definitions import definitions_of, unique
from apps.tools.models import McpCheck, McpServer
from apps.tools.services.mcp_catalog import accept_entries, record_catalog
from apps.tools.services.mcp_servers import add_server

SEARCH: dict[str, Any] = {
    "name": "search",
    "title": "Search tickets",
    "description": "Finds tickets by their words.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Words to look for.", "maxLength": 200},
            "state": {"enum": ["open", "closed"], "description": "Only in this state."},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
        },
        "required": ["query"],
    },
    "annotations": {"readOnlyHint": True},
}
CLOSE = {
    "name": "close", "description": "Closes a ticket.",
    "inputSchema": {"type": "object", "properties": {"id": {"type": "integer"}}},
}  # fmt: skip
HIDDEN = {
    "name": "hidden",
    "description": "Reads \u202esdrawkcab",
    "inputSchema": {"type": "object"},
}


def furnished_server(
    actor: Any, project: Any, *, slug: str = "tickets", word: str = "Tickets"
) -> McpServer:
    """One accepted, one changed, one new and one quarantined tool, a resource and a prompt."""
    server = add_server(
        actor=actor, project=project, slug=slug, transport="streamable_http",
        url="https://mcp.example.org/mcp", description=f"{word} of the office",
        credentials={"Authorization": "Bearer secret://API_KEY"},
    )  # fmt: skip
    search = {**SEARCH, "description": f"Finds {word} by their words."}
    record_catalog(server, found([search, CLOSE]))
    rows = server.entries.filter(name__in=("search", "close"))
    expected = {row.pk: row.definition_sha256 for row in rows}
    accept_entries(actor=actor, server=server, expected=expected)
    changed = {**CLOSE, "description": "Closes a ticket and tells its author."}
    record_catalog(server, found([search, changed, {**CLOSE, "name": "reopen"}, HIDDEN]))
    now = timezone.now()
    for n, ok in enumerate((True, True, False, True)):
        McpCheck.objects.create(
            server=server, at=now - timedelta(minutes=5 * (4 - n)), ok=ok,
            latency_ms=120 + 40 * n, category="" if ok else "timeout",
            message="" if ok else "The MCP server did not answer in time.",
        )  # fmt: skip
    McpServer.objects.filter(pk=server.pk).update(
        status="healthy", last_checked_at=now, reported_name="tickets 2.1", protocol="2026-07-28",
        faults=["tools: bare is malformed: Field required"],
    )  # fmt: skip
    server.refresh_from_db()
    return server


def found(tools: list[dict[str, Any]]) -> Found:
    listed = definitions_of("tool", tools)
    listed += definitions_of("resource", [{"uri": "note://today", "name": "Today"}])
    listed += definitions_of("prompt", [{"name": "triage", "description": "Sort the inbox."}])
    return Found(*unique(listed), "2026-07-28", "tickets", "2.1", 120)  # type: ignore[arg-type]
