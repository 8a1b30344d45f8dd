"""Which kind of isolation this machine offers, decided by a job that looks around from inside."""

from __future__ import annotations

import json
import os
import threading
import time
from dataclasses import dataclass
from typing import Any, Literal

from omni.sandbox import bubblewrap, interpreter
from omni.sandbox.conversation import Opener, converse
from omni.sandbox.shapes import Job, Limits, Refused
from omni.sandbox.zygote import SHARED

Tier = Literal["namespaces", "bubblewrap", "none"]

RETRY_SECONDS = 30
# Everything is asserted from inside; a canary that cannot look does not say "ok" either.
CANARY = """
import json, os
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(json.dumps({
    "capabilities": sum(int(status[name], 16) for name in ("CapEff", "CapPrm", "CapBnd")),
    "no_new_privs": int(status["NoNewPrivs"]),
    "seccomp": int(status["Seccomp"]),
    "first": os.getppid(),
    "root": sorted(os.listdir("/")),
    "interfaces": [line.split(":")[0].strip() for line in open("/proc/self/net/dev")][2:],
    "user": os.getuid(),
}))
"""
EXPECTED_IN_ROOT = {
    "bin", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "tmp", "usr", "work",
    "workspace",
}  # fmt: skip


@dataclass(frozen=True)
class Chosen:
    """How to open a cell; `reasons` explains what is missing for a stronger tier."""

    tier: Tier
    open: Opener | None
    reasons: tuple[str, ...] = ()


def canary(opener: Opener, extra_root: frozenset[str] = frozenset()) -> None:
    """Refused with what it saw, unless everything is as it must be."""
    limits = Limits(wall_seconds=30, cpu_seconds=20)
    job = Job(("python3", "-I", "-S", "-c", CANARY), limits=limits)
    conversation = converse(opener, job)
    try:
        conversation.send()
        result = conversation.result(lambda: False)
    finally:
        conversation.close()
    if result.status != "ok":
        words = result.stderr.decode(errors="replace").strip().splitlines()
        raise Refused(f"the canary ended with {result.status}: {words[-1] if words else ''}")
    _inspect(json.loads(result.stdout), extra_root)


def _inspect(seen: dict[str, Any], extra_root: frozenset[str]) -> None:
    wrong = [
        name
        for name, value in {
            "capabilities": 0, "no_new_privs": 1, "seccomp": 2, "first": 1, "interfaces": ["lo"],
        }.items()
        if seen[name] != value
    ]  # fmt: skip
    strange = set(seen["root"]) - EXPECTED_IN_ROOT - extra_root
    if wrong or strange:
        raise Refused(f"the canary was not contained: {', '.join([*wrong, *sorted(strange)])}")


class Choice:
    """Made once per process; a refusal is asked again after a while, for it may be repaired."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._chosen: Chosen | None = None
        self._again = 0.0
        os.register_at_fork(after_in_child=self._after_fork)

    def get(self) -> Chosen:
        with self._lock:
            found = self._chosen
            if found is None or (found.open is None and time.monotonic() > self._again):
                found = self._chosen = choose()
                self._again = time.monotonic() + RETRY_SECONDS
            return found

    def _after_fork(self) -> None:
        """Another thread may have held it; the machine is still the same one."""
        self._lock = threading.Lock()


def choose(namespaces: Opener = SHARED.open) -> Chosen:
    """Try the tiers from the strongest."""
    reasons: list[str] = []
    tiers: tuple[tuple[Tier, Opener], ...] = (
        ("namespaces", namespaces),
        ("bubblewrap", bubblewrap.open_cell),
    )
    for tier, opener in tiers:
        try:
            if tier == "bubblewrap":
                bubblewrap.try_it()
            canary(opener, roots_of_interpreter())
        except Refused as error:
            reasons += [f"{tier}: {reason}" for reason in error.reasons]
        except OSError as error:
            reasons.append(f"{tier}: {error}")
        else:
            return Chosen(tier, opener, tuple(reasons))
    return Chosen("none", None, tuple(reasons))


def roots_of_interpreter() -> frozenset[str]:
    return frozenset(path.split("/")[1] for path in interpreter.folders())


CHOICE = Choice()
