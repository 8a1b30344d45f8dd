"""Sign-ins and their failures, taken from Django and axes into the audit log."""

from __future__ import annotations

from typing import Any

from axes.signals import user_locked_out
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.http import HttpRequest
from django.utils import timezone

from apps.registry.lockout import login_name, shown_login
from apps.registry.models import AuditAction, User
from apps.registry.services import audit
from apps.registry.sessions import AGENT_KEY, IP_KEY, SIGNED_IN_KEY


def connect() -> None:
    user_logged_in.connect(_signed_in, dispatch_uid="registry.signed_in")
    user_logged_out.connect(_signed_out, dispatch_uid="registry.signed_out")
    user_login_failed.connect(_sign_in_failed, dispatch_uid="registry.sign_in_failed")
    user_locked_out.connect(_sign_in_locked, dispatch_uid="registry.sign_in_locked")


def _signed_in(*, request: HttpRequest, user: User, **_: Any) -> None:
    entry = audit.record(AuditAction.SIGNED_IN, actor=user, target=user)
    request.session[IP_KEY] = entry.ip_address
    request.session[AGENT_KEY] = request.headers.get("User-Agent", "")[:200]
    request.session[SIGNED_IN_KEY] = timezone.now().isoformat()


def _signed_out(*, user: User | None, **_: Any) -> None:
    if user is not None:
        audit.record(AuditAction.SIGNED_OUT, actor=user, target=user)


def _sign_in_failed(
    *, credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any
) -> None:
    if request is None or _was_locked(request):
        return
    label = shown_login(login_name(request, credentials))
    audit.record(AuditAction.SIGN_IN_FAILED, actor_label=label, allowed=False)


def _sign_in_locked(*, request: HttpRequest, username: str | None = None, **_: Any) -> None:
    if not _was_locked(request):
        audit.record(AuditAction.SIGN_IN_LOCKED, actor_label=shown_login(username), allowed=False)


def _was_locked(request: HttpRequest) -> bool:
    """Whether axes refused even to look; the log would otherwise be anybody's to fill."""
    is_locked = getattr(request, "axes_locked_out", False)
    return bool(is_locked and getattr(request, "axes_failures_since_start", None) is None)
