"""How a request proves who sent it: an API token, or the browser's session with its CSRF check."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from rest_framework.authentication import (
    BaseAuthentication,
    SessionAuthentication,
    get_authorization_header,
)
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.exceptions import PermissionDenied as Refused
from rest_framework.request import Request

from apps.registry.models import ApiToken, Scope, User
from apps.registry.services.tokens import PREFIX, use_token
from omni.contracts.errors import ErrorCategory, OmniError, PermissionDenied

ALL_SCOPES = frozenset(Scope)
# Longer ones are no tokens of ours, and hashing megabytes is work for nothing.
MAX_LENGTH = 200


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer omni_…`."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        scheme, _, value = get_authorization_header(request).partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        token = _usable(value.strip())
        if token is None:
            raise AuthenticationFailed("This token is unknown, expired or revoked.")
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="omni"'


class BrowserAuthentication(SessionAuthentication):
    """The session of a signed-in browser."""

    def enforce_csrf(self, request: Request) -> None:
        try:
            super().enforce_csrf(request)
        except Refused:
            raise PermissionDenied(
                "A change from the browser needs the CSRF token of its session.",
                remedy="Send the omni_csrf cookie's value as X-CSRFToken, or use an API token.",
            ) from None


def scopes_of(request: Request) -> frozenset[Scope]:
    """What this credential may do: a token what it was given, a browser everything."""
    if isinstance(request.auth, ApiToken):
        return frozenset(Scope(scope) for scope in request.auth.scopes)
    return frozenset() if isinstance(request.user, AnonymousUser) else ALL_SCOPES


def signed_in(request: Request) -> User:
    """The person behind the request."""
    if isinstance(request.user, User):
        return request.user
    raise OmniError("Sign in first.", category=ErrorCategory.UNAUTHENTICATED)


def _usable(value: bytes) -> ApiToken | None:
    if len(value) > MAX_LENGTH or not value.startswith(PREFIX.encode()) or not value.isascii():
        return None
    return use_token(value.decode())
