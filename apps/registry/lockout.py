"""Too many wrong passwords: whose they count for, and the answer with when to come back.

axes counts one account from one address, in the database. Here are the wider counts, in Redis:
one address guessing for many accounts, and many addresses guessing for one account.
"""

from __future__ import annotations

import math
from typing import Any

import structlog
from axes.models import AccessAttempt
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.crypto import salted_hmac

from apps.registry.models import AuditAction, User
from apps.registry.models.user import normalise_email
from apps.registry.services import audit
from apps.registry.throttle import Limit, Use, network_of
from omni import config

# So many times what one account from one address may: offices share an address, and a limit on
# accounts alone is a way to lock others out.
ADDRESS_FACTOR, ACCOUNT_FACTOR = 10, 20
RESETS_PER_HOUR = 20
UNKNOWN = "(unknown address)"
_MARK = "unknown-"


def login_name(request: HttpRequest, credentials: dict[str, Any] | None = None) -> str:
    """The address as accounts know it, so that all spellings of it share one counter.

    What belongs to no account may be a password in the wrong field: only a mark of it is kept.
    """
    given = normalise_email(str((credentials or {}).get("username") or _typed(request)))
    known: tuple[str, str] = getattr(request, "_login_name", ("", ""))
    if not known[0] or known[0] != given:
        is_account = User.objects.filter(email=given).exists()
        mark = salted_hmac("registry.login", given).hexdigest()[:16]
        known = (given, given if is_account else f"{_MARK}{mark}")
        request._login_name = known  # type: ignore[attr-defined]
    return known[1]


def shown_login(name: object) -> str:
    """What `login_name` answered, for people."""
    text = str(name or "")
    return text if "@" in text and " " not in text else UNKNOWN


def address_of(request: HttpRequest) -> str:
    """The caller's network, as the edge of the platform has found it."""
    bound = structlog.contextvars.get_contextvars().get("ip")
    return network_of(str(bound or request.META.get("REMOTE_ADDR", "")))


class SignInLimits:
    """Counts a try to sign in before the password is looked at, so that none slips by."""

    def __init__(self, request: HttpRequest) -> None:
        self.used = (
            (address_limit(), address_of(request)),
            (account_limit(), normalise_email(_typed(request))),
        )

    def refusal(self, request: HttpRequest) -> HttpResponse | None:
        for limit, caller in self.used:
            use = limit.use(caller)
            if use.refused:
                self._record(request, limit, use)
                return too_many(request, use.wait)
        return None

    def give_back(self) -> None:
        for limit, caller in self.used:
            limit.give_back(caller)

    def _record(self, request: HttpRequest, limit: Limit, use: Use) -> None:
        if use.is_first_refusal:
            label = shown_login(login_name(request))
            data = {"limit": limit.name}
            audit.record(AuditAction.SIGN_IN_LOCKED, actor_label=label, allowed=False, data=data)


def address_limit() -> Limit:
    return Limit("sign-in-address", config.current().login_attempts * ADDRESS_FACTOR, _cooldown())


def account_limit() -> Limit:
    return Limit("sign-in-account", config.current().login_attempts * ACCOUNT_FACTOR, _cooldown())


def present_password_limit() -> Limit:
    """Whoever finds an open browser shall not find out its owner's password."""
    return Limit("present-password", config.current().login_attempts, _cooldown())


def reset_limit() -> Limit:
    return Limit("password-reset", RESETS_PER_HOUR, 3600)


def lockout_response(
    request: HttpRequest, *args: Any, credentials: dict[str, Any] | None = None, **kwargs: Any
) -> HttpResponse:
    """axes' hook; the time that remains counts from the last attempt that it counted."""
    seconds = _cooldown()
    last = (
        AccessAttempt.objects.filter(
            username=login_name(request, credentials),
            ip_address=getattr(request, "axes_ip_address", None),
        )
        .order_by("-attempt_time")
        .first()
    )
    if last is not None:
        seconds -= int((timezone.now() - last.attempt_time).total_seconds())
    return too_many(request, max(1, seconds), "There were too many wrong passwords for this "
                    "account from here.")  # fmt: skip


def too_many(request: HttpRequest, seconds: int, reason: str = "") -> HttpResponse:
    context = {"minutes": math.ceil(seconds / 60), "reason": reason}
    response = render(request, "registry/locked_out.html", context, status=429)
    response["Retry-After"] = str(seconds)
    return response


def _typed(request: HttpRequest) -> str:
    return str(request.POST.get("username") or "")


def _cooldown() -> int:
    return int(settings.AXES_COOLOFF_TIME.total_seconds())
