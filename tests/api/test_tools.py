"""Tools over the API: published, checked, installed, pinned, taken away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.registry.models import User
from apps.registry.roles import Permission, Role, granted
from apps.registry.services.members import grant_roles
from apps.tools.selectors import pins_of
from omni.contracts.canonical import digest
from tests.api.shapes import problem
from tests.tools.manifests import manifest

pytestmark = [pytest.mark.req("API-1"), pytest.mark.req("TOOL-3")]

TOOLS = "/api/projects/apollo/tools"
CATALOGUE = "/api/projects/apollo/available-tools"


@pytest.fixture
def published(api: APIClient, project: Any) -> list[Any]:
    """Two versions of the project's own tool."""
    documents = [manifest(version=each) for each in ("1.0.0", "1.1.0")]
    return [api.post(CATALOGUE, {"manifest": each}).json() for each in documents]


def test_the_life_of_a_tool(api: APIClient, project: Any, published: list[Any]) -> None:
    first, second = published
    assert (first["sha256"], first["project"]) == (digest(manifest()), "apollo")
    assert first["manifest"] == manifest()
    made = api.post(TOOLS, {"name": "text.count", "version": "1.0.0"})
    assert (made.status_code, made.json()["pinned"]) == (201, True)
    newer = api.post(TOOLS, {"name": "text.count"})
    assert (newer.json()["version"], newer.json()["pinned"]) == ("1.1.0", False)
    assert len(api.get(TOOLS).json()["results"]) == 2
    assert [row["version"] for row in api.get(f"{TOOLS}?pinned=true").json()["results"]] == [
        "1.0.0"
    ]
    shown = api.get(f"{TOOLS}/text.count").json()
    assert (shown["version"], shown["available"]) == ("1.0.0", ["1.1.0", "1.0.0"])
    assert shown["used_by"][0] == {
        "project": "apollo", "version": "1.0.0", "pinned": True, "enabled": True,
    }  # fmt: skip
    assert api.post(f"{TOOLS}/text.count/pin", {"version": "1.1.0"}).json()["pinned"] is True
    assert pins_of(project.pk)["text.count"]["sha256"] == second["sha256"]
    problem(api.delete(f"{TOOLS}/text.count?version=1.1.0"), 409, "conflict")
    assert api.delete(f"{TOOLS}/text.count").status_code == 204
    problem(api.delete(f"{TOOLS}/text.count"), 404)
    problem(api.post(f"{TOOLS}/text.count/pin", {"version": "1.1.0"}), 404)


@pytest.mark.req("TOOL-1")
def test_publishing_again_and_otherwise(api: APIClient, published: list[Any]) -> None:
    again = api.post(CATALOGUE, {"manifest": manifest()})
    assert (again.status_code, again.json()["id"]) == (200, published[0]["id"])
    problem(api.post(CATALOGUE, {"manifest": manifest(risk="high")}), 409, "conflict")
    wrong = problem(api.post(CATALOGUE, {"manifest": {"name": "x"}}), 400)
    assert wrong["errors"]
    problem(api.post("/api/tools", {"manifest": manifest()}), 403, "permission_denied")


@pytest.mark.req("TOOL-1")
def test_a_manifest_is_checked_without_being_kept(api: APIClient) -> None:
    good = api.post("/api/tools/validate", {"manifest": manifest()}).json()
    assert good == {"valid": True, "sha256": digest(manifest()), "errors": {}}
    bad = api.post("/api/tools/validate", {"manifest": manifest(version="new")}).json()
    assert (bad["valid"], list(bad["errors"])) == (False, ["/version"])
    assert api.get("/api/tools?q=text.count").json()["results"] == []


def test_deprecation_is_shown(api: APIClient, published: list[Any]) -> None:
    where = f"/api/tools/{published[0]['id']}"
    said = api.post(f"{where}/deprecate", {"reason": "Use text.words."})
    assert said.json()["deprecated"] == "Use text.words."
    assert api.get(where).json()["deprecated"] == "Use text.words."
    listed = api.get("/api/projects/apollo/available-tools?q=count").json()["results"]
    assert {row["version"]: row["deprecated"] for row in listed} == {
        "1.0.0": "Use text.words.",
        "1.1.0": "",
    }


@pytest.mark.req("SEC-2")
@pytest.mark.parametrize("role", list(Role))
def test_roles_decide_who_installs(
    caller: Callable[..., APIClient],
    published: list[Any],
    project: Any,
    colleague: User,
    role: Role,
) -> None:
    grant_roles(project=project, user=colleague, roles={role}, added_by=None)
    client = caller(colleague)
    allowed = Permission.MANAGE_TOOLS in granted({role})
    assert client.get(TOOLS).status_code == 200
    assert client.post(TOOLS, {"name": "text.count"}).status_code == (201 if allowed else 403)
    code = client.delete(f"{TOOLS}/text.count").status_code
    assert code == (204 if allowed else 403)


@pytest.mark.req("SEC-2")
def test_a_projects_own_tool_is_not_there_for_others(
    caller: Callable[..., APIClient], published: list[Any], stranger: User
) -> None:
    client = caller(stranger)
    assert client.get("/api/tools").json()["results"] == []
    problem(client.get(f"/api/tools/{published[0]['id']}"), 404)
    problem(client.post(f"/api/tools/{published[0]['id']}/deprecate", {"reason": "x"}), 404)
    client.post("/api/projects", {"name": "Zeus"})
    problem(client.post("/api/projects/zeus/tools", {"name": "text.count"}), 404)
