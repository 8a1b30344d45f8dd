"""The content security policy: no inline script anywhere (tests/e2e shows that pages work)."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

pytestmark = pytest.mark.req("SEC-1")


def directives(response: Any) -> dict[str, list[str]]:
    parts = [part.split() for part in response["Content-Security-Policy"].split(";")]
    return {name: values for name, *values in parts}


@pytest.mark.django_db
def test_our_own_pages_load_only_from_here(client: Client) -> None:
    """No inline script, style or eval; nobody may frame them or change their base."""
    for address in ("/login", "/nothing-here", "/healthz", "/api/docs/", "/api/nothing"):
        policy = directives(client.get(address))
        for name in ("default-src", "script-src", "style-src", "connect-src", "form-action"):
            assert policy[name] == ["'self'"], (address, name)
        for name in ("frame-ancestors", "base-uri", "object-src"):
            assert policy[name] == ["'none'"], (address, name)
        assert policy["img-src"] == ["'self'", "data:"]


def test_the_admin_console_may_evaluate_but_has_no_inline_scripts(
    client: Client, administrator: Any
) -> None:
    """Its theme needs that much, and nothing else outside needs it."""
    client.force_login(administrator)
    policy = directives(client.get("/admin/"))
    assert policy["script-src"] == ["'self'", "'unsafe-eval'"]
    assert policy["default-src"] == ["'self'"]
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["object-src"] == ["'none'"]
