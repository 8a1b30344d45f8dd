"""As whom the embedded servers run: as we are, or for root as a user who owns nothing else."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
from pathlib import Path

from omni.services.launch import NOBODY
from omni.services.program import UNCONFINED, Confinement, Program, start

# Above every range that systems hand out to people, services and containers.
FIRST_UID, UIDS = 1_900_000_000, 200_000_000


def confinement_for_root(home: Path, server: Path) -> Confinement | None:
    """How this server can run here; None when root has no way to give up its rights."""
    if os.geteuid() != 0:
        return UNCONFINED
    ways = [Confinement("view", uid_of(home))]
    if _others_may_enter(home.resolve().parent):
        # Without a view of its own the server must have a name that the machine knows.
        ways.append(Confinement("user", NOBODY))
    ways.append(Confinement("namespace"))
    return next((way for way in ways if _works(way, home, server)), None)


def uid_of(home: Path) -> int:
    """A number of its own for each installation; nobody's where containers know few numbers."""
    number = int.from_bytes(hashlib.sha256(os.fsencode(home)).digest()[:8], "big")
    uid = FIRST_UID + number % UIDS
    return uid if _is_mapped(uid) else NOBODY


def _is_mapped(uid: int) -> bool:
    for name in ("uid_map", "gid_map"):
        rows = [line.split() for line in Path(f"/proc/self/{name}").read_text().splitlines()]
        if not any(int(first) <= uid < int(first) + int(count) for first, _, count in rows):
            return False
    return True


def _others_may_enter(folder: Path) -> bool:
    return all(
        place.stat().st_mode & stat.S_IXOTH for place in (folder, *folder.parents) if place.exists()
    )


def _works(confinement: Confinement, home: Path, server: Path) -> bool:
    probe = Program(
        name="probe",
        argv=(str(server), "--version"),
        cwd=Path("/"),
        confinement=confinement,
        folders=(home.resolve(),) if home.exists() else (),
    )
    child = start(probe, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return child.wait(timeout=20) == 0
