"""Calls of tools on registered MCP servers, only while they are what was accepted."""

from __future__ import annotations

from typing import Any

from apps.tools.executors.base import Call, Outcome, ToolError
from apps.tools.mcp.client import Changed, call_tool
from apps.tools.mcp.content import outcome_of
from apps.tools.mcp.manifest import EXECUTOR_VERSION, OUTPUT_BYTES, WALL_SECONDS
from apps.tools.mcp.target import Bounds
from apps.tools.models import McpEntry
from apps.tools.services.mcp_catalog import quarantine_entry
from apps.tools.services.mcp_servers import target_of

# Bytes of files travel as base64 within a message, beside the output.
FILE_ROOM = 8


class McpRemote:
    """One session per call: what a server remembers of one run never reaches another."""

    kind = "mcp_remote"
    version = EXECUTOR_VERSION

    def execute(self, call: Call) -> Outcome:
        config: Any = call.manifest["executor"]["config"]
        entry = _accepted(call, config)
        limits = call.manifest["limits"]
        bounds = Bounds(
            seconds=float(limits.get("wall_seconds", WALL_SECONDS)),
            message_bytes=FILE_ROOM * limits.get("output_bytes", OUTPUT_BYTES),
        )
        try:
            result = call_tool(
                target_of(entry.server, call.secret),
                config["tool"],
                dict(call.arguments),
                definition_sha256=config["definition_sha256"],
                bounds=bounds,
                cancelled=call.run.cancelled,
            )
        except Changed as error:
            quarantine_entry(entry, gone=error.gone)
            raise
        structured = entry.definition.get("outputSchema") is not None
        return outcome_of(result, structured=structured, server=entry.server.slug)


def _accepted(call: Call, config: Any) -> McpEntry:
    """The entry behind a manifest, if its accepted definition is still the manifest's."""
    entry = (
        McpEntry.objects.select_related("server__project")
        .filter(
            server__project_id=call.project_id,
            server__slug=config["server"],
            kind=McpEntry.Kind.TOOL,
            name=config["tool"],
        )
        .first()
    )
    if entry is None:
        raise ToolError(
            "misconfigured",
            f"This project has no MCP server {config['server']} with that tool.",
            remedy="Register it again, or use another tool.",
        )
    if not entry.server.enabled:
        raise ToolError("misconfigured", f"The MCP server {config['server']} is switched off.")
    if not entry.is_usable or entry.accepted_sha256 != config["definition_sha256"]:
        raise ToolError(
            "quarantined",
            f"The definition of {entry.name} on the MCP server {entry.server.slug} is not the "
            "accepted one.",
            remedy="Look at it on the server's page, accept it, and pin the tool again.",
            data={"server": entry.server.slug, "tool": entry.name, "state": entry.state},
        )
    return entry
