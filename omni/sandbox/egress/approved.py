"""Which places a job was allowed to reach."""

from __future__ import annotations

import re
from dataclasses import dataclass

from omni.sandbox.egress.addresses import check_host
from omni.sandbox.egress.errors import Forbidden

USUAL_PORTS = frozenset({80, 443})
_PLACE = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^\[\]:@/?#\s]+):(?P<port>[0-9]{1,5})")
ANY_BELOW = "*."


@dataclass(frozen=True, slots=True)
class Rule:
    """One approved host; without a port the usual two."""

    host: str
    below: bool
    ports: frozenset[int]

    def covers(self, host: str, port: int) -> bool:
        same = host.endswith(f".{self.host}") if self.below else host == self.host
        return same and port in self.ports


class Approved:
    """Built from words such as `example.org`, `*.example.org`, `example.org:8443`."""

    def __init__(self, words: tuple[str, ...]) -> None:
        self._rules = [_rule(word) for word in words]

    def check(self, place: str, usual_port: int | None = None) -> tuple[str, int]:
        """Host and port in their one spelling, or Forbidden."""
        host, port = split(place, usual_port)
        if not any(rule.covers(host, port) for rule in self._rules):
            raise Forbidden(f"The host {host} with port {port} was not approved for this call.")
        return host, port


def split(place: str, usual_port: int | None = None) -> tuple[str, int]:
    """From `host:port` as a program wrote it; nothing that two readers could read differently."""
    if usual_port is not None and not re.search(r":[0-9]+\Z", place):
        place = f"{place}:{usual_port}"
    found = _PLACE.fullmatch(place)
    if found is None or not 0 < int(found["port"]) < 65536:
        raise Forbidden("What was asked for is no host with a port.")
    return check_host(found["host"]), int(found["port"])


def _rule(word: str) -> Rule:
    below = word.startswith(ANY_BELOW)
    rest = word.removeprefix(ANY_BELOW)
    if _PLACE.fullmatch(rest):
        host, port = split(rest)
        return Rule(host, below, frozenset({port}))
    return Rule(check_host(rest), below, USUAL_PORTS)
