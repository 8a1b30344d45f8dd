"""Which addresses may be reached: a host is resolved once and every answer is checked."""

from __future__ import annotations

import ipaddress
import re
import socket
from dataclasses import dataclass

from omni.contracts.errors import PermissionDenied

_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_DENIED = tuple(
    ipaddress.ip_network(net)
    for net in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3", "::/96",
        "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23",
        "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/9", "ff00::/8",
    )
)  # fmt: skip


class Forbidden(PermissionDenied):
    """A host that nobody may reach from here."""


@dataclass(frozen=True, slots=True)
class Address:
    """One checked address of a host."""

    ip: str
    port: int


def check_host(name: str) -> str:
    """The host in its one spelling; refuses what resolvers read in surprising ways."""
    host = name.strip("[]").lower().removesuffix(".")
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        pass
    labels = host.split(".")
    numeric = labels[-1].isdigit() or labels[-1].startswith("0x")
    if len(host) > 253 or numeric or not all(_LABEL.fullmatch(each) for each in labels):
        raise Forbidden(f"“{name[:100]}” is not a host name.")
    return host


def resolve(host: str, port: int, *, allow_private: frozenset[str] = frozenset()) -> list[Address]:
    """Every address of the host; if one of them is not allowed, none is."""
    host = check_host(host)
    try:
        rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise ConnectionError(f"{host} cannot be resolved: {error}") from None
    found = list(dict.fromkeys(str(row[4][0]).partition("%")[0] for row in rows))
    if f"{host}:{port}" not in allow_private:
        for ip in found:
            if any(ipaddress.ip_address(ip) in net for net in _DENIED):
                raise Forbidden(f"{host} leads to {ip}, which is a private address.")
    return [Address(ip, port) for ip in found]
