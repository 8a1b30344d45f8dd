"""Stub until the sandbox arrives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


class Refused(Exception):
    pass


@dataclass(frozen=True)
class Limits:
    wall_seconds: float = 10
    cpu_seconds: float = 10
    memory_bytes: int = 1 << 29
    output_bytes: int = 1 << 20
    file_bytes: int = 1 << 26
    processes: int = 32


@dataclass(frozen=True)
class Bind:
    path: Path
    writable: bool = False


@dataclass(frozen=True)
class OutputFile:
    name: str
    data: bytes


@dataclass(frozen=True)
class Job:
    command: tuple[str, ...]
    stdin: bytes = b""
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    limits: Limits = Limits()
    egress: tuple[str, ...] = ()
    bind: Bind | None = None


@dataclass(frozen=True)
class Result:
    status: str
    exit_code: int | None
    stdout: bytes
    stderr: bytes
    files: tuple[OutputFile, ...]
    usage: Mapping[str, Any]


def run(job: Job, *, cancelled: Callable[[], bool]) -> Result:
    raise Refused("not here yet")
