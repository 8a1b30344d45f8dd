"""Finds out what isolation this machine can really offer, with a job that looks around inside."""

from __future__ import annotations

from dataclasses import dataclass

from omni.sandbox import cgroup
from omni.sandbox.cell import landlock
from omni.sandbox.tier import CHOICE, Tier


@dataclass(frozen=True)
class Isolation:
    """`reasons` explains a tier that is not the best; `extras` lists what strengthens it."""

    tier: Tier
    reasons: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """Layers that this machine does not offer; the others hold without them."""


def probe() -> Isolation:
    """The tier that jobs get in this process; takes a fraction of a second the first time."""
    chosen = CHOICE.get()
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
