"""MCP servers over the API: registered, looked at, accepted, compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.registry.models import User
from apps.registry.roles import Permission, Role, granted
from apps.registry.services.members import grant_roles
from apps.tools.models import McpServer
from omni.contracts.validation import validate
from tests.api.shapes import problem
from tests.mcp.furnish import furnished_server

pytestmark = [pytest.mark.req("API-1"), pytest.mark.req("MCP-1"), pytest.mark.req("MCP-2")]

SERVERS = "/api/projects/apollo/mcp/servers"
TICKETS = f"{SERVERS}/tickets"
NEW = {"slug": "docs", "transport": "sse", "url": "https://docs.example.org/sse"}


@pytest.fixture
def tickets(user: User, project: Any) -> McpServer:
    return furnished_server(user, project)


def test_the_life_of_a_server(api: APIClient, project: Any) -> None:
    made = api.post(SERVERS, NEW)
    assert (made.status_code, made.json()["status"], made.json()["checking"]) == (
        201,
        "unknown",
        True,
    )
    assert made["Location"].endswith(f"{SERVERS}/docs")
    problem(api.post(SERVERS, NEW), 409)
    changed = api.patch(f"{SERVERS}/docs", {"enabled": False, "headers": {"X-Tenant": "a"}})
    assert (changed.status_code, changed.json()["headers"]) == (200, {"X-Tenant": "a"})
    problem(api.post(f"{SERVERS}/docs/check"), 409)
    assert [row["slug"] for row in api.get(SERVERS).json()["results"]] == ["docs"]
    assert api.delete(f"{SERVERS}/docs").status_code == 204
    problem(api.get(f"{SERVERS}/docs"), 404)


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"slug": "A b"}, "slug"),
        ({"transport": "carrier pigeon"}, "transport"),
        ({"url": "gopher://example.org"}, "url"),
        ({"headers": {"Authorization": "Bearer abc"}}, "headers"),
        ({"credentials": {"Authorization": "Bearer abc"}}, "credentials"),
        ({"headers": []}, "headers"),
        ({"command": ["sh"]}, "command"),
        ({"allowed_private": ["10.0.0.1"]}, "allowed_private"),
        ({"surprise": 1}, "surprise"),
    ],
)  # fmt: skip
def test_what_is_refused_names_the_field(
    api: APIClient, project: Any, sent: dict[str, Any], field: str
) -> None:
    assert field in problem(api.post(SERVERS, {**NEW, **sent}), 400, "invalid")["errors"]
    assert not McpServer.objects.exists()


@pytest.mark.req("SEC-2")
def test_private_places_are_for_operators(
    api: APIClient, caller: Callable[..., APIClient], project: Any, administrator: User
) -> None:
    private = {**NEW, "url": "http://10.0.0.5:8080/sse", "allowed_private": ["10.0.0.5:8080"]}
    problem(api.post(SERVERS, private), 403)
    grant_roles(project=project, user=administrator, roles={Role.OPERATOR}, added_by=None)
    assert caller(administrator).post(SERVERS, private).status_code == 201


def test_the_catalog_is_looked_at_and_accepted(api: APIClient, tickets: McpServer) -> None:
    rows = {row["name"]: row for row in api.get(f"{TICKETS}/entries").json()["results"]}
    assert {name: row["state"] for name, row in rows.items()} == {
        "search": "accepted", "close": "changed", "reopen": "new", "hidden": "quarantined",
        "note://today": "new", "triage": "new",
    }  # fmt: skip
    waiting = api.get(f"{TICKETS}/entries?state=changed&kind=tool").json()["results"]
    assert [row["name"] for row in waiting] == ["close"]
    one = api.get(f"{TICKETS}/entries/{rows['close']['id']}").json()
    assert one["accepted_definition"]["description"] != one["definition"]["description"]

    def accept(name: str, sha256: str = "") -> Any:
        row = rows[name]
        given = {"id": row["id"], "sha256": sha256 or row["definition_sha256"]}
        return api.post(f"{TICKETS}/accept", {"entries": [given]})

    problem(accept("close", "0" * 64), 409)
    problem(accept("hidden"), 409)
    assert accept("close").json()["entries"][0]["state"] == "accepted"
    rejected = api.post(f"{TICKETS}/entries/{rows['close']['id']}/reject").json()
    assert (rejected["state"], rejected["accepted_by"]) == ("quarantined", None)


@pytest.mark.req("MCP-4")
def test_an_accepted_entry_has_a_manifest(api: APIClient, tickets: McpServer) -> None:
    rows = {row["name"]: row["id"] for row in api.get(f"{TICKETS}/entries").json()["results"]}
    manifest = api.get(f"{TICKETS}/entries/{rows['search']}/manifest").json()
    validate("tool-manifest", manifest)
    assert (manifest["name"], manifest["risk"]) == ("mcp.tickets.search", "medium")
    assert "secrets" in manifest["capabilities"]
    problem(api.get(f"{TICKETS}/entries/{rows['close']}/manifest"), 409)
    problem(api.get(f"{TICKETS}/entries/{rows['triage']}/manifest"), 400)


def test_versions_are_compared(api: APIClient, tickets: McpServer) -> None:
    assert [row["number"] for row in api.get(f"{TICKETS}/catalogs").json()["results"]] == [2, 1]
    found = api.get(f"{TICKETS}/diff").json()
    assert (found["before"], found["after"]) == (1, 2)
    what = {change["name"]: change["what"] for change in found["changes"]}
    assert what == {"close": "changed", "reopen": "added", "hidden": "added"}
    assert "\u202e" not in str(found), "hidden characters are spelt out"
    assert api.get(f"{TICKETS}/diff?after=1").json()["before"] is None
    problem(api.get(f"{TICKETS}/diff?after=9"), 404)
    problem(api.get(f"{TICKETS}/diff?after=x"), 400)
    checks = api.get(f"{TICKETS}/checks").json()["results"]
    assert [row["ok"] for row in checks] == [True, False, True, True]


@pytest.mark.req("SEC-2")
@pytest.mark.parametrize("role", list(Role))
def test_roles_decide_who_manages_servers(
    caller: Callable[..., APIClient], project: Any, tickets: McpServer, colleague: User, role: Role
) -> None:
    grant_roles(project=project, user=colleague, roles={role}, added_by=None)
    client, allowed = caller(colleague), Permission.OPERATE in granted({role})
    assert client.get(TICKETS).status_code == 200
    entry = tickets.entries.get(name="close")
    body = {"entries": [{"id": str(entry.pk), "sha256": entry.definition_sha256}]}
    for answer in (
        client.post(SERVERS, NEW),
        client.patch(TICKETS, {"description": "x"}),
        client.post(f"{TICKETS}/check"),
        client.post(f"{TICKETS}/accept", body),
        client.post(f"{TICKETS}/entries/{entry.pk}/reject"),
        client.delete(TICKETS),
    ):
        assert (answer.status_code == 403) != allowed


@pytest.mark.req("SEC-2")
def test_servers_of_other_projects_do_not_exist(
    caller: Callable[..., APIClient], tickets: McpServer, stranger: User
) -> None:
    client = caller(stranger)
    for path in ("", "/checks", "/entries", "/catalogs", "/diff"):
        problem(client.get(f"{TICKETS}{path}"), 404)
    problem(client.delete(TICKETS), 404)
