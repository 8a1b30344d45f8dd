"""MCP servers in the workspace: registered, looked at, accepted, compared, removed."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from apps.registry.models import Project
from apps.registry.roles import Role
from apps.registry.services.members import grant_roles
from apps.tools.models import McpServer
from tests.mcp.furnish import furnished_server

pytestmark = [pytest.mark.django_db, pytest.mark.req("MCP-2"), pytest.mark.req("UI-6")]

MCP = "/projects/apollo/mcp"
FORM = {
    "slug": "docs", "transport": "streamable_http", "url": "https://docs.example.org/mcp",
    "credentials": "Authorization: Bearer secret://DOCS", "plain_values": "X-Tenant: office",
}  # fmt: skip


@pytest.fixture
def owner(client: Client, user: Any, project: Project) -> Client:
    client.force_login(user)
    return client


@pytest.fixture
def server(user: Any, project: Project) -> McpServer:
    return furnished_server(user, project)


@pytest.mark.req("MCP-1")
def test_a_server_is_registered_changed_and_removed(owner: Client) -> None:
    page = owner.post(f"{MCP}/new", FORM, follow=True)
    assert b"docs is registered" in page.content
    row = McpServer.objects.get(slug="docs")
    assert row.headers == {"X-Tenant": "office"}
    assert row.credentials == {"Authorization": "Bearer secret://DOCS"}
    form = {**FORM, "description": "Manuals", "enabled": "on"}
    owner.post(f"{MCP}/docs/change", form)
    row.refresh_from_db()
    assert (row.description, row.enabled) == ("Manuals", True)
    assert b"Remove docs?" in owner.get(f"{MCP}/docs/remove").content
    owner.post(f"{MCP}/docs/remove")
    assert not McpServer.objects.exists()


@pytest.mark.req("MCP-1")
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"url": ""}, b"not a host name"),
        ({"slug": "New One"}, b"lower-case letters"),
        ({"slug": "new"}, b"taken by a page"),
        ({"credentials": "Authorization: Bearer abc"}, b"must end in a reference"),
        ({"plain_values": "Authorization: abc"}, b"is a credential"),
        ({"plain_values": "no colon"}, b"Name: value"),
        ({"command": "'open"}, b"quotation mark"),
    ],
)
def test_a_refused_form_says_why(owner: Client, wrong: dict[str, str], words: bytes) -> None:
    answer = owner.post(f"{MCP}/new", {**FORM, **wrong})
    assert (answer.status_code, words in answer.content) == (422, True), answer.content.decode()
    assert not McpServer.objects.exists()


def test_the_catalog_shows_what_has_to_be_looked_at(owner: Client, server: McpServer) -> None:
    listed = owner.get(MCP).content.decode()
    assert "3 to look at" not in listed
    assert "5 to look at" in listed
    assert "tickets" in owner.get("/mcp/").content.decode()
    page = owner.get(f"{MCP}/tickets").content.decode()
    for words in ("Healthy", "75 % of the last checks", "Changed", "Quarantined", "Accept all 4"):
        assert words in page
    assert "\u202e" not in page


def test_a_schema_is_shown_in_words(owner: Client, server: McpServer) -> None:
    entry = server.entries.get(name="search")
    page = owner.get(f"{MCP}/tickets/entries/{entry.pk}").content.decode()
    for words in (
        "Words to look for.",
        "at most 200 characters",
        "one of open, closed",
        "mcp.tickets.search",
    ):
        assert words in page  # fmt: skip


def test_a_change_is_shown_and_accepted(owner: Client, server: McpServer) -> None:
    entry = server.entries.get(name="close")
    where = f"{MCP}/tickets/entries/{entry.pk}"
    page = owner.get(where).content.decode()
    assert "The server changed this" in page
    assert "diff-cut" in page
    assert "tells its author" in page
    stale = {"entry": f"{entry.pk}:{'0' * 64}", "back": str(entry.pk)}
    assert b"has changed since" in owner.post(f"{MCP}/tickets/accept", stale, follow=True).content
    seen = {"entry": f"{entry.pk}:{entry.definition_sha256}", "back": str(entry.pk)}
    owner.post(f"{MCP}/tickets/accept", seen)
    entry.refresh_from_db()
    assert entry.state == "accepted"
    owner.post(f"{where}/reject")
    entry.refresh_from_db()
    assert (entry.state, entry.accepted_sha256) == ("quarantined", "")


def test_versions_are_compared_on_a_page(owner: Client, server: McpServer) -> None:
    page = owner.get(f"{MCP}/tickets/changes").content.decode()
    for words in ("From version 1", "reopen", "Added", "Changed", "diff-add"):
        assert words in page
    assert owner.get(f"{MCP}/tickets/changes?after=9").status_code == 404


@pytest.mark.req("SEC-2")
def test_a_viewer_looks_and_changes_nothing(
    client: Client, server: McpServer, project: Project, make_user: Any
) -> None:
    viewer = make_user("alan@example.org")
    grant_roles(project=project, user=viewer, roles={Role.VIEWER}, added_by=None)
    client.force_login(viewer)
    entry = server.entries.get(name="close")
    page = client.get(f"{MCP}/tickets").content.decode()
    assert "Accept all" not in page
    assert "Check now" not in page
    for path, form in (
        ("new", FORM), ("tickets/check", {}), ("tickets/remove", {}), ("tickets/change", FORM),
        ("tickets/accept", {"entry": f"{entry.pk}:{entry.definition_sha256}"}),
        (f"tickets/entries/{entry.pk}/reject", {}),
    ):  # fmt: skip
        assert client.post(f"{MCP}/{path}", form).status_code == 403, path
    entry.refresh_from_db()
    assert entry.state == "changed"
