"""Which hosts a call would reach: what rules about hosts and the executors go by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from omni.contracts.types.tool_manifest import ToolManifest


def hosts_of(manifest: ToolManifest, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """The hosts that a call would reach: declared by the manifest or named by an address."""
    executor = manifest["executor"]
    if executor["kind"] == "sandbox_job":
        return tuple(executor["config"].get("egress", []))
    if executor["kind"] == "openapi_proxy":
        return _host(executor["config"]["base_url"])
    if executor["kind"] == "mcp_remote":
        scopes = (scope.partition(":") for scope in manifest["scopes"])
        return tuple(host for name, _, host in scopes if name == "network.egress" and host)
    if executor["kind"] == "inproc_safe" and "network_egress" in manifest["capabilities"]:
        return _host(str(arguments.get("url", "")))
    return ()


def _host(url: str) -> tuple[str, ...]:
    try:
        host = urlsplit(url).hostname
    except ValueError:
        host = None
    return (host.lower(),) if host else ()
