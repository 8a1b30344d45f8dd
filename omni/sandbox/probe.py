"""Finds out what isolation this machine can really offer, by trying it in a throw-away process."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from omni.sandbox import trial

Tier = Literal["namespaces", "bubblewrap", "none"]

SECONDS = 10
LANDLOCK_CREATE_RULESET = 444
LANDLOCK_VERSION = 1
PR_GET_SECCOMP = 21


@dataclass(frozen=True)
class Isolation:
    """`reasons` explains a tier that is not the best; `extras` lists what strengthens it."""

    tier: Tier
    reasons: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()


def probe() -> Isolation:
    """Try the tiers from the strongest; takes a fraction of a second."""
    problem = _try_namespaces()
    extras = _extras()
    if not problem and _seccomp():
        return Isolation("namespaces", extras=extras)
    reasons = [problem] if problem else ["the kernel has no seccomp filter"]
    refused = _try_bubblewrap()
    if not refused:
        return Isolation("bubblewrap", tuple(reasons), extras)
    return Isolation("none", (*reasons, refused), extras)


def _try_namespaces() -> str:
    return _trial([sys.executable, "-I", "-S", trial.__file__])


def _try_bubblewrap() -> str:
    program = shutil.which("bwrap")
    if program is None:
        return "bubblewrap is not installed"
    arguments = ["--unshare-all", "--die-with-parent", "--cap-drop", "ALL", "--ro-bind", "/", "/"]
    said = _trial([program, *arguments, "--", "/bin/echo", "ok"])
    return f"bubblewrap: {said}" if said else ""


def _trial(command: list[str]) -> str:
    """Empty when it said ok, else what it said."""
    try:
        result = subprocess.run(  # noqa: S603  (our own argument vectors)
            command, capture_output=True, text=True, timeout=SECONDS, env={}, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    if result.returncode == 0 and result.stdout.strip() == "ok":
        return ""
    lines = (result.stdout + result.stderr).strip().splitlines()
    return lines[-1] if lines else f"exit code {result.returncode}"


def _extras() -> tuple[str, ...]:
    found = []
    if _seccomp():
        found.append("seccomp")
    if abi := _landlock_abi():
        found.append(f"Landlock ABI {abi}")
    if _cgroup_writable():
        found.append("cgroup limits")
    return tuple(found)


def _seccomp() -> bool:
    libc = ctypes.CDLL(None, use_errno=True)
    return int(libc.prctl(PR_GET_SECCOMP, 0, 0, 0, 0)) >= 0


def _landlock_abi() -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, int(libc.syscall(LANDLOCK_CREATE_RULESET, None, 0, LANDLOCK_VERSION)))


def _cgroup_writable() -> bool:
    """Only making a group shows it: the files' modes say nothing in a container."""
    try:
        own = Path("/proc/self/cgroup").read_text().strip().splitlines()[-1].split(":", 2)[2]
        group = Path("/sys/fs/cgroup", own.lstrip("/"), f"omni-probe-{os.getpid()}")
        group.mkdir()
        group.rmdir()
    except (OSError, IndexError):
        return False
    return True
