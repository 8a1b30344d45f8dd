"""Members and roles over the API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.registry.models import AuditAction, AuditEntry, User
from apps.registry.roles import GRANTS, Role
from apps.registry.services.members import grant_roles
from tests.api.shapes import problem

pytestmark = [pytest.mark.req("API-1"), pytest.mark.req("SEC-2")]

MEMBERS = "/api/projects/apollo/members"


def test_add_change_and_remove_a_member(
    api: APIClient, caller: Callable[..., APIClient], project: Any, colleague: User
) -> None:
    sent = {"email": "Grace@Example.org", "roles": ["viewer", "approver"]}
    response = api.post(MEMBERS, sent)
    assert response.status_code == 201
    assert response.json() == {
        "user_id": str(colleague.pk), "email": colleague.email, "name": "Grace",
        "roles": ["approver", "viewer"],
    }  # fmt: skip
    member = f"{MEMBERS}/{colleague.pk}"
    assert api.put(member, {"roles": ["operator"]}).json()["roles"] == ["operator"]
    client = caller(colleague)
    assert client.get("/api/projects/apollo").status_code == 200
    assert api.delete(member).status_code == 204
    problem(api.delete(member), 404)
    problem(client.get("/api/projects/apollo"), 404)
    actions = AuditEntry.objects.filter(target_id=str(colleague.pk)).values_list(
        "action", flat=True
    )
    assert {AuditAction.ROLES_CHANGED, AuditAction.MEMBER_REMOVED} <= set(actions)


@pytest.mark.parametrize("sent", [
    {}, {"email": "grace@example.org"}, {"email": "grace@example.org", "roles": []},
    {"email": "grace@example.org", "roles": ["king"]}, {"email": "nobody@example.org",
    "roles": ["viewer"]}, {"email": "no address", "roles": ["viewer"]},
    {"email": "grace@example.org", "roles": "viewer"}, {"email": 5, "roles": ["viewer"]},
    {"email": "grace@example.org", "roles": [["viewer"]]},
    {"email": "grace@example.org", "roles": ["viewer"] * 7},
])  # fmt: skip
def test_who_cannot_be_added(
    api: APIClient, project: Any, colleague: User, sent: dict[str, Any]
) -> None:
    problem(api.post(MEMBERS, sent), 400, "invalid")
    assert len(api.get(MEMBERS).json()["results"]) == 1


def test_a_member_is_not_added_again(api: APIClient, project: Any, user: User) -> None:
    """Adding must not silently take the owner's role away."""
    problem(api.post(MEMBERS, {"email": user.email, "roles": ["viewer"]}), 409, "conflict")
    assert api.get(MEMBERS).json()["results"][0]["roles"] == ["owner"]


def test_somebody_else_is_not_made_a_member_by_id(
    api: APIClient, project: Any, stranger: User
) -> None:
    problem(api.put(f"{MEMBERS}/{stranger.pk}", {"roles": ["viewer"]}), 404)


def test_the_last_owner_stays(api: APIClient, project: Any, user: User) -> None:
    problem(api.put(f"{MEMBERS}/{user.pk}", {"roles": ["viewer"]}), 409, "conflict")
    problem(api.delete(f"{MEMBERS}/{user.pk}"), 409, "conflict")


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.OWNER])
def test_only_owners_manage_members(
    caller: Callable[..., APIClient], project: Any, colleague: User, stranger: User, role: Role
) -> None:
    grant_roles(project=project, user=colleague, roles={role}, added_by=None)
    client = caller(colleague)
    assert client.get(MEMBERS).status_code == 200
    problem(client.post(MEMBERS, {"email": stranger.email, "roles": ["viewer"]}), 403)
    problem(client.put(f"{MEMBERS}/{colleague.pk}", {"roles": ["owner"]}), 403)
    problem(client.delete(f"{MEMBERS}/{colleague.pk}"), 403)


def test_roles_are_explained(api: APIClient) -> None:
    rows = {row["name"]: row for row in api.get("/api/roles").json()["results"]}
    assert set(rows) == {role.value for role in Role}
    for role, grants in GRANTS.items():
        assert {each["name"] for each in rows[role]["permissions"]} == {g.value for g in grants}
        assert rows[role]["description"]
