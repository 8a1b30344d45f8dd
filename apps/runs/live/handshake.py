"""How a WebSocket is admitted: as the same request to the API would be, and from our pages only."""

from __future__ import annotations

import io
import uuid
from collections.abc import MutableMapping
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import auth
from django.core.exceptions import DisallowedHost
from django.core.handlers.asgi import ASGIRequest

from apps.registry.api.problems import translate
from apps.registry.models import User
from apps.registry.services import audit
from apps.registry.sessions import SessionStore
from apps.runs.live.admission import Admission
from apps.runs.live.doors import RunStream
from omni.contracts.errors import ErrorCategory, InvalidInput, OmniError, PermissionDenied

Scope = MutableMapping[str, Any]


def request_of(scope: Scope) -> ASGIRequest:
    """The handshake as the GET request that it is, with the session only if the page is ours."""
    try:
        request = ASGIRequest({**scope, "type": "http", "method": "GET"}, io.BytesIO())
        own = _is_own_page(request)
    except (UnicodeDecodeError, DisallowedHost, ValueError):
        raise InvalidInput("The address of the request cannot be understood.") from None
    if not own and request.headers["Origin"] not in settings.CORS_ALLOWED_ORIGINS:
        raise PermissionDenied(
            "WebSockets are not opened for pages of other sites.",
            remedy="The operator adds its origin to OMNI_CORS_ORIGINS.",
        )
    request.session = SessionStore(_session_key(request) if own else None)
    return request


def has_credential(request: ASGIRequest) -> bool:
    return bool(request.session.session_key) or "Authorization" in request.headers


def with_token(request: ASGIRequest, token: str) -> ASGIRequest:
    """As if the token had come with the handshake, where browsers cannot put it."""
    request.META["HTTP_AUTHORIZATION"] = f"Bearer {token}"
    request.__dict__.pop("headers", None)
    return request


def admit(request: ASGIRequest, run_id: uuid.UUID) -> Admission:
    """Pass the door of the SSE stream; what it refuses is raised as an error of the taxonomy."""
    request.user = auth.get_user(request)
    door = RunStream()
    door.setup(request, id=run_id)
    asked = door.initialize_request(request, id=run_id)
    door.request = asked
    try:
        door.initial(asked, id=run_id)
        return door.admission(run_id)
    except Exception as error:
        known = translate(error)
        if known is None:
            raise
        if known.category is ErrorCategory.PERMISSION_DENIED and isinstance(asked.user, User):
            audit.record_denial(known, actor=asked.user, method="GET", path=asked.path)
        raise known from error


def _is_own_page(request: ASGIRequest) -> bool:
    """Programs send no Origin; a browser sends that of the page, whose cookies come along."""
    host, origin = request.get_host(), request.headers.get("Origin")
    if origin is None or origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    page = urlsplit(origin)
    return page.scheme in ("http", "https") and page.netloc == host


def _session_key(request: ASGIRequest) -> str | None:
    return request.COOKIES.get(settings.SESSION_COOKIE_NAME) or None


def close_code(error: OmniError) -> int:
    """4000 and the HTTP status that the same refusal has."""
    return 4000 + error.status
