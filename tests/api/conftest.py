"""Callers of the API: anonymous, with a token of chosen scopes, or as a signed-in browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.registry.models import Scope, User
from apps.registry.services.tokens import create_token


@pytest.fixture
def token_for(db: None) -> Callable[..., str]:
    def make(user: User, *scopes: Scope, days: int = 30) -> str:
        return create_token(user=user, name="test", scopes=set(scopes or Scope), days=days)[1]

    return make


@pytest.fixture
def caller(token_for: Callable[..., str]) -> Callable[..., APIClient]:
    """`caller(user, Scope.READ)` sends that user's token; `caller()` nobody's."""

    def make(user: User | None = None, *scopes: Scope) -> APIClient:
        client = APIClient(raise_request_exception=True)
        client.default_format = "json"
        if user is not None:
            client.credentials(HTTP_AUTHORIZATION=f"Bearer {token_for(user, *scopes)}")
        return client

    return make


@pytest.fixture
def api(caller: Callable[..., APIClient], user: User) -> APIClient:
    """The project owner's client with every scope."""
    return caller(user)


@pytest.fixture
def colleague(make_user: Callable[..., Any]) -> Any:
    """Somebody with an account; a member where a test says so."""
    return make_user("grace@example.org", name="Grace")
