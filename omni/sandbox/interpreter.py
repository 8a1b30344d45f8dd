"""Where the Python of the sandbox is, and how programs are started with it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from omni.sandbox.shapes import Refused

ROOT = Path(__file__).resolve().parents[2]
# Above what systems hand out to people, services and containers.
OWN_UID, NOBODY = 2_110_000_000, 65534
BOOT = (
    "import sys; sys.path.insert(0, sys.argv[1]); import importlib; "
    "importlib.import_module(sys.argv[2]).main(*map(int, sys.argv[3:]))"
)


def executable() -> str:
    """Of the installation, not of a virtual environment: its packages are not for jobs."""
    return str(getattr(sys, "_base_executable", "") or sys.executable)


def folders() -> list[str]:
    """What it needs to run, outermost first; usually one, and none when it is below /usr."""
    real = os.path.realpath(executable())
    found = {sys.base_prefix, sys.base_exec_prefix, os.path.dirname(os.path.dirname(real))}
    found |= {os.path.realpath(path) for path in found}
    wanted = sorted(path for path in found if not path.startswith("/usr/") and path != "/usr")
    for path in wanted:
        if path in ("/", "/home", "/etc", "/var", os.path.expanduser("~")):
            raise Refused(f"Python is installed directly in {path}, with everything else there")
    return wanted


def path_variable() -> str:
    places = [os.path.dirname(executable()), "/usr/local/bin", "/usr/bin", "/bin"]
    return ":".join(dict.fromkeys(places))


def boot(module: str, *numbers: int) -> list[str]:
    """Start one of our modules with the standard library and nothing else."""
    words = [str(ROOT), module, *map(str, numbers)]
    return [executable(), "-I", "-S", "-c", BOOT, *words]


def unprivileged_uid() -> int:
    """Who root becomes: a number of our own, or nobody where containers know few numbers."""
    rows = [line.split() for line in Path("/proc/self/uid_map").read_text().splitlines()]
    known = any(int(first) <= OWN_UID < int(first) + int(count) for first, _, count in rows)
    return OWN_UID if known else NOBODY
