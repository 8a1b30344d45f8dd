"""Runs the hostile programs as an ordinary user: `root` starts it, it gives its rights up.

The checkout or Python may be below a folder that only root may enter; a private view shows them.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
UID = 4242


def run_as_ordinary_user(module: str, *words: str) -> Any:
    """What the module printed as JSON; only root may call it."""
    command = [sys.executable, "-m", "tests.sandbox.ordinary", module, *words]
    environment = {"PATH": os.environ["PATH"], "HOST_CANARY": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def _closed_above(path: Path) -> Path | None:
    """The outermost folder above it that others may not enter."""
    for place in reversed(path.parents):
        if not place.stat().st_mode & stat.S_IXOTH:
            return place
    return None


def drop() -> None:
    from omni.sandbox.cell import kernel

    kernel.unshare("mount")
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_SLAVE)
    wanted = {ROOT, Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve()}
    hidden = [(path, place) for path in sorted(wanted) if (place := _closed_above(path))]
    trees = [(path, kernel.open_tree(str(path))) for path, _ in hidden]
    for place in {place for _, place in hidden}:
        kernel.mount("tmpfs", str(place), "tmpfs", 0, "mode=0755,size=1m")
    for path, tree in trees:
        path.mkdir(parents=True, exist_ok=True)
        kernel.move_mount(tree, str(path))
    os.chdir(ROOT)
    os.setgroups([])
    os.setresgid(UID, UID, UID)
    os.setresuid(UID, UID, UID)
    os.execv(sys.executable, [sys.executable, "-m", "tests.sandbox.ordinary", "--", *sys.argv[1:]])


def everything() -> dict[str, Any]:
    from omni.sandbox.zygote import Zygote
    from tests.sandbox.machine import machine
    from tests.sandbox.programs import run_programs

    assert os.getuid() == UID
    zygote = Zygote()
    try:
        with machine() as env:
            return {name: asdict(one) for name, one in run_programs(zygote.open, env).items()}
    finally:
        zygote.close()


if __name__ == "__main__":
    if sys.argv[1] == "--":
        print(json.dumps(everything()))
    else:
        drop()
