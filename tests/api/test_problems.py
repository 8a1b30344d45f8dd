"""Whatever goes wrong, the answer is a problem document that says what and what to do."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, OperationalError
from django.test import Client
from rest_framework.test import APIClient

from apps.registry.api.problems import translate
from apps.registry.models import AuditAction, AuditEntry, Scope, User
from apps.registry.roles import Role
from apps.registry.services.members import grant_roles
from omni import config
from tests.api.shapes import problem

pytestmark = pytest.mark.req("API-1")

Caller = Callable[..., APIClient]


def test_without_credentials_401_says_how_to_sign_in(caller: Caller) -> None:
    response = caller().get("/api/me")
    body = problem(response, 401, "unauthenticated")
    assert response["WWW-Authenticate"].startswith("Bearer")
    assert "Bearer" in body["remedy"]


@pytest.mark.parametrize("path", ["/api", "/api/", "/api/nothing", "/api/projects/", "/api/me/x"])
def test_unknown_addresses_are_problems_for_anybody(caller: Caller, path: str) -> None:
    for method in ("get", "post", "put", "patch", "delete"):
        problem(getattr(caller(), method)(path), 404, "not_found")


def test_wrong_method_names_the_right_ones(api: APIClient) -> None:
    response = api.delete("/api/me")
    problem(response, 405, "invalid")
    assert set(response["Allow"].split(", ")) >= {"GET", "PATCH"}


def test_unacceptable_answer_format(api: APIClient) -> None:
    problem(api.get("/api/me", HTTP_ACCEPT="text/csv"), 406, "invalid")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "text/xml"])
def test_only_json_is_read(api: APIClient, kind: str) -> None:
    problem(api.post("/api/projects", "name=Apollo", content_type=kind), 415, "invalid")


def test_field_errors_are_named(api: APIClient) -> None:
    body = problem(api.post("/api/projects", {"slug": "No Good"}), 400, "invalid")
    assert set(body["errors"]) == {"name", "slug"}
    assert "name" in body["detail"]


def test_unknown_fields_are_refused(api: APIClient, project: Any) -> None:
    """A misspelt field must not look accepted."""
    sent = {"name": "Apollo 2", "descripton": "typo"}
    body = problem(api.patch("/api/projects/apollo", sent), 400, "invalid")
    assert list(body["errors"]) == ["descripton"]


@pytest.mark.parametrize(
    "query", ["?nme=x", "?archived=maybe", "?page_size=0", "?page_size=201", "?page_size=x"]
)
def test_unknown_or_wrong_filters_are_refused(api: APIClient, query: str) -> None:
    problem(api.get(f"/api/projects{query}"), 400, "invalid")


def test_a_race_for_the_same_row_is_a_conflict_not_a_crash() -> None:
    known = translate(IntegrityError("duplicate key"))
    assert known is not None
    assert known.status == 409
    assert translate(OperationalError("gone")) is None


@pytest.mark.req("SEC-4")
def test_denials_are_audited(caller: Caller, project: Any, colleague: User, api: APIClient) -> None:
    """A member without the permission gets 403, and the log of the project shows it."""
    grant_roles(project=project, user=colleague, roles={Role.VIEWER}, added_by=None)
    client = caller(colleague)
    problem(client.patch("/api/projects/apollo", {"name": "Mine"}), 403, "permission_denied")
    entry = AuditEntry.objects.get(action=AuditAction.PERMISSION_DENIED)
    assert (entry.actor, entry.project, entry.allowed) == (colleague, project, False)
    assert entry.data["permission"] == "change_project"
    found = api.get("/api/audit?allowed=false").json()["results"]
    assert [each["id"] for each in found] == [entry.pk]


@pytest.mark.req("SEC-4")
def test_a_denial_inside_an_idempotent_request_is_still_audited(
    caller: Caller, project: Any, colleague: User
) -> None:
    """The refused work is rolled back; the record that it was refused is not."""
    grant_roles(project=project, user=colleague, roles={Role.VIEWER}, added_by=None)
    path = "/api/projects/apollo/archive"
    response = caller(colleague).post(path, headers={"Idempotency-Key": "k-1"})
    problem(response, 403, "permission_denied")
    assert AuditEntry.objects.filter(action=AuditAction.PERMISSION_DENIED).count() == 1


def test_missing_scope_is_denied_and_audited(caller: Caller, user: User) -> None:
    body = problem(caller(user, Scope.READ).post("/api/projects", {"name": "X"}), 403)
    assert "write" in body["detail"]
    assert AuditEntry.objects.get(action=AuditAction.PERMISSION_DENIED).data["scope"] == "write"


def test_too_large_a_body(api: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit holds in the parser too, not only at the edge of the web server."""
    small = dataclasses.replace(config.current(), max_request_bytes=100)
    monkeypatch.setattr(config, "current", lambda: small)
    problem(api.post("/api/projects", {"name": "x" * 200}), 413, "too_large")


def test_an_unexpected_failure_is_a_problem_without_internals(
    user: User, token_for: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the exception says stays in the log."""
    from apps.registry.api import me

    def fail(**_: Any) -> None:
        raise RuntimeError("internal-detail-7261")

    monkeypatch.setattr(me, "update_profile", fail)
    client = Client(raise_request_exception=False)
    response = client.patch(
        "/api/me",
        {"name": "x"},
        content_type="application/json",
        headers={"Authorization": f"Bearer {token_for(user)}"},
    )
    problem(response, 500, "internal")
    assert b"7261" not in response.content
