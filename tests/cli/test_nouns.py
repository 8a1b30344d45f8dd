"""Projects, members, tokens, people, roles, workers and the audit log through the command line."""

from __future__ import annotations

import json
import subprocess
import uuid
from datetime import datetime
from pathlib import Path

import pytest

from tests.cli.conftest import OMNI, ROOT, Cli

PROJECT = {
    "id", "slug", "name", "description", "archived", "archived_at", "created_at", "updated_at",
}  # fmt: skip


@pytest.mark.req("CLI-1")
def test_the_life_of_a_project(ada: Cli) -> None:
    made = ada.json("projects", "create", "Moon landing", "--description", "Crewed.")
    assert set(made) == PROJECT
    assert made["slug"] == "moon-landing"
    assert datetime.fromisoformat(made["created_at"]).utcoffset() is not None
    assert ada.json("projects", "show", "moon-landing") == made
    assert ada.json("projects", "edit", "moon-landing", "--name", "Moon")["name"] == "Moon"
    ada("projects", "edit", "moon-landing", code=2)

    assert "add --yes" in ada("projects", "archive", "moon-landing", code=2).stderr
    assert ada.json("projects", "archive", "moon-landing", "--yes")["archived"] is True
    assert ada.json("projects", "list", "--search", "Moon") == []
    assert len(ada.json("projects", "list", "--search", "Moon", "--archived", "any")) == 1
    assert ada.json("projects", "restore", "moon-landing")["archived"] is False
    assert "Moon" in ada("projects", "list").stdout


@pytest.mark.req("CLI-1")
def test_members_by_their_address(ada: Cli, eve: Cli) -> None:
    ada("projects", "create", "Crew", "--slug", "crew")
    added = ada.json("projects", "add-member", "crew", "eve@example.org", "--role", "viewer")
    assert set(added) == {"user_id", "email", "name", "roles"}
    assert eve.json("projects", "show", "crew")["slug"] == "crew"
    changed = ada.json(
        "projects", "set-roles", "crew", "EVE@example.org", "-r", "viewer", "-r", "approver"
    )
    assert changed["roles"] == ["approver", "viewer"]
    assert [row["email"] for row in ada.json("projects", "members", "crew")] == [
        "ada@example.org", "eve@example.org",
    ]  # fmt: skip
    ada("projects", "add-member", "crew", "eve@example.org", "--role", "captain", code=2)
    ada("projects", "set-roles", "crew", "nobody@example.org", "--role", "viewer", code=6)
    eve("projects", "set-roles", "crew", "eve@example.org", "--role", "owner", code=5)
    removed = ada.json("projects", "remove-member", "crew", "eve@example.org", "--yes")
    assert removed == {"email": "eve@example.org", "removed": True}
    eve("projects", "show", "crew", code=6)
    assert (
        "last one"
        in ada("projects", "remove-member", "crew", "ada@example.org", "-y", code=7).stderr
    )


@pytest.mark.req("CLI-1")
def test_lists_follow_every_page_and_stop_at_the_limit(omni: Cli) -> None:
    """More rows than one page of the API can hold."""
    script = (
        "from apps.registry.models import User;"
        "User.objects.bulk_create([User(email=f'page{n:03}@example.org') for n in range(205)])"
    )
    omni("manage", "shell", "--no-imports", "-c", script)
    emails = [row["email"] for row in omni.json("people", "list", "--search", "page")]
    assert len(emails) == len(set(emails)) == 205
    assert emails == sorted(emails)
    assert len(omni.json("people", "list", "--search", "page", "--limit", "203")) == 203
    assert len(omni.json("people", "list", "--search", "page", "-n", "3")) == 3
    assert omni("people", "list", "--search", "page").stdout.count("@") == 205


@pytest.mark.req("CLI-1")
def test_tokens_are_shown_once_and_end_at_once(ada: Cli) -> None:
    made = ada("tokens", "create", "nightly", "--scope", "read", "--days", "7")
    token = made.stdout.strip()
    assert token.startswith("omni_")
    assert made.stdout.count("\n") == 1, "a pipe gets the token and nothing else"
    assert ada.json("whoami", OMNI_TOKEN=token)["scopes"] == ["read"]
    listed = ada("tokens", "list").stdout + ada("tokens", "list", "--json").stdout
    assert "nightly" in listed
    assert token not in listed
    ada("tokens", "revoke", "nightly", code=2)
    assert ada.json("tokens", "revoke", "nightly", "--yes")["revoked"] is True
    ada("whoami", OMNI_TOKEN=token, code=4)
    ada("tokens", "revoke", "nightly", "--yes", code=6)


@pytest.mark.req("CLI-1")
def test_two_tokens_of_one_name_are_told_apart_by_id(ada: Cli) -> None:
    first = ada.json("tokens", "create", "twin", "--scope", "read")
    ada.json("tokens", "create", "twin", "--scope", "read")
    ada("tokens", "revoke", "twin", "--yes", code=7)
    assert ada.json("tokens", "revoke", first["id"], "--yes")["id"] == first["id"]
    ada("tokens", "revoke", "twin", "--yes")


@pytest.mark.req("CLI-1")
def test_people_are_invited_and_switched_off(omni: Cli, ada: Cli) -> None:
    invited = omni.json("people", "invite", "grace@example.org", "--name", "Grace")
    assert invited["link"].startswith("http://127.0.0.1:")
    assert invited["is_active"] is True
    again = omni("people", "invite", "grace@example.org").stdout
    assert "/password/" in again
    assert omni.json("people", "add", "alan@example.org")["email"] == "alan@example.org"
    omni("people", "add", "alan@example.org", code=7)
    omni("people", "deactivate", "grace@example.org", code=2)
    assert omni.json("people", "deactivate", "grace@example.org", "-y")["is_active"] is False
    assert [p["email"] for p in omni.json("people", "list", "--inactive")] == ["grace@example.org"]
    assert omni.json("people", "activate", "grace@example.org")["is_active"] is True
    omni("people", "activate", "nobody@example.org", code=6)
    assert "operators" in ada("people", "add", "x@example.org", code=5).stderr


@pytest.mark.req("CLI-1")
def test_roles_and_workers(ada: Cli) -> None:
    roles = {row["name"]: row for row in ada.json("roles")}
    assert set(roles) == {"owner", "operator", "approver", "viewer", "publisher", "reviewer"}
    assert "view_project" in ada("roles").stdout
    kinds = {row["kind"]: row for row in ada.json("workers", "list")}
    assert set(kinds) == {"worker", "beat"}
    assert kinds["worker"]["alive"] is True
    assert [row["kind"] for row in ada.json("workers", "list", "--kind", "beat")] == ["beat"]
    assert "running" in ada("workers", "list").stdout
    assert ada.json("workers", "list", "--state", "starting") == []
    assert kinds["worker"]["state"] in ("idle", "busy")
    shown = ada("workers", "show", kinds["worker"]["id"]).stdout
    assert kinds["worker"]["node_id"] in shown and "omni" in shown
    assert ada.json("workers", "show", kinds["beat"]["id"])["state"] == "running"
    ada("workers", "show", str(uuid.uuid4()), code=6)


@pytest.mark.req("SEC-4")
def test_the_audit_log_is_filtered(ada: Cli, eve: Cli) -> None:
    ada("projects", "create", "Watched", "--slug", "watched")
    ada("projects", "add-member", "watched", "eve@example.org", "-r", "viewer")
    eve("projects", "edit", "watched", "--name", "Mine", code=5)
    rows = ada.json("audit", "list", "--project", "watched")
    assert [row["action"] for row in rows] == [
        "permission_denied",
        "roles_changed",
        "project_created",
    ]
    denied = ada.json("audit", "list", "--project", "watched", "--denied")
    assert [(row["actor_label"], row["allowed"]) for row in denied] == [("eve@example.org", False)]
    by_eve = ada.json("audit", "list", "-p", "watched", "--actor", "eve@example.org")
    assert by_eve == denied
    assert len(ada.json("audit", "list", "-p", "watched", "--actor", "me")) == 2
    assert ada.json("audit", "list", "-p", "watched", "--until", "1h") == []
    assert len(ada.json("audit", "list", "-p", "watched", "--since", "1h", "-n", "2")) == 2
    assert "refused" in ada("audit", "list", "--project", "watched").stdout
    ada("audit", "list", "--since", "yesterday", code=2)
    assert ada.problem("audit", "list", "--action", "dreamt", code=8)["errors"]["action"]


@pytest.mark.req("CLI-1")
def test_the_audit_log_is_followed(ada: Cli) -> None:
    """Old entries first, new ones as they come, each once, one JSON object per line."""
    ada("projects", "create", "Stream", "--slug", "stream")
    command = [*OMNI, "audit", "list", "--project", "stream", "--follow", "--json"]
    child = subprocess.Popen(command, env=ada.env, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    try:
        assert json.loads(child.stdout.readline())["action"] == "project_created"
        ada("projects", "edit", "stream", "--name", "Brook")
        ada("projects", "archive", "stream", "--yes")
        assert json.loads(child.stdout.readline())["action"] == "project_changed"
        assert json.loads(child.stdout.readline())["action"] == "project_archived"
    finally:
        child.terminate()
        child.communicate(timeout=60)


@pytest.mark.req("CLI-1")
def test_any_address_of_the_api(ada: Cli, tmp_path: Path) -> None:
    assert json.loads(ada("api", "GET", "/api/me").stdout)["email"] == "ada@example.org"
    made = ada("api", "post", "api/projects", "--data", "-", input='{"name": "Raw"}').stdout
    assert json.loads(made)["slug"] == "raw"
    (tmp_path / "body.json").write_text('{"name": "Cooked"}')
    ada("api", "PATCH", "/api/projects/raw", "--data", f"@{tmp_path}/body.json")
    assert ada.json("projects", "show", "raw")["name"] == "Cooked"
    assert "no such address" in ada("api", "GET", "/api/nothing", code=6).stderr
    ada("api", "GET", "https://example.org/api/me", code=2)
    ada("api", "GET", "//example.org/api/me", code=2)
    ada("api", "POST", "/api/projects", "--data", '{"name": "argv"}', code=2)
    assert (
        "not JSON" in ada("api", "POST", "/api/projects", "--data", "-", input="{", code=8).stderr
    )
    ada("api", "POST", "/api/projects", "--data", f"@{tmp_path}/missing", code=8)


@pytest.mark.req("CLI-1")
@pytest.mark.req("TOOL-10")
def test_openapi_documents(ada: Cli, eve: Cli, tmp_path: Path) -> None:
    ada("projects", "create", "Zoo", "--slug", "zoo")
    where = ("--project", "zoo")
    file = tmp_path / "zoo.yaml"
    file.write_text(
        "openapi: 3.1.0\ninfo: {title: Zoo, version: v2}\nservers: [{url: https://zoo.example}]\n"
        "paths:\n  /pets:\n    get: {operationId: listPets}\n    put: {parameters: [{in: x}]}\n"
    )
    added = ada.json("openapi", "add", str(file), *where)
    assert [tool["name"] for tool in added["tools"]] == ["zoo.list_pets"]
    said = ada("openapi", "add", "-", *where, input=file.read_text()).stdout
    assert "zoo.list_pets" in said and "PUT /pets" in said and "one tool, 1 skipped" in said
    (row,) = ada.json("openapi", "list", *where)
    shown = ada.json("openapi", "show", row["sha256"], *where, "--manifests")
    assert shown["tools"][0]["manifest"]["executor"]["kind"] == "openapi_proxy"
    assert "Zoo" in ada("openapi", "list", *where).stdout
    ada("openapi", "add", "http://169.254.169.254/", *where, code=8)
    eve("openapi", "show", row["sha256"], *where, code=6)
    assert ada.json("openapi", "remove", row["sha256"], *where, "--yes")["removed"] is True
    assert ada.json("openapi", "list", *where) == []
