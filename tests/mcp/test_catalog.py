"""A catalog is cached, compared and accepted; what changed is not used until somebody looked."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from apps.registry.models import AuditEntry
from apps.tools.executors.base import Call, Outcome, ToolError
from apps.tools.executors.mcp_remote import McpRemote
from apps.tools.mcp.diff import changes
from apps.tools.mcp.manifest import manifest_of, tool_name
from apps.tools.models import McpEntry, McpServer
from apps.tools.services.mcp_catalog import accept_entries, reject_entry
from apps.tools.services.mcp_checks import check_server, send_due_checks
from apps.tools.services.mcp_servers import add_server, change_server, target_of
from apps.tools.services.secrets import resolve_secret, set_secret
from omni.contracts.errors import Conflict, InvalidInput, PermissionDenied
from omni.contracts.validation import validate
from tests.mcp.conftest import Servers
from tests.mcp.hostile import GOOD

pytestmark = [pytest.mark.req("MCP-2"), pytest.mark.django_db]


class Run:
    """The part of a run that an executor sees."""

    run_id = uuid.uuid4()

    def __init__(self) -> None:
        self.stop = threading.Event()

    def cancelled(self) -> bool:
        return self.stop.is_set()

    def emit_delta(self, message_id: str, text: str) -> None: ...

    def put_artifact(self, data: bytes, *, media_type: str, name: str = "") -> str:
        return ""


def states(server: McpServer) -> dict[str, str]:
    return {row.name: row.state for row in server.entries.all()}


def accept(actor: Any, server: McpServer, *names: str) -> list[McpEntry]:
    rows = server.entries.filter(name__in=names)
    return accept_entries(
        actor=actor, server=server, expected={row.pk: row.definition_sha256 for row in rows}
    )


def execute(entry: McpEntry, arguments: dict[str, Any], manifest: Any = None) -> Outcome:
    call = Call(
        call_id="c1", manifest=manifest or manifest_of(entry), arguments=arguments,
        project_id=entry.server.project_id, run=Run(), workspace=Path(),
        secret=lambda name: resolve_secret(name, project=entry.server.project),
    )  # fmt: skip
    return McpRemote().execute(call)


@pytest.fixture
def evolving(register: Callable[..., McpServer], servers: Servers) -> McpServer:
    servers.evolve(GOOD, {**GOOD, "name": "stays", "description": "Stays."})
    server = register("/hostile/evolving")
    check_server(server.pk)
    return server


def test_nothing_is_used_before_it_is_accepted(evolving: McpServer, user: Any) -> None:
    assert states(evolving) == {"good": "new", "stays": "new"}
    with pytest.raises(Conflict):
        manifest_of(evolving.entries.get(name="good"))
    accept(user, evolving, "good")
    assert states(evolving) == {"good": "accepted", "stays": "new"}


def test_a_changed_definition_is_quarantined_and_never_called(
    evolving: McpServer, user: Any, servers: Servers
) -> None:
    accept(user, evolving, "good", "stays")
    entry = evolving.entries.get(name="good")
    manifest = manifest_of(entry)
    assert execute(entry, {}, manifest).output == {"text": "worked", "content": []}
    before = servers.evolve({**GOOD, "description": "Sends your files away."})
    with pytest.raises(ToolError) as caught:  # the change is seen at the call itself
        execute(entry, {}, manifest)
    assert caught.value.kind == "quarantined"
    assert states(evolving)["good"] == "changed"
    check_server(evolving.pk)
    assert states(evolving) == {"good": "changed", "stays": "removed"}
    with pytest.raises(ToolError) as caught:
        execute(evolving.entries.get(name="good"), {}, manifest)
    assert caught.value.kind == "quarantined"
    accept(user, evolving, "good")
    with pytest.raises(ToolError):  # the old pin stays what it was, also after the acceptance
        execute(evolving.entries.get(name="good"), {}, manifest)
    assert servers.evolve(GOOD) == before, "it was never called"
    actions = AuditEntry.objects.filter(action="mcp_definition_quarantined")
    assert [entry.target_label for entry in actions] == ["tested: good", "tested: stays"][:1]


def test_a_definition_that_comes_back_is_the_accepted_one(
    evolving: McpServer, user: Any, servers: Servers
) -> None:
    accept(user, evolving, "good")
    servers.evolve({**GOOD, "description": "Other."})
    check_server(evolving.pk)
    assert states(evolving)["good"] == "changed"
    servers.evolve(GOOD)
    check_server(evolving.pk)
    assert states(evolving)["good"] == "accepted"


def test_versions_are_compared(evolving: McpServer, servers: Servers) -> None:
    check_server(evolving.pk)
    assert evolving.catalogs.count() == 1, "the same catalog is no new version"
    servers.evolve(
        {**GOOD, "name": "moved"},
        {**GOOD, "name": "stays", "description": "Goes."},
        {**GOOD, "name": "fresh", "description": "New."},
    )
    check_server(evolving.pk)
    new, old = evolving.catalogs.order_by("-number")
    found = {each.name: each for each in changes(old.entries, new.entries)}
    assert {name: each.what for name, each in found.items()} == {
        "moved": "renamed", "stays": "changed", "fresh": "added",
    }  # fmt: skip
    assert found["moved"].was == "good"
    signs = [(line.sign, line.text.strip()) for line in found["stays"].lines if line.sign in "+-"]
    assert ("-", '"description": "Stays.",') in signs
    assert ("+", '"description": "Goes.",') in signs
    renamed = evolving.entries.get(name="moved")
    assert (renamed.state, renamed.renamed_from) == ("new", "good")
    assert states(evolving)["good"] == "removed"


def test_an_acceptance_is_of_what_was_looked_at(
    evolving: McpServer, user: Any, servers: Servers
) -> None:
    row = evolving.entries.get(name="good")
    servers.evolve({**GOOD, "description": "Swapped in time."})
    check_server(evolving.pk)
    with pytest.raises(Conflict, match="has changed since"):
        accept_entries(actor=user, server=evolving, expected={row.pk: row.definition_sha256})


def test_a_rejected_definition_stays_so_until_it_is_another(
    evolving: McpServer, user: Any, servers: Servers
) -> None:
    accept(user, evolving, "good")
    reject_entry(actor=user, entry=evolving.entries.get(name="good"))
    check_server(evolving.pk)
    assert states(evolving)["good"] == "quarantined"
    servers.evolve({**GOOD, "description": "Improved."})
    check_server(evolving.pk)
    assert states(evolving)["good"] == "new"


@pytest.mark.parametrize("way", ["duplicate", "bidi", "schemas", "large"])
def test_what_could_deceive_cannot_be_accepted(
    register: Callable[..., McpServer], user: Any, way: str
) -> None:
    server = register(f"/hostile/{way}")
    check_server(server.pk)
    bad = server.entries.get(state="quarantined")
    assert bad.problem
    with pytest.raises(Conflict):
        accept(user, server, bad.name)
    others = server.entries.exclude(pk=bad.pk)
    assert {row.state for row in others} == {"new"}, "the others go on working"


@pytest.mark.req("MCP-1")
def test_checks_leave_a_history(register: Callable[..., McpServer], user: Any) -> None:
    good, bad = register(), register("/hostile/broken", slug="bad")
    for server in (good, bad):
        check_server(server.pk)
        server.refresh_from_db()
    assert (good.status, good.reported_name) == ("healthy", "friendly 1.2.3")
    assert (bad.status, bad.checks.get().category) == ("failing", "unavailable")
    assert "HTTP 500" in bad.checks.get().message
    assert good.checks.get().ok
    assert not good.is_waiting


@pytest.mark.req("MCP-5")
def test_a_failing_server_keeps_its_catalog(
    register: Callable[..., McpServer], administrator: Any, user: Any, servers: Servers
) -> None:
    server = register("/hostile/evolving")
    servers.evolve(GOOD)
    check_server(server.pk)
    accept(user, server, "good")
    McpServer.objects.filter(pk=server.pk).update(url=servers.url("/hostile/garbage"))
    check_server(server.pk)
    server.refresh_from_db()
    assert (server.status, states(server)) == ("failing", {"good": "accepted"})


@pytest.mark.req("MCP-1")
def test_due_servers_are_handed_to_workers_once(register: Callable[..., McpServer]) -> None:
    register()
    assert send_due_checks() == 1
    assert send_due_checks() == 0


@pytest.mark.req("MCP-1")
def test_credentials_are_references_until_the_session(
    register: Callable[..., McpServer], project: Any, user: Any
) -> None:
    server = register(credentials={"Authorization": "Bearer secret://TOKEN"})
    with pytest.raises(ToolError) as caught:
        target_of(server)
    assert caught.value.kind == "misconfigured"
    set_secret(actor=user, project=project, name="TOKEN", value="sesame-open-4711")
    target = target_of(server)
    assert target.headers == {"Authorization": "Bearer sesame-open-4711"}
    assert "sesame" not in repr(target)
    assert "sesame" not in str(McpServer.objects.values().get(pk=server.pk))


@pytest.mark.req("MCP-1")
@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"url": "ftp://example.org"}, "url"),
        ({"url": "https://ada:pw@example.org"}, "url"),
        ({"url": "http://2130706433/"}, "url"),
        ({"url": "https://example.org", "headers": {"Authorization": "Bearer abc"}}, "headers"),
        ({"url": "https://example.org", "headers": {"Mcp-Session-Id": "x"}}, "headers"),
        ({"url": "https://example.org", "headers": {"X": "a\r\nY: b"}}, "headers"),
        ({"url": "https://example.org", "credentials": {"X": "plain"}}, "credentials"),
        ({"url": "https://example.org", "command": ["sh"]}, "command"),
        ({"transport": "stdio", "command": []}, "command"),
        ({"transport": "stdio", "command": ["x"], "environment": {"A B": "x"}}, "environment"),
        ({"transport": "stdio", "command": ["x"], "environment": {"TOKEN": "x"}}, "environment"),
    ],
)  # fmt: skip
def test_what_a_server_cannot_be(
    project: Any, user: Any, given: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        add_server(
            actor=user, project=project, slug="x", **{"transport": "streamable_http", **given}
        )
    assert field in caught.value.data["errors"]


@pytest.mark.req("SEC-2")
def test_only_operators_open_the_private_network(
    project: Any, user: Any, servers: Servers, register: Callable[..., McpServer]
) -> None:
    with pytest.raises(PermissionDenied):
        add_server(
            actor=user, project=project, slug="x", transport="sse", url=servers.url("/sse"),
            allowed_private=[servers.pair],
        )  # fmt: skip
    server = register()
    change_server(actor=user, server=server, description="Members may change the rest.")


def test_another_address_loses_every_acceptance(
    evolving: McpServer, user: Any, servers: Servers
) -> None:
    accept(user, evolving, "good")
    change_server(actor=user, server=evolving, url=servers.url("/mcp"))
    assert set(states(evolving).values()) == {"quarantined"}


@pytest.fixture
def friendly(register: Callable[..., McpServer], user: Any) -> McpServer:
    server = register()
    check_server(server.pk)
    accept(user, server, "add", "shout", "picture", "fail", "slow")
    return server


@pytest.mark.req("MCP-4")
def test_an_entry_becomes_a_manifest(friendly: McpServer) -> None:
    for row in friendly.entries.filter(kind="tool"):
        validate("tool-manifest", dict(manifest_of(row)))
    add = manifest_of(friendly.entries.get(name="add"))
    assert add["name"] == "mcp.tested.add"
    assert add["executor"]["kind"] == "mcp_remote"
    assert add["executor"]["config"]["definition_sha256"] == (
        friendly.entries.get(name="add").accepted_sha256
    )
    assert (add["risk"], add["idempotency"]) == ("medium", "not_idempotent")
    assert add["capabilities"] == ["read", "network_egress"]
    assert manifest_of(friendly.entries.get(name="slow"))["risk"] == "high"
    assert manifest_of(friendly.entries.get(name="add"), risk="low")["risk"] == "low"
    with pytest.raises(InvalidInput):
        accepted = friendly.entries.get(kind="prompt")
        manifest_of(accepted)


@pytest.mark.req("MCP-4")
def test_names_are_made_valid_and_stay_apart() -> None:
    assert tool_name("git", "git_status") == "mcp.git.git_status"
    made = {tool_name("x", name) for name in ("Get", "get", "get!", "g e t", "ÄÖ", "x" * 300)}
    assert len(made) == 6
    assert all(len(each) <= 128 for each in made)


@pytest.mark.req("TOOL-4")
def test_the_executor_maps_every_kind_of_content(friendly: McpServer) -> None:
    rows = {row.name: row for row in friendly.entries.filter(kind="tool")}
    assert execute(rows["add"], {"left": 1, "right": 2}).output == {"total": 3}
    assert execute(rows["shout"], {"text": "hi"}).output == {"text": "HI", "content": []}
    picture = execute(rows["picture"], {})
    assert picture.output["content"] == [
        {"type": "file", "name": "image-1.png", "media_type": "image/png"}
    ]
    assert picture.files[0].data.startswith(b"\x89PNG")
    with pytest.raises(ToolError, match="no luck") as caught:
        execute(rows["fail"], {"secret": "x"})
    assert caught.value.kind == "tool_failed"
    with pytest.raises(ToolError) as caught:
        execute(rows["add"], {"left": "one"})
    assert caught.value.kind in ("invalid_input", "tool_failed")


@pytest.mark.req("MCP-5")
def test_a_stalled_tool_ends_at_the_limit_of_its_manifest(friendly: McpServer) -> None:
    row = friendly.entries.get(name="slow")
    manifest = manifest_of(row)
    manifest["limits"]["wall_seconds"] = 1
    with pytest.raises(ToolError) as caught:
        execute(row, {"seconds": 3600}, manifest)
    assert caught.value.kind == "timeout"
