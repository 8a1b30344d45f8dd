"""What a supervised program is, and the one way to start it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from omni.services import binaries, launch

# Written into the environment of everything we start, so that a later start can find what an
# earlier one left behind.
MARK = "SUPERVISED_OMNI_HOME"


@dataclass(frozen=True)
class Confinement:
    """`view`: another user who sees only his folders. `user`: another user. `namespace`: without
    capabilities, but still the owner of root's files; the last resort."""

    way: Literal["none", "view", "user", "namespace"] = "none"
    uid: int = 0

    @property
    def is_other_user(self) -> bool:
        return self.way in ("view", "user")


UNCONFINED = Confinement()


@dataclass(frozen=True, kw_only=True)
class Program:
    name: str
    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    confinement: Confinement = UNCONFINED
    # What a confined program must reach besides its own installation.
    folders: tuple[Path, ...] = ()
    stop_signal: signal.Signals = signal.SIGTERM
    stop_seconds: float = 10.0
    death_signal: signal.Signals = signal.SIGKILL


def start(
    program: Program, *, stdout: int, stderr: int = subprocess.STDOUT
) -> subprocess.Popen[bytes]:
    """Start it in its own session; call from the main thread, whose end would end the program."""
    launcher = [sys.executable, "-I", "-S", launch.__file__]
    plan = [str(os.getpid()), str(int(program.death_signal)), *_confining(program)]
    return subprocess.Popen(  # noqa: S603  (our own argument vectors)
        [*launcher, *plan, *program.argv],
        cwd=program.cwd,
        env=dict(program.env),
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
    )


def _confining(program: Program) -> list[str]:
    confinement = program.confinement
    folders: list[Path] = []
    if confinement.way == "view":
        folders = [*program.folders, binaries.installation(program.argv[0])]
    return [confinement.way, str(confinement.uid), str(len(folders)), *map(str, folders)]


def signal_group(pid: int, number: signal.Signals) -> None:
    """Signal a started program with everything it forked; it leads its own process group."""
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def stop(program: Program, child: subprocess.Popen[bytes]) -> int:
    """Ask, wait, then kill the group; answers the exit status."""
    if child.poll() is None:
        child.send_signal(program.stop_signal)
        try:
            child.wait(timeout=program.stop_seconds)
        except subprocess.TimeoutExpired:
            signal_group(child.pid, signal.SIGKILL)
            child.wait(timeout=10)
    signal_group(child.pid, signal.SIGKILL)
    return child.returncode
