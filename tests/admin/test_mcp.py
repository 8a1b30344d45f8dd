"""MCP servers in the admin console: private places, and the queue of definitions."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.registry.models import AuditEntry
from apps.tools.models import McpEntry, McpServer
from tests.mcp.furnish import furnished_server

pytestmark = [pytest.mark.req("ADM-1"), pytest.mark.req("MCP-2"), pytest.mark.django_db]

FORM = {
    "slug": "local", "description": "", "transport": "sse", "url": "http://10.0.0.5:8080/sse",
    "headers": "{}", "allowed_private": '["10.0.0.5:8080"]', "command": "[]", "environment": "{}",
    "egress": "[]", "credentials": "{}", "enabled": "on",
}  # fmt: skip


@pytest.mark.req("MCP-1")
def test_an_operator_allows_a_private_place(console: Client, project: Any) -> None:
    console.post("/admin/tools/mcpserver/add/", {**FORM, "project": str(project.pk)})
    server = McpServer.objects.get(slug="local")
    assert server.allowed_private == ["10.0.0.5:8080"]
    assert AuditEntry.objects.get(action="mcp_server_added").data["as_operator"] is True
    where = f"/admin/tools/mcpserver/{server.pk}/change/"
    console.post(where, {**FORM, "allowed_private": "[]"})
    server.refresh_from_db()
    assert server.allowed_private == []
    console.post(f"/admin/tools/mcpserver/{server.pk}/delete/", {"post": "yes"})
    assert not McpServer.objects.exists()


def test_a_definition_is_accepted_and_rejected(console: Client, user: Any, project: Any) -> None:
    server = furnished_server(user, project)
    entry = server.entries.get(name="close")
    accept = reverse("admin:tools_mcpentry_accept_definition", args=[entry.pk])
    asked = console.get(accept)
    assert f"sha256={entry.definition_sha256}" in asked["Location"]
    console.post(f"{accept}?sha256={'0' * 64}")
    assert McpEntry.objects.get(pk=entry.pk).state == "changed", "another definition was shown"
    console.post(asked["Location"])
    assert McpEntry.objects.get(pk=entry.pk).state == "accepted"
    console.post(reverse("admin:tools_mcpentry_reject_definition", args=[entry.pk]))
    assert McpEntry.objects.get(pk=entry.pk).state == "quarantined"
