"""Accounts over the API, for operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group
from rest_framework.test import APIClient

from apps.registry.models import Scope, User
from apps.registry.services.bootstrap import load_groups
from tests.api.shapes import problem

pytestmark = [pytest.mark.req("API-1"), pytest.mark.req("SEC-2")]


@pytest.fixture
def operator(make_user: Callable[..., Any]) -> Any:
    """In the group of operators, and no administrator."""
    load_groups()
    user = make_user("op@example.org", is_staff=True)
    user.groups.add(Group.objects.get(name="Operators"))
    return user


def test_add_invite_and_lock_a_person(
    caller: Callable[..., APIClient], operator: User, token_for: Callable[..., str]
) -> None:
    client = caller(operator)
    response = client.post("/api/people", {"email": "New@Example.org", "name": "New"})
    assert response.status_code == 201
    person = response.json()
    assert (person["email"], person["is_staff"]) == ("new@example.org", False)
    assert client.get(response["Location"]).json() == person
    link = client.post(f"/api/people/{person['id']}/password-link")
    assert (link.status_code, link["Cache-Control"]) == (201, "no-store")
    assert "://" in link.json()["link"]
    found = client.get("/api/people?q=NEW&active=true").json()["results"]
    assert [row["id"] for row in found] == [person["id"]]
    theirs = APIClient()
    theirs.credentials(HTTP_AUTHORIZATION=f"Bearer {token_for(User.objects.get(name='New'))}")
    assert theirs.get("/api/me").status_code == 200
    changed = client.patch(f"/api/people/{person['id']}", {"is_active": False})
    assert changed.json()["is_active"] is False
    problem(theirs.get("/api/me"), 401)
    assert client.get("/api/people?q=new&active=true").json()["results"] == []


@pytest.mark.parametrize("sent", [
    {}, {"email": "x"}, {"email": "a@b"}, {"email": "a@example.org", "is_staff": "true"},
    {"email": "a@example.org", "is_superuser": True}, {"email": "a@example.org", "password": "x"},
    {"email": "a@example.org", "name": "n" * 121}, {"email": "a" * 250 + "@example.org"},
])  # fmt: skip
def test_what_a_person_cannot_be(
    caller: Callable[..., APIClient], operator: User, sent: dict[str, Any]
) -> None:
    problem(caller(operator).post("/api/people", sent), 400, "invalid")


def test_a_taken_address_is_a_conflict(
    caller: Callable[..., APIClient], operator: User, user: User
) -> None:
    problem(caller(operator).post("/api/people", {"email": user.email}), 409, "conflict")


def test_others_do_not_see_accounts(api: APIClient, administrator: User) -> None:
    person = f"/api/people/{administrator.pk}"
    problem(api.get("/api/people"), 403)
    problem(api.post("/api/people", {"email": "x@example.org"}), 403)
    problem(api.get(person), 403)
    problem(api.patch(person, {"is_active": False}), 403)
    problem(api.post(f"{person}/password-link"), 403)


def test_whoever_may_only_view_changes_nothing(
    caller: Callable[..., APIClient], make_user: Callable[..., Any], user: User
) -> None:
    load_groups()
    auditor = make_user("audit@example.org", is_staff=True)
    auditor.groups.add(Group.objects.get(name="Auditors"))
    client = caller(auditor)
    assert client.get("/api/people").status_code == 200
    problem(client.post("/api/people", {"email": "x@example.org"}), 403)
    problem(client.patch(f"/api/people/{user.pk}", {"is_active": False}), 403)
    problem(client.post(f"/api/people/{user.pk}/password-link"), 403)


def test_an_operator_cannot_become_an_administrator(
    caller: Callable[..., APIClient], operator: User, administrator: User, user: User
) -> None:
    """Neither by taking over an administrator's account nor by handing out rights."""
    client = caller(operator)
    problem(client.post(f"/api/people/{administrator.pk}/password-link"), 403)
    problem(client.patch(f"/api/people/{administrator.pk}", {"is_active": False}), 403)
    problem(client.patch(f"/api/people/{user.pk}", {"is_staff": True}), 403)
    problem(client.post("/api/people", {"email": "x@example.org", "is_staff": True}), 403)
    administrator.refresh_from_db()
    assert administrator.is_active


def test_nobody_locks_themselves_out(caller: Callable[..., APIClient], administrator: User) -> None:
    client = caller(administrator)
    problem(client.patch(f"/api/people/{administrator.pk}", {"is_active": False}), 409)


def test_people_need_the_admin_scope_to_be_changed(
    caller: Callable[..., APIClient], administrator: User
) -> None:
    client = caller(administrator, Scope.READ, Scope.WRITE)
    assert client.get("/api/people").status_code == 200
    problem(client.post("/api/people", {"email": "x@example.org"}), 403)
    problem(client.get(f"/api/people/{'0' * 8}-0000-0000-0000-{'0' * 12}"), 404)


def test_the_group_alone_makes_nobody_an_operator(
    caller: Callable[..., APIClient], operator: User, user: User
) -> None:
    """Rights that outlived the operator's mark count for nothing, through every address."""
    User.objects.filter(pk=operator.pk).update(is_staff=False)
    client = caller(operator)
    problem(client.get("/api/people"), 403)
    problem(client.post("/api/people", {"email": "x@example.org"}), 403)
    problem(client.patch(f"/api/people/{user.pk}", {"name": "Taken"}), 403)
    problem(client.post(f"/api/people/{user.pk}/password-link"), 403)
    problem(client.get("/api/secrets"), 403)
    problem(client.put("/api/secrets/KEY", {"value": "v"}), 403)
    problem(client.delete("/api/secrets/KEY"), 403)
