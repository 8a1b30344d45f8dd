"""Policies over the API: published, put in force, withdrawn, explained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.registry.models import User
from apps.registry.roles import Permission, Role, granted
from apps.registry.services.members import grant_roles
from apps.tools.services.tools import install_tool, register_tool
from tests.api.shapes import problem
from tests.tools.manifests import manifest
from tests.tools.policies import argument, policy, rule

pytestmark = [pytest.mark.req("API-1"), pytest.mark.req("POL-1")]

HERE = "/api/projects/apollo"
ALLOW = policy(rule("allow", "counting", tools=["text.*"]))


@pytest.fixture
def tool(project: Any, user: User) -> Any:
    made, _ = register_tool(actor=user, manifest=manifest(), project=project)
    return install_tool(actor=user, project=project, tool=made)


def ask(api: APIClient, **changes: Any) -> Any:
    return api.post(f"{HERE}/decisions", {"tool": "text.count", **changes}).json()


def test_the_life_of_a_policy(api: APIClient, tool: Any) -> None:
    assert ask(api)["effect"] == "deny"
    made = api.post(f"{HERE}/policies", {"document": ALLOW})
    assert (made.status_code, made.json()["in_force"]) == (201, False)
    used = api.post(f"{HERE}/policies/test/use", {})
    assert (used.status_code, used.json()["in_force"]) == (200, True)
    answer = ask(api, arguments={"text": "a b"})
    assert (answer["effect"], answer["policy"], answer["rule"]) == ("allow", "test", "counting")
    assert answer["considered"][0]["matched"] is True
    assert answer["invalid"] == ""
    assert ask(api, arguments={"text": 7})["invalid"]
    assert api.get(f"{HERE}/policies/test").json()["document"] == ALLOW
    listed = api.get(f"{HERE}/policies").json()["results"]
    assert [(row["name"], row["in_force"]) for row in listed] == [("test", True)]
    assert api.delete(f"{HERE}/policies/test/use").status_code == 204
    problem(api.delete(f"{HERE}/policies/test/use"), 404)
    assert ask(api)["effect"] == "deny"


def test_a_wrong_policy_is_refused_at_its_place(api: APIClient, project: Any) -> None:
    bad = policy(rule("deny", "x", arguments=argument("/p", "matches", "(?=a)")))
    told = problem(api.post(f"{HERE}/policies", {"document": bad}), 400, "invalid")
    assert list(told["errors"]) == ["/rules/0/match/arguments/0/value"]
    problem(api.post(f"{HERE}/policies", {"document": ALLOW | {"default": "allow"}}), 400)
    problem(api.post(f"{HERE}/policies/nothing/use", {}), 404)


@pytest.mark.req("POL-4")
def test_rules_are_added_and_withdrawn(api: APIClient, tool: Any, user: User) -> None:
    made = api.post(f"{HERE}/rules", {"rule": rule("allow", "mine", tools=["text.count"])})
    assert (made.status_code, made.json()["rule"]["origin"]["by"]) == (201, f"user:{user.pk}")
    answer = ask(api)
    assert answer["effect"] == "deny" or answer["policy"] == "project-rules"
    assert api.delete(f"{HERE}/rules/mine").status_code == 204
    rows = api.get(f"{HERE}/rules?state=withdrawn").json()["results"]
    assert [row["rule_id"] for row in rows] == ["mine"]
    assert api.get(f"{HERE}/rules?state=active").json()["results"] == []


@pytest.mark.req("SEC-2")
@pytest.mark.parametrize("role", list(Role))
def test_roles_decide_who_keeps_policies(
    caller: Callable[..., APIClient], project: Any, tool: Any, colleague: User, role: Role
) -> None:
    grant_roles(project=project, user=colleague, roles={role}, added_by=None)
    client = caller(colleague)
    allowed = Permission.MANAGE_POLICIES in granted({role})
    assert client.get(f"{HERE}/policies").status_code == 200
    assert ask(client)["effect"] == "deny"
    code = client.post(f"{HERE}/policies", {"document": ALLOW}).status_code
    assert code == (201 if allowed else 403)
    code = client.post(f"{HERE}/rules", {"rule": rule("deny", "x")}).status_code
    assert code == (201 if allowed else 403)


@pytest.mark.req("SEC-2")
def test_the_platforms_policies_are_kept_by_operators(
    api: APIClient, caller: Callable[..., APIClient], administrator: User, tool: Any
) -> None:
    document = {"document": policy(rule("deny", "never"), name="house")}
    problem(api.get("/api/policies"), 403)
    problem(api.post("/api/policies", document), 403)
    operator = caller(administrator)
    assert operator.post("/api/policies", document).status_code == 201
    problem(api.post("/api/policies/house/use", {}), 403)
    assert operator.post("/api/policies/house/use", {}).json()["in_force"] is True
    assert ask(api)["rule"] == "never"
    assert operator.delete("/api/policies/house/use").status_code == 204
