"""Tokens work as long and as far as they were given; browsers need their CSRF token."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from apps.registry.models import ApiToken, Scope, User
from apps.tools.services.secrets import set_secret
from tests.api.shapes import problem

pytestmark = [pytest.mark.req("API-1"), pytest.mark.req("SEC-2")]

Caller = Callable[..., APIClient]


def test_a_token_signs_in_and_its_use_is_noted(caller: Caller, user: User) -> None:
    body = caller(user, Scope.READ).get("/api/me").json()
    assert (body["email"], body["scopes"]) == (user.email, ["read"])
    assert ApiToken.objects.get().last_used_at is not None


@pytest.mark.parametrize(
    "change",
    [
        {"expires_at": timezone.now() - timedelta(seconds=1)},
        {"revoked_at": timezone.now()},
        {"digest": "0" * 64},
    ],
    ids=["expired", "revoked", "unknown"],
)
def test_unusable_tokens_are_refused(caller: Caller, user: User, change: dict[str, Any]) -> None:
    client = caller(user)
    ApiToken.objects.update(**change)
    response = client.get("/api/me")
    problem(response, 401, "unauthenticated")
    assert response["WWW-Authenticate"].startswith("Bearer")


def test_a_locked_account_locks_its_tokens(caller: Caller, user: User) -> None:
    client = caller(user)
    User.objects.update(is_active=False)
    problem(client.get("/api/me"), 401)


@pytest.mark.parametrize(
    "header",
    ["Bearer", "Bearer ", "Bearer omni_", "bearer x y", "Bearer omni_\u00e9", "Basic YTpi",
     "Bearer " + "omni_" + "a" * 100_000, "Token omni_abc", "omni_abc"],
)  # fmt: skip
def test_malformed_credentials_are_401(db: None, header: str) -> None:
    problem(Client().get("/api/me", headers={"Authorization": header}), 401, "unauthenticated")


def test_a_wrong_token_beside_a_session_is_refused(user: User) -> None:
    """A program that sends a token means the token."""
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    assert client.get("/api/me").status_code == 200
    problem(client.get("/api/me", headers={"Authorization": "Bearer omni_wrong"}), 401)


def test_a_browser_session_has_every_scope_and_needs_csrf(user: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    assert set(client.get("/api/me").json()["scopes"]) == {scope.value for scope in Scope}
    sent: dict[str, Any] = {"data": {"name": "Ada L."}, "content_type": "application/json"}
    body = problem(client.patch("/api/me", **sent), 403, "permission_denied")
    assert "CSRF" in body["detail"]
    client.get("/api/docs/")
    token = client.cookies["omni_csrf"].value
    response = client.patch("/api/me", headers={"X-CSRFToken": token}, **sent)
    assert (response.status_code, response.json()["name"]) == (200, "Ada L.")


# scope -> what a token with that scope alone may do
OPERATIONS = {
    "read": [("get", "/api/me"), ("get", "/api/projects/apollo/members"), ("get", "/api/tokens")],
    "write": [("patch", "/api/me"), ("post", "/api/projects"),
              ("post", "/api/projects/apollo/archive"), ("patch", "/api/projects/apollo")],
    "secrets": [("put", "/api/projects/apollo/secrets/KEY"),
                ("delete", "/api/projects/apollo/secrets/KEY")],
    "admin": [("post", "/api/projects/apollo/members"), ("post", "/api/tokens"),
              ("delete", "/api/tokens/{token}"), ("put", "/api/projects/apollo/members/{user}"),
              ("delete", "/api/projects/apollo/members/{user}")],
}  # fmt: skip


@pytest.mark.parametrize("held", list(Scope))
def test_a_scope_opens_its_operations_and_no_other(
    caller: Caller, user: User, project: Any, held: Scope
) -> None:
    set_secret(actor=user, project=project, name="KEY", value="v")
    client = caller(user, held)
    names = {"token": ApiToken.objects.get().pk, "user": user.pk}
    for needed, operations in OPERATIONS.items():
        for method, path in operations:
            response = getattr(client, method)(path.format(**names), {})
            if needed != held:
                assert needed in problem(response, 403)["detail"], (method, path)
            else:
                assert response.status_code != 403, (method, path)
    assert len(OPERATIONS) == len(Scope)


def test_a_token_cannot_make_one_that_may_more(caller: Caller, user: User) -> None:
    sent = {"name": "more", "scopes": ["read", "secrets"], "days": 1}
    problem(caller(user, Scope.ADMIN, Scope.READ).post("/api/tokens", sent), 403)
    assert ApiToken.objects.count() == 1
