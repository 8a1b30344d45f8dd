"""What others offer, called in a run: an MCP server's tool, an operation of an HTTP API."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from apps.registry.models import Project, User
from apps.runs import eventlog
from apps.runs.drive.driver import advance
from apps.runs.models import Approval, Run
from apps.runs.services.approvals import answer_approval
from apps.runs.services.calls import call_tool
from apps.tools.models import McpEntry
from apps.tools.services.builtin import load_builtins
from apps.tools.services.mcp_catalog import accept_entries
from apps.tools.services.mcp_checks import check_server
from apps.tools.services.openapi import add_openapi_document
from apps.tools.services.pinning import install_operations, pin_mcp_entry
from apps.tools.services.secrets import set_secret
from omni import config
from omni.contracts.errors import Conflict
from tests.mcp.conftest import register, servers  # noqa: F401
from tests.tools.openapi.conftest import Api, api, server  # noqa: F401

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _content(db: None) -> None:
    load_builtins()


def finish(run: Run, user: User) -> Run:
    while advance(run.pk, worker_id=uuid.uuid4()).startswith("waiting"):
        pending = Approval.objects.get(run=run, state="pending")
        answer_approval(actor=user, approval=pending, answer="approve")
    run.refresh_from_db()
    return run


def payload(run: Run, name: str) -> dict[str, Any]:
    found = [e.payload for e in eventlog.read_all(run.pk) if name in (e.name, e.kind)]
    assert found, [e.name or e.kind for e in eventlog.read_all(run.pk)]
    return found[-1] or {}


@pytest.mark.req("MCP-4")
def test_an_accepted_definition_becomes_a_tool_that_runs_call_under_policy(
    project: Project,
    user: User,
    register: Callable[..., Any],  # noqa: F811
) -> None:
    row = register("/mcp")
    check_server(row.pk)
    entry = McpEntry.objects.get(server=row, name="add")
    with pytest.raises(Conflict):
        pin_mcp_entry(actor=user, entry=entry)
    accept_entries(actor=user, server=row, expected={entry.pk: entry.definition_sha256})
    entry.refresh_from_db()
    tool = pin_mcp_entry(actor=user, entry=entry)
    assert pin_mcp_entry(actor=user, entry=entry) == tool
    run = call_tool(actor=user, project=project, tool=tool.name, arguments={"left": 2, "right": 3})
    assert finish(run, user).status == "done", payload(run, "tool_error")
    assert "5" in json.dumps(payload(run, "tool_result")["output"])
    assert payload(run, "tool_call")["executor"] == "mcp_remote 1.0.0"
    assert payload(run, "policy_decided")["call_hash"]


@pytest.mark.req("TOOL-10")
def test_an_operation_is_called_with_a_credential_that_stays_hidden(
    project: Project,
    user: User,
    api: Api,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Pets", "version": "1"},
        "paths": {
            "/pets/{id}": {
                "get": {
                    "operationId": "getPet",
                    "parameters": [
                        {
                            "name": "id",
                            "in": "path",
                            "required": True,
                            "schema": {"type": "integer"},
                        }
                    ],
                    "security": [{"key": []}],
                    "responses": {"200": {"description": "A pet."}},
                }
            }
        },
        "components": {
            "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}
        },
    }
    value = "a-very-secret-value-5521"
    set_secret(actor=user, project=project, name="PETS_KEY", value=value)
    row, _, _ = add_openapi_document(
        actor=user, project=project, text=json.dumps(document), base_url=api.url
    )
    tools = install_operations(actor=user, document=row, credential="secret:PETS_KEY")
    monkeypatch.setenv("OMNI_EGRESS_PRIVATE", api.url.removeprefix("http://"))
    config.current.cache_clear()
    try:
        run = call_tool(actor=user, project=project, tool=tools[0].name, arguments={"id": 7})
        assert finish(run, user).status == "done", payload(run, "tool_error")
    finally:
        monkeypatch.undo()
        config.current.cache_clear()
    assert (api.requests[-1].target, api.requests[-1].headers["x-key"]) == ("/pets/7", value)
    log = json.dumps([event.payload for event in eventlog.read_all(run.pk)])
    assert value not in log
