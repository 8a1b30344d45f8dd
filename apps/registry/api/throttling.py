"""How many requests a caller of the API may send in a period."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from apps.registry.models import ApiToken, User
from apps.registry.throttle import Limit, network_of, parse_rate

if TYPE_CHECKING:
    # DRF's views import this module while they are being loaded.
    from rest_framework.views import APIView


class RequestRate(BaseThrottle):
    """Each token, each browser user and each anonymous address has its own count per period.

    DRF's own throttles read a list, change it and write it back, which loses requests that
    arrive together; a counter does not.
    """

    def __init__(self) -> None:
        self._wait = 1.0

    def allow_request(self, request: Request, view: APIView) -> bool:
        kind, caller = self._caller(request)
        rate = parse_rate(settings.REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"][kind])
        use = Limit(kind, *rate).use(caller)
        self._wait = use.wait
        return not use.refused

    def wait(self) -> float:
        return self._wait

    def _caller(self, request: Request) -> tuple[str, str]:
        if isinstance(request.auth, ApiToken):
            return "user", f"token:{request.auth.pk}"
        if isinstance(request.user, User):
            return "user", f"user:{request.user.pk}"
        return "anon", network_of(str(self.get_ident(request)))
