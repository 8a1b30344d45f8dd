"""API tokens over the API."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from rest_framework.test import APIClient

from apps.registry.models import ApiToken, AuditEntry, User
from tests.api.shapes import problem

pytestmark = pytest.mark.req("API-1")


def test_a_token_is_shown_once_and_works_until_revoked(api: APIClient) -> None:
    response = api.post("/api/tokens", {"name": "nightly", "scopes": ["read"], "days": 7})
    assert (response.status_code, response["Cache-Control"]) == (201, "no-store")
    made = response.json()
    ends = parse_datetime(made["expires_at"])
    assert ends and abs(ends - timezone.now() - timedelta(days=7)) < timedelta(minutes=1)

    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {made['token']}")
    assert client.get("/api/me").status_code == 200

    listed = next(t for t in api.get("/api/tokens").json()["results"] if t["id"] == made["id"])
    assert "token" not in listed
    assert made["token"] not in str(listed)
    assert (listed["usable"], listed["scopes"]) == (True, ["read"])

    for _ in range(2):
        assert api.delete(f"/api/tokens/{made['id']}").status_code == 204
    problem(client.get("/api/me"), 401)
    assert AuditEntry.objects.filter(action="token_revoked").count() == 1


@pytest.mark.parametrize("sent", [
    {}, {"name": "x"}, {"name": "x", "scopes": []}, {"name": "x", "scopes": ["root"]},
    {"name": "x", "scopes": ["read"], "days": 366}, {"name": "x" * 81, "scopes": ["read"]},
    {"name": "x", "scopes": {"read": True}}, {"name": "x", "scopes": ["read"], "user": "eve"},
])  # fmt: skip
def test_what_a_token_cannot_be(api: APIClient, sent: dict[str, Any]) -> None:
    problem(api.post("/api/tokens", sent), 400, "invalid")
    assert ApiToken.objects.count() == 1


@pytest.mark.req("SEC-2")
def test_tokens_of_others_do_not_exist(
    api: APIClient, caller: Callable[..., APIClient], administrator: User
) -> None:
    mine = ApiToken.objects.get()
    client = caller(administrator)
    assert str(mine.pk) not in client.get("/api/tokens").content.decode()
    problem(client.delete(f"/api/tokens/{mine.pk}"), 404)
    mine.refresh_from_db()
    assert mine.is_usable
