"""Who is calling: the address behind as many proxies as the operator trusts."""

from __future__ import annotations

import ipaddress

from django.http import HttpRequest

from omni import config

# Each of them is a trace of a proxy; X-Forwarded-* has too many names to list.
TRACES = ("HTTP_X_FORWARDED", "HTTP_FORWARDED", "HTTP_VIA", "HTTP_X_REAL_IP")


def client_ip(request: HttpRequest) -> str:
    """The address of the caller; forwarded addresses count only from trusted proxies."""
    direct = str(request.META.get("REMOTE_ADDR", ""))
    proxies = config.current().trusted_proxies
    hops = [hop.strip() for hop in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")]
    if not proxies or hops == [""]:
        return direct
    # Each proxy appends the address it saw, so the last ones are the trustworthy ones.
    claimed = hops[-min(proxies, len(hops))]
    return claimed if _is_address(claimed) else direct


def is_local(request: HttpRequest) -> bool:
    """Whether the request comes from this machine itself, through no proxy."""
    settings = config.current()
    # A proxy on this machine need not say that it is one.
    if settings.trusted_proxies or settings.is_https:
        return False
    direct = str(request.META.get("REMOTE_ADDR", ""))
    if not _is_address(direct) or any(name.startswith(TRACES) for name in request.META):
        return False
    return ipaddress.ip_address(direct).is_loopback


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
