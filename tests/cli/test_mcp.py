"""`omni mcp` against a real installation, whose worker checks a real server."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Cli
from tests.mcp.conftest import Servers, servers

__all__ = ["servers"]
pytestmark = [pytest.mark.req("CLI-1"), pytest.mark.req("MCP-1"), pytest.mark.req("MCP-2")]


def test_the_life_of_a_server(omni: Cli, ada: Cli, servers: Servers) -> None:
    omni("projects", "create", "Lab", "--slug", "lab")
    lab, url = ("-p", "lab"), servers.url("/mcp")
    added = (
        "mcp",
        "servers",
        "add",
        "friendly",
        *lab,
        "--address",
        url,
        "--allow-private",
        servers.pair,
    )
    made = omni.json(*added, "--value", "X-Tenant: office")
    assert (made["slug"], made["transport"], made["enabled"]) == (
        "friendly",
        "streamable_http",
        True,
    )
    assert made["headers"] == {"X-Tenant": "office"}
    omni(*added, code=7)
    checked = omni.json("mcp", "servers", "check", "friendly", *lab)
    assert (checked["status"], checked["check"]["ok"], checked["waiting"]) == ("healthy", True, 7)
    assert "friendly" in omni("mcp", "servers", "list", *lab).stdout
    assert "2026-07-28" in omni("mcp", "servers", "show", "friendly", *lab).stdout

    entries = omni.json("mcp", "catalog", "show", "friendly", *lab, "--kind", "tool")
    assert {row["name"] for row in entries} == {"add", "shout", "picture", "fail", "slow"}
    one = omni.json("mcp", "catalog", "show", "friendly", "add", *lab)
    assert one["definition"]["inputSchema"]["required"] == ["left", "right"]
    omni("mcp", "catalog", "accept", "friendly", *lab, code=2)
    accepted = omni.json("mcp", "catalog", "accept", "friendly", "add", "shout", *lab)
    assert {row["state"] for row in accepted} == {"accepted"}
    assert "5 to look at" in omni("mcp", "servers", "show", "friendly", *lab).stdout
    assert "Accepted" in omni("mcp", "catalog", "accept", "friendly", "--all", *lab).stdout
    assert "added tool add" in omni("mcp", "catalog", "diff", "friendly", *lab).stdout
    ada("mcp", "servers", "list", *lab, code=6)

    omni("mcp", "servers", "remove", "friendly", *lab, code=2)
    assert omni.json("mcp", "servers", "remove", "friendly", *lab, "-y")["removed"] is True
    assert omni.json("mcp", "servers", "list", *lab) == []


def test_a_failing_server_fails_the_command(omni: Cli, ada: Cli, servers: Servers) -> None:
    ada("projects", "create", "Garage", "--slug", "garage")
    garage = ("-p", "garage")
    url = servers.url("/mcp")
    refused = ("mcp", "servers", "add", "x", *garage, "--address", url)
    ada(*refused, "--allow-private", servers.pair, code=5)
    ada("mcp", "servers", "add", "x", *garage, code=2)
    ada(*refused)
    failed = ada("mcp", "servers", "check", "x", *garage, code=1)
    assert "loopback" in failed.stderr
