"""Where a server is and how much of it is taken; secrets are values only in here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Transport = Literal["streamable_http", "sse", "stdio"]


@dataclass(frozen=True, slots=True)
class Target:
    """A server with its credentials filled in, for as long as one session lasts."""

    name: str
    transport: Transport
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    egress: tuple[str, ...] = ()
    """Hosts that a process in the sandbox may reach."""
    allow_private: frozenset[str] = frozenset()
    """`host:port` pairs that an operator allowed although their address is private."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one session may take; a server that wants more gets an error instead."""

    seconds: float = 20.0
    message_bytes: int = 8 * 1024 * 1024
    """Largest answer; the body of one HTTP response or one line of a process."""
    pages: int = 50
    entries: int = 1_000
