"""“Pin as tool”: an accepted definition as a tool manifest like any other."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from apps.tools.mcp.content import OUTPUT_SCHEMA
from apps.tools.mcp.schemas import modern
from apps.tools.mcp.text import plain
from apps.tools.models import McpEntry, McpServer
from omni.contracts.errors import Conflict, InvalidInput
from omni.contracts.types.shapes import Capability, Risk
from omni.contracts.types.tool_manifest import ToolManifest, ToolManifestLimits
from omni.contracts.validation import validate

EXECUTOR_VERSION = "1.0.0"
WALL_SECONDS = 60
OUTPUT_BYTES = 1024 * 1024
MAX_NAME = 128


def manifest_of(
    entry: McpEntry, *, version: str = "1.0.0", risk: Risk | None = None
) -> ToolManifest:
    """The manifest of an accepted tool.

    What a server says of its own harmlessness is a hint by a stranger: it never lowers the risk
    below medium nor makes a call repeatable. `risk` is a person's own judgement.
    """
    _check(entry)
    body: dict[str, Any] = entry.accepted_definition or {}
    hints = body.get("annotations") or {}
    manifest: ToolManifest = {
        "schema_version": 1,
        "name": tool_name(entry.server.slug, entry.name),
        "version": version,
        "title": plain(str(body.get("title") or hints.get("title") or entry.name), 200),
        "description": plain(str(body.get("description") or entry.name), 2000) or entry.name,
        "input_schema": {**modern(body["inputSchema"]), "type": "object"},
        "output_schema": _output(body),
        "scopes": _scopes(entry.server),
        "capabilities": capabilities_of(hints, entry.server),
        "executor": {
            "kind": "mcp_remote",
            "version": EXECUTOR_VERSION,
            "config": {
                "server": entry.server.slug,
                "tool": entry.name,
                "definition_sha256": entry.accepted_sha256,
            },
        },
        "limits": _limits(),
        "idempotency": "not_idempotent",
        "risk": risk or risk_of(hints),
        "tags": ["mcp"],
    }
    validate("tool-manifest", manifest)
    return manifest


def tool_name(server: str, tool: str) -> str:
    """`mcp.<server>.<tool>`, made valid; a name that had to change keeps apart by its hash."""
    plain_name = re.sub(r"[^a-z0-9_-]+", "-", tool.lower()).strip("-_")
    room = MAX_NAME - len(f"mcp.{server}.")
    if plain_name == tool and len(tool) <= room:
        return f"mcp.{server}.{tool}"
    mark = hashlib.sha256(tool.encode()).hexdigest()[:8]
    kept = plain_name[: room - 9].strip("-_") or "tool"
    return f"mcp.{server}.{kept}-{mark}"


def risk_of(hints: dict[str, Any]) -> Risk:
    """Medium at the least; high unless the server denies that it destroys anything."""
    if hints.get("readOnlyHint") is True or hints.get("destructiveHint") is False:
        return "medium"
    return "high"


def capabilities_of(hints: dict[str, Any], server: McpServer) -> list[Capability]:
    found: list[Capability] = ["read"]
    if hints.get("readOnlyHint") is not True:
        found.append("external_write")
    if server.transport == McpServer.Transport.STDIO:
        found.append("execute")
        if server.egress:
            found.append("network_egress")
    else:
        found.append("network_egress")
    if server.credentials:
        found.append("secrets")
    return found


def _check(entry: McpEntry) -> None:
    if entry.kind != McpEntry.Kind.TOOL:
        raise InvalidInput.field("entry", "Only a tool can be pinned as a tool.")
    if entry.state != McpEntry.State.ACCEPTED:
        raise Conflict(
            f"{entry.name} is not accepted.", remedy="Look at its definition and accept it first."
        )


def _output(body: dict[str, Any]) -> dict[str, Any]:
    declared = body.get("outputSchema")
    return OUTPUT_SCHEMA if declared is None else modern(declared)


def _scopes(server: McpServer) -> list[str]:
    hosts = server.egress if server.transport == McpServer.Transport.STDIO else [server.host]
    return [f"mcp.call:{server.slug}", *(f"network.egress:{host}" for host in hosts if host)]


def _limits() -> ToolManifestLimits:
    return {"wall_seconds": WALL_SECONDS, "output_bytes": OUTPUT_BYTES}
