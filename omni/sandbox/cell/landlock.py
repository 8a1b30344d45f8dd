"""Landlock: a second opinion on writing, which does not depend on how things are mounted."""

from __future__ import annotations

import ctypes
import os
import struct

from omni.sandbox.cell.kernel import (
    LANDLOCK_ADD,
    LANDLOCK_CREATE,
    LANDLOCK_RESTRICT,
    need,
    syscall,
)

WRITE_FILE = 1 << 1
# Removing and making files of every kind; then what later versions added: rename, truncate.
CHANGES = WRITE_FILE | sum(1 << bit for bit in range(4, 13))
REFER, TRUNCATE = 1 << 13, 1 << 14
ABSTRACT_SOCKETS_AND_SIGNALS = 0b11
BENEATH = 1


def version() -> int:
    """0 where the kernel has none."""
    return max(0, syscall(LANDLOCK_CREATE, None, 0, 1))


def restrict(writable: list[str]) -> int:
    """From now on only these may be changed; gives the version, 0 when there is none."""
    found = version()
    if not found:
        return 0
    changes = CHANGES | (REFER if found >= 2 else 0) | (TRUNCATE if found >= 3 else 0)
    scopes = ABSTRACT_SOCKETS_AND_SIGNALS if found >= 6 else 0
    wanted = struct.pack("QQQ", changes, 0, scopes)
    size = 24 if found >= 6 else 16 if found >= 4 else 8
    rules = need(syscall(LANDLOCK_CREATE, wanted, size, 0), "Landlock")
    try:
        for path in writable:
            _allow(rules, path, changes)
        for path in ("/dev", "/proc"):
            _allow(rules, path, changes & (WRITE_FILE | TRUNCATE))
        need(syscall(LANDLOCK_RESTRICT, rules, 0), "Landlock")
    finally:
        os.close(rules)
    return found


def _allow(rules: int, path: str, changes: int) -> None:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = ctypes.create_string_buffer(struct.pack("=Qi", changes, place))
        need(syscall(LANDLOCK_ADD, rules, BENEATH, rule, 0), f"Landlock for {path}")
    finally:
        os.close(place)
