"""The audit log, the workers and the caller's own profile over the API."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from apps.registry.models import AuditEntry, User
from apps.registry.roles import Role
from apps.registry.services.members import grant_roles, leave_project
from apps.registry.services.projects import update_project
from apps.runs.models import Worker
from apps.runs.services.workers import start_worker, stop_worker
from tests.api.shapes import problem

pytestmark = pytest.mark.req("API-1")


def actions(client: APIClient, query: str = "") -> list[str]:
    return [row["action"] for row in client.get(f"/api/audit{query}").json()["results"]]


@pytest.mark.req("SEC-4")
def test_filters_of_the_audit_log(api: APIClient, project: Any, user: User) -> None:
    entry = AuditEntry.objects.get(action="project_created")
    assert set(actions(api)) == {"project_created", "token_created"}
    assert actions(api, "?project=apollo") == ["project_created"]
    assert actions(api, "?project=other") == []
    assert actions(api, "?action=token_created") == ["token_created"]
    assert actions(api, "?allowed=false") == []
    assert len(actions(api, f"?actor={user.pk}")) == 2
    soon = (timezone.now() + timedelta(minutes=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert (len(actions(api, f"?since={soon}")), len(actions(api, f"?until={soon}"))) == (0, 2)
    one = api.get(f"/api/audit/{entry.pk}").json()
    assert (one["project"], one["target_label"]) == ("apollo", "Apollo")


@pytest.mark.parametrize("query", [
    "?action=nothing", "?allowed=perhaps", "?actor=5", "?since=yesterday", "?until=2026-13-01",
    "?since=0001-01-01T00:00:00%2B14:00", "?since=9999-12-31T23:59:59-14:00", "?project=%00",
    "?project=" + "x" * 64,
])  # fmt: skip
def test_wrong_filters_are_problems(api: APIClient, query: str) -> None:
    problem(api.get(f"/api/audit{query}"), 400, "invalid")


@pytest.mark.parametrize("number", ["0", "9" * 18, "9" * 30, "9" * 5000])
def test_entries_that_do_not_exist(api: APIClient, number: str) -> None:
    problem(api.get(f"/api/audit/{number}"), 404)


@pytest.mark.req("SEC-2")
@pytest.mark.parametrize("role", list(Role))
def test_only_some_roles_read_a_projects_log(
    caller: Callable[..., APIClient], project: Any, colleague: User, role: Role
) -> None:
    grant_roles(project=project, user=colleague, roles={role}, added_by=None)
    found = actions(caller(colleague), "?project=apollo")
    reads = role in (Role.OWNER, Role.OPERATOR)
    assert found == (["project_created"] if reads else [])


@pytest.mark.req("SEC-2")
def test_after_leaving_a_project_its_new_name_stays_hidden(
    caller: Callable[..., APIClient], project: Any, colleague: User, user: User
) -> None:
    """One's own entries remain, but say nothing about what the project is called today."""
    grant_roles(project=project, user=colleague, roles={Role.OPERATOR}, added_by=None)
    update_project(actor=colleague, project=project, description="by Grace")
    leave_project(actor=colleague, project=project)
    type(project).objects.filter(pk=project.pk).update(slug="top-secret-merger")
    body = caller(colleague).get("/api/audit").content.decode()
    assert "project_changed" in body
    assert "top-secret-merger" not in body


@pytest.mark.req("SEC-2")
def test_a_stranger_reads_only_their_own_entries(
    caller: Callable[..., APIClient], project: Any, stranger: User
) -> None:
    client = caller(stranger)
    assert actions(client) == ["token_created"]
    entry = AuditEntry.objects.get(action="project_created")
    problem(client.get(f"/api/audit/{entry.pk}"), 404)


@pytest.mark.req("WRK-1")
def test_workers_and_their_filters(api: APIClient) -> None:
    alive = start_worker(kind=Worker.Kind.WORKER, pid=1, queues=["omni"], concurrency=2)
    beat = start_worker(kind=Worker.Kind.BEAT, pid=2)
    stop_worker(beat)

    def ids(query: str) -> list[str]:
        return [row["id"] for row in api.get(f"/api/workers{query}").json()["results"]]

    assert ids("") == [str(beat), str(alive)]
    assert ids("?kind=beat") == ids("?alive=false") == [str(beat)]
    assert ids("?alive=true") == ids("?kind=worker&alive=true") == [str(alive)]
    assert ids("?state=idle") == [str(alive)] and ids("?state=stopped") == [str(beat)]
    problem(api.get("/api/workers?kind=manager"), 400)
    problem(api.get("/api/workers?state=tired"), 400)
    one = api.get(f"/api/workers/{alive}").json()
    assert (one["state"], one["busy"], one["current_runs"]) == ("idle", 0, [])
    problem(api.get(f"/api/workers/{uuid.uuid4()}"), 404)


def test_my_profile(api: APIClient, user: User) -> None:
    body = api.patch("/api/me", {"name": "Ada L.", "time_zone": "Europe/Berlin"}).json()
    assert (body["name"], body["time_zone"]) == ("Ada L.", "Europe/Berlin")
    problem(api.patch("/api/me", {"time_zone": "Mars/Olympus"}), 400)
    problem(api.patch("/api/me", {"is_staff": True}), 400)
    user.refresh_from_db()
    assert not user.is_staff
