"""An HTTP address taken apart once: what was checked is what is connected to and sent."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, urljoin

from omni.sandbox.egress.addresses import check_host, place
from omni.sandbox.egress.errors import Forbidden

MAX_URL = 16_000
PORTS = {"http": 80, "https": 443}
_URL = re.compile(r"(https?)://([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?", re.IGNORECASE)
_AUTHORITY = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^\[\]:@\\%\s]+)(?::([0-9]{1,5}))?")
# Everything that RFC 3986 lets stand in a path and a query, and escapes that are there already.
_PATH, _QUERY = "/:@!$&'()*+,;=-._~%", "/?:@!$&'()*+,;=-._~%"


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes and what it asks for."""

    scheme: str
    host: str
    port: int
    path: str
    """Path and query as they are sent."""

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port

    @property
    def place(self) -> str:
        return place(self.host, self.port)

    @property
    def authority(self) -> str:
        """The value of the Host header."""
        if self.port == PORTS[self.scheme]:
            return f"[{self.host}]" if ":" in self.host else self.host
        return self.place

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"


def parse_url(url: str) -> Target:
    """Take an address apart; Forbidden when readers could understand it differently."""
    if len(url) > MAX_URL:
        raise Forbidden("The address is too long.")
    if any(ord(letter) <= 0x20 or ord(letter) == 0x7F for letter in url):
        raise Forbidden("The address contains blanks or control characters.")
    match = _URL.fullmatch(url)
    if match is None:
        raise Forbidden("Only http and https addresses are reached.")
    scheme, authority, path, query, _ = match.groups()
    parts = _AUTHORITY.fullmatch(authority)
    if parts is None:
        raise Forbidden("The address names no proper host; names and passwords are refused too.")
    scheme = scheme.lower()
    port = int(parts[2]) if parts[2] else PORTS[scheme]
    if not 0 < port < 65536:
        raise Forbidden("The address has no proper port.")
    try:
        target = quote(path or "/", safe=_PATH) + quote(query or "", safe=_QUERY)
    except UnicodeEncodeError:
        raise Forbidden("The address contains half of a surrogate pair.") from None
    return Target(scheme, check_host(parts[1]), port, target)


def follow(base: Target, location: bytes) -> Target:
    """Where a redirect leads to; what it says is escaped, never understood generously."""
    try:
        return parse_url(urljoin(base.url, quote(location.strip(), safe=_QUERY + "#[]\\")))
    except (ValueError, UnicodeError):
        raise Forbidden("The server redirects to no proper address.") from None


def is_listed(target: Target, hosts: frozenset[str]) -> bool:
    """Whether the host is among `example.org`, `*.example.org` and `example.org:8443`.

    Below 1024 only the ports of the web are open, unless an entry names another one.
    """
    if target.place in hosts:
        return True
    if target.port < 1024 and target.port not in PORTS.values():
        return False
    labels = target.host.split(".")
    above = {f"*.{'.'.join(labels[index:])}" for index in range(1, len(labels))}
    return target.host in hosts or bool(above & hosts)
