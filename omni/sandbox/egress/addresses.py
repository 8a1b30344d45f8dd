"""Which hosts and addresses may be reached; names are resolved once and every answer is checked.

Python's `is_global` is no help: it says yes to NAT64, 6to4, multicast and metadata services.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any

import idna

from omni import config
from omni.sandbox.egress.errors import Forbidden, Unreachable

Lookup = Callable[[str, int], Iterable[str]]
"""From a host and a port to the addresses that it has now."""

MAX_HOST = 253
MAX_ADDRESSES = 32
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_QUAD = re.compile(r"(0|[1-9][0-9]{0,2})(\.(0|[1-9][0-9]{0,2})){3}")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")

# Sources: the IANA registries of special-purpose addresses, and the clouds' own documentation.
FORBIDDEN_V4 = {
    "0.0.0.0/8": "this network",
    "10.0.0.0/8": "private",
    "100.64.0.0/10": "shared by a provider",
    "127.0.0.0/8": "loopback",
    "168.63.129.16/32": "metadata of a cloud",
    "169.254.0.0/16": "link-local",
    "172.16.0.0/12": "private",
    "192.0.0.0/24": "reserved for protocols",
    "192.0.2.0/24": "for documentation",
    "192.31.196.0/24": "reserved for AS112",
    "192.52.193.0/24": "reserved for AMT",
    "192.88.99.0/24": "a 6to4 relay",
    "192.168.0.0/16": "private",
    "192.175.48.0/24": "reserved for AS112",
    "198.18.0.0/15": "for benchmarks",
    "198.51.100.0/24": "for documentation",
    "203.0.113.0/24": "for documentation",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved",
}
FORBIDDEN_V6 = {
    "::/128": "unspecified",
    "::1/128": "loopback",
    "::/96": "an IPv4 address in IPv6 form",
    "::ffff:0:0/96": "an IPv4 address in IPv6 form",
    "64:ff9b::/96": "an IPv4 address behind NAT64",
    "64:ff9b:1::/48": "an IPv4 address behind NAT64",
    "100::/64": "discarded",
    "2001::/23": "Teredo or reserved for protocols",
    "2001:db8::/32": "for documentation",
    "2002::/16": "an IPv4 address behind 6to4",
    "2620:4f:8000::/48": "reserved for AS112",
    "3fff::/20": "for documentation",
    "5f00::/16": "for segment routing",
    "fc00::/7": "private",
    "fe80::/10": "link-local",
    "fec0::/10": "site-local",
    "ff00::/8": "multicast",
}
_V4 = [(IPv4Network(network), why) for network, why in FORBIDDEN_V4.items()]
_V6 = [(IPv6Network(network), why) for network, why in FORBIDDEN_V6.items()]
_GLOBAL_V6 = IPv6Network("2000::/3")


@dataclass(frozen=True, slots=True)
class Address:
    """Where to connect to; it was checked, so no name is looked up again."""

    ip: str
    port: int

    @property
    def family(self) -> socket.AddressFamily:
        return socket.AF_INET6 if ":" in self.ip else socket.AF_INET


def check_host(name: str) -> str:
    """The one spelling of a host name or address; Forbidden when two readers could differ."""
    if len(name) > MAX_HOST + 2:
        raise _refused(name, "it is too long")
    if name.startswith("[") and name.endswith("]"):
        return _v6(name[1:-1])
    if ":" in name:
        return _v6(name)
    host = _ascii(name)
    if len(host) > MAX_HOST or not all(_LABEL.fullmatch(label) for label in host.split(".")):
        raise _refused(name, "it is not a host name")
    if _NUMBER.fullmatch(host.rpartition(".")[2]):
        return _v4(host)
    return host


def why_forbidden(ip: IPv4Address | IPv6Address) -> str:
    """What the address is for, when that is a reason not to reach it; empty when it is public."""
    if isinstance(ip, IPv4Address):
        return next((why for network, why in _V4 if ip in network), "")
    if ip.scope_id is not None:
        return "bound to an interface"
    special = next((why for network, why in _V6 if ip in network), "")
    return special or ("" if ip in _GLOBAL_V6 else "not assigned")


def resolve(
    host: str,
    port: int,
    *,
    allow_private: frozenset[str] = frozenset(),
    lookup: Lookup | None = None,
) -> list[Address]:
    """The host's addresses, looked up once; one forbidden address forbids them all.

    `allow_private` holds the exact `host:port` places that an operator has opened.
    """
    host = check_host(host)
    found = [host] if _is_address(host) else list((lookup or look_up)(host, port))
    if not found:
        raise Unreachable(f"The host {host} has no address.")
    opened = place(host, port) in allow_private
    addresses = []
    for text in found[:MAX_ADDRESSES]:
        ip = _parsed(text, host)
        reason = "" if opened else why_forbidden(ip)
        if reason:
            raise Forbidden(
                f"The host {host} may not be reached: its address {ip} is {reason}.",
                remedy="An operator can open this one place with OMNI_EGRESS_PRIVATE.",
                data={"host": host, "address": str(ip), "why": reason},
            )
        addresses.append(Address(str(ip), port))
    return list(dict.fromkeys(addresses))


def place(host: str, port: int) -> str:
    """Host and port in one word, as in an address bar."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def opened_places() -> frozenset[str]:
    """The private `host:port` places that this installation's operator has opened."""
    return frozenset(place.lower() for place in config.current().egress_private)


def look_up(host: str, port: int) -> list[str]:
    """Ask the machine's resolver."""
    try:
        rows: list[Any] = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise Unreachable(f"The host {host} cannot be found.") from None
    return [str(row[4][0]) for row in rows]


def _ascii(name: str) -> str:
    host = name.lower()
    if host.isascii() and "xn--" not in host:
        return host
    try:
        # Strict: no mapping, so that full-width digits and dots stay what they are and fail.
        return idna.encode(host, strict=True, std3_rules=True).decode()
    except (idna.IDNAError, UnicodeError):
        raise _refused(name, "it is not a host name") from None


def _v4(host: str) -> str:
    """Only four plain decimal numbers: `127.1`, `0x7f.1`, `2130706433` and `010.0.0.1` differ."""
    if _QUAD.fullmatch(host):
        try:
            return str(IPv4Address(host))
        except ValueError:
            pass
    raise _refused(host, "it is an unusual spelling of an address")


def _v6(text: str) -> str:
    try:
        if "%" not in text:
            return str(IPv6Address(text))
    except ValueError:
        pass
    raise _refused(text, "it is not an address")


def _is_address(host: str) -> bool:
    return ":" in host or bool(_QUAD.fullmatch(host))


def _parsed(text: str, host: str) -> IPv4Address | IPv6Address:
    try:
        return ip_address(text)
    except ValueError:
        raise Unreachable(f"The host {host} has an address that cannot be used.") from None


def _refused(name: str, why: str) -> Forbidden:
    shown = name[:80].encode("ascii", "backslashreplace").decode()
    shown = "".join(letter if letter.isprintable() else "?" for letter in shown)
    return Forbidden(f"The host “{shown}” is refused: {why}.")
