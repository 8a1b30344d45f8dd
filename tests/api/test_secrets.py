"""Secrets over the API: written, never read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.registry.models import User
from apps.registry.roles import Permission, Role, granted
from apps.registry.services.members import grant_roles
from apps.tools.models import Secret
from apps.tools.services.secrets import resolve_secret, set_secret
from tests.api.shapes import problem

pytestmark = [pytest.mark.req("API-1"), pytest.mark.req("SEC-3")]

SECRETS = "/api/projects/apollo/secrets"
VALUE = "sk-very-secret-4711-abcdef"


def test_set_replace_list_delete(api: APIClient, project: Any, user: User) -> None:
    first = api.put(f"{SECRETS}/OPENAI_KEY", {"value": VALUE, "description": "For chat"})
    assert first.status_code == 201
    again = api.put(f"{SECRETS}/OPENAI_KEY", {"value": f" {VALUE}2\n"})
    assert (again.status_code, again.json()["description"]) == (200, "For chat")
    assert resolve_secret("secret://OPENAI_KEY", project=project) == f" {VALUE}2\n"
    listed = api.get(SECRETS)
    row = listed.json()["results"][0]
    assert (row["name"], row["reference"]) == ("OPENAI_KEY", "secret://OPENAI_KEY")
    assert row["set_by"] == user.email
    for answer in (first, again, listed, api.get("/api/audit")):
        assert VALUE not in answer.content.decode()
        assert "ciphertext" not in answer.content.decode()
    assert api.delete(f"{SECRETS}/OPENAI_KEY").status_code == 204
    problem(api.delete(f"{SECRETS}/OPENAI_KEY"), 404)


@pytest.mark.parametrize("name", ["1abc", "a b", "ab%0A", "%C3%A9", "a" * 65, "-x", "a'b", "..%20"])
def test_bad_names_are_problems(api: APIClient, project: Any, name: str) -> None:
    problem(api.put(f"{SECRETS}/{name}", {"value": "v"}), 400, "invalid")
    problem(api.delete(f"{SECRETS}/{name}"), 404)
    assert not Secret.objects.exists()


@pytest.mark.parametrize("sent", [
    {}, {"value": ""}, {"value": None}, {"value": 5}, {"value": "x" * 65_537},
    {"value": "é" * 40_000}, {"value": "v", "description": "d" * 201}, {"value": "v", "name": "x"},
])  # fmt: skip
def test_bad_values_are_problems_that_do_not_repeat_them(
    api: APIClient, project: Any, sent: dict[str, Any]
) -> None:
    problem(api.put(f"{SECRETS}/KEY", sent), 400, "invalid")
    assert not Secret.objects.exists()


@pytest.mark.req("SEC-2")
@pytest.mark.parametrize("role", list(Role))
def test_roles_decide_who_sets_secrets(
    caller: Callable[..., APIClient], project: Any, colleague: User, role: Role
) -> None:
    grant_roles(project=project, user=colleague, roles={role}, added_by=None)
    client = caller(colleague)
    allowed = Permission.MANAGE_SECRETS in granted({role})
    assert client.get(SECRETS).status_code == 200
    code = client.put(f"{SECRETS}/KEY", {"value": "v"}).status_code
    assert code == (201 if allowed else 403)
    code = client.delete(f"{SECRETS}/KEY").status_code
    assert code == (204 if allowed else 403)


@pytest.mark.req("SEC-2")
def test_secrets_of_other_projects_do_not_exist(
    caller: Callable[..., APIClient], user: User, project: Any, stranger: User
) -> None:
    set_secret(actor=user, project=project, name="KEY", value=VALUE)
    client = caller(stranger)
    problem(client.get(SECRETS), 404)
    problem(client.put(f"{SECRETS}/KEY", {"value": "mine"}), 404)
    problem(client.delete(f"{SECRETS}/KEY"), 404)
    assert resolve_secret("secret://KEY", project=project) == VALUE


@pytest.mark.req("SEC-2")
def test_platform_secrets_are_kept_by_operators(
    api: APIClient, caller: Callable[..., APIClient], administrator: User
) -> None:
    problem(api.get("/api/secrets"), 403)
    problem(api.put("/api/secrets/KEY", {"value": "v"}), 403)
    problem(api.delete("/api/secrets/KEY"), 403)
    operator = caller(administrator)
    assert operator.put("/api/secrets/KEY", {"value": VALUE}).status_code == 201
    assert [row["name"] for row in operator.get("/api/secrets").json()["results"]] == ["KEY"]
    assert operator.delete("/api/secrets/KEY").status_code == 204
