"""Projects over the API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.registry.models import Project, User
from apps.registry.roles import Role
from apps.registry.services.members import grant_roles
from apps.registry.services.projects import create_project
from tests.api.shapes import problem

pytestmark = pytest.mark.req("API-1")


def test_make_a_project_and_own_it(api: APIClient, user: User) -> None:
    sent = {"name": "Apollo", "slug": "moon", "description": "To the moon."}
    response = api.post("/api/projects", sent)
    assert response.status_code == 201
    body = response.json()
    assert {name: body[name] for name in sent} == sent
    assert response["Location"] == "http://testserver/api/projects/moon"
    assert api.get(response["Location"]).json() == body
    members = api.get("/api/projects/moon/members").json()["results"]
    assert [(each["email"], each["roles"]) for each in members] == [(user.email, ["owner"])]


def test_a_slug_is_made_from_the_name(api: APIClient) -> None:
    assert (
        api.post("/api/projects", {"name": "Mission to Mars"}).json()["slug"] == "mission-to-mars"
    )


@pytest.mark.parametrize("sent", [
    {}, {"name": ""}, {"name": "   "}, {"name": "x" * 121}, {"name": "ok", "slug": "Not Good"},
    {"name": "ok", "slug": "-a"}, {"name": "ok", "slug": "a" * 64}, {"name": "ok", "slug": ""},
    {"name": "ok", "description": "x" * 4001}, {"name": "ok", "created_by": "me"}, {"name": "日本"},
])  # fmt: skip
def test_what_a_project_cannot_be(api: APIClient, sent: dict[str, str]) -> None:
    problem(api.post("/api/projects", sent), 400, "invalid")
    assert not Project.objects.exists()


def test_a_taken_slug_is_a_conflict(api: APIClient, project: Any) -> None:
    body = problem(api.post("/api/projects", {"name": "Apollo"}), 409, "conflict")
    assert list(body["errors"]) == ["slug"]


def test_change_name_and_description(api: APIClient, project: Any) -> None:
    response = api.patch("/api/projects/apollo", {"name": "Apollo 11", "description": ""})
    assert (response.json()["name"], response.json()["description"]) == ("Apollo 11", "")
    problem(api.patch("/api/projects/apollo", {"slug": "x"}), 400)
    assert api.patch("/api/projects/apollo", {}).status_code == 200


def test_archive_and_restore(api: APIClient, project: Any) -> None:
    def listed(query: str) -> list[str]:
        return [row["slug"] for row in api.get(f"/api/projects{query}").json()["results"]]

    for _ in range(2):
        assert api.post("/api/projects/apollo/archive").json()["archived"] is True
    assert (listed(""), listed("?archived=true"), listed("?archived=any")) == (
        [], ["apollo"], ["apollo"]
    )  # fmt: skip
    assert api.post("/api/projects/apollo/restore").json()["archived"] is False
    assert listed("") == ["apollo"]


def test_search(api: APIClient, user: User, project: Any) -> None:
    create_project(actor=user, name="Gemini", description="Two seats")
    found = api.get("/api/projects?q=seats").json()["results"]
    assert [row["slug"] for row in found] == ["gemini"]
    assert api.get("/api/projects?q=%25").json()["results"] == []


def test_leave(
    api: APIClient, caller: Callable[..., APIClient], project: Any, colleague: User
) -> None:
    problem(api.post("/api/projects/apollo/leave"), 409, "conflict")
    grant_roles(project=project, user=colleague, roles={Role.VIEWER}, added_by=None)
    client = caller(colleague)
    assert client.post("/api/projects/apollo/leave").status_code == 204
    problem(client.get("/api/projects/apollo"), 404)


@pytest.mark.req("SEC-2")
def test_a_stranger_learns_nothing(
    caller: Callable[..., APIClient], stranger: User, administrator: User, project: Any
) -> None:
    """404, never 403: not even that the project exists. Being an administrator opens nothing."""
    for who in (stranger, administrator):
        client = caller(who)
        assert client.get("/api/projects?archived=any").json()["results"] == []
        absent = problem(client.get("/api/projects/absent"), 404)
        hidden = problem(client.get("/api/projects/apollo"), 404)
        for each in (absent, hidden):
            del each["instance"], each["request_id"]
        assert absent == hidden
        problem(client.patch("/api/projects/apollo", {"name": "Mine"}), 404)
        for verb in ("archive", "restore", "leave"):
            problem(client.post(f"/api/projects/apollo/{verb}"), 404)


@pytest.mark.req("SEC-2")
@pytest.mark.parametrize(("role", "allowed"), [
    (Role.OWNER, True), (Role.OPERATOR, True), (Role.APPROVER, False), (Role.VIEWER, False),
    (Role.PUBLISHER, False), (Role.REVIEWER, False),
])  # fmt: skip
def test_roles_decide_who_changes_a_project(
    caller: Callable[..., APIClient], project: Any, colleague: User, role: Role, allowed: bool
) -> None:
    grant_roles(project=project, user=colleague, roles={role}, added_by=None)
    client = caller(colleague)
    assert client.get("/api/projects/apollo").status_code == 200
    response = client.patch("/api/projects/apollo", {"name": "New"})
    assert response.status_code == (200 if allowed else 403)
