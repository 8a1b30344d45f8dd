"""Finds out what isolation this machine can really offer, with a job that looks around inside."""

from __future__ import annotations

import socket
import threading
import time
from dataclasses import dataclass

from omni.sandbox import cgroup
from omni.sandbox.cell import landlock
from omni.sandbox.shapes import Job
from omni.sandbox.tier import RETRY_SECONDS, Chosen, Tier, choose
from omni.sandbox.zygote import Zygote


@dataclass(frozen=True)
class Isolation:
    """`reasons` explains a tier that is not the best; `extras` lists what strengthens it."""

    tier: Tier
    reasons: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """Layers that this machine does not offer; the others hold without them."""


def probe() -> Isolation:
    """Takes a fraction of a second, and leaves nothing running."""
    made: list[Zygote] = []

    def cold(job: Job) -> socket.socket:
        made.append(Zygote())
        return made[-1].open(job)

    try:
        return _describe(choose(cold))
    finally:
        for zygote in made:
            zygote.close()


def _describe(chosen: Chosen) -> Isolation:
    if chosen.tier == "none":
        return Isolation("none", chosen.reasons)
    extras, missing = ["seccomp"], []
    if version := landlock.version():
        extras.append(f"Landlock ABI {version}")
    else:
        missing.append("Landlock")
    if cgroup.writable():
        extras.append("cgroup limits")
    else:
        missing.append("cgroup limits (a watchdog measures memory instead)")
    if chosen.tier == "bubblewrap":
        missing.append("a limit on the number of files")
    return Isolation(chosen.tier, chosen.reasons, tuple(extras), tuple(missing))


_lock = threading.Lock()
_known: tuple[float, Isolation] | None = None


def known() -> Isolation:
    """The same for pages: asked once, and again later when it was not the best."""
    global _known
    with _lock:
        if _known is None or (_known[1].reasons and time.monotonic() > _known[0] + RETRY_SECONDS):
            _known = time.monotonic(), probe()
        return _known[1]
