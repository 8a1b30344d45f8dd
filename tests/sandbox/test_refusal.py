"""Where the machine cannot isolate, nothing runs, and the reason is said."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from omni.sandbox import cgroup
from omni.sandbox.cell import filter as seccomp
from omni.sandbox.probe import probe

pytestmark = [pytest.mark.req("SBX-2"), pytest.mark.xdist_group("sandbox")]

ROOT = Path(__file__).resolve().parents[2]

# A process that may not make namespaces, as in most containers; its children inherit that.
FORBIDDEN = """
import errno, json, pathlib, sys
from omni.sandbox.cell import filter as seccomp, kernel
number, code, mark = int(sys.argv[1]), getattr(errno, sys.argv[2]), sys.argv[3]
steps = [seccomp._step(seccomp.LOAD, seccomp.NUMBER),
         *seccomp._answer(number, seccomp.ERRNO | code),
         seccomp._step(seccomp.RETURN, seccomp.ALLOW)]
program = seccomp._Program(len(steps), b"".join(steps))
kernel.prctl("", kernel.PR_SET_NO_NEW_PRIVS, 1)
import ctypes
kernel.prctl("", kernel.PR_SET_SECCOMP, 2, ctypes.byref(program))
from omni.sandbox.job import Job, Refused, run
from omni.sandbox.probe import probe
try:
    run(Job(("touch", mark)))
    print(json.dumps(None))
except Refused as refused:
    print(json.dumps({"reasons": refused.reasons, "data": refused.data, "tier": probe().tier}))
"""
UNSHARE = {"x86_64": 272, "aarch64": 97}
SECCOMP_PRCTL = {"x86_64": 157, "aarch64": 167}


@pytest.mark.parametrize(
    ("call", "code", "named"),
    [
        ("unshare", "EPERM", "user namespace: Operation not permitted"),
        ("open_tree", "ENOSYS", "Function not implemented"),
        ("mount_setattr", "ENOSYS", "Function not implemented"),
        ("mount", "EPERM", "Operation not permitted"),
    ],
)
def test_a_machine_that_refuses_a_step(call: str, code: str, named: str, tmp_path: Path) -> None:
    column = 0 if seccomp.MACHINE == "x86_64" else 1
    known = {**seccomp.KILLED, **{name: row[:2] for name, row in seccomp.REFUSED.items()}}
    mark = tmp_path / "ran"
    words = [str(known[call][column]), code, str(mark)]
    done = subprocess.run(
        [sys.executable, "-c", FORBIDDEN, *words], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said is not None, "it ran"
    assert said["tier"] == "none"
    assert said["data"]["code"] == "sandbox_unavailable"
    assert any(named in reason for reason in said["reasons"]), said
    assert any(reason.startswith("bubblewrap: ") for reason in said["reasons"]), said
    assert not mark.exists()


def test_the_probe_names_what_is_there_and_what_is_not() -> None:
    found = probe()
    assert found.tier in ("namespaces", "bubblewrap")
    assert "seccomp" in found.extras
    assert ("cgroup limits" in found.extras) == cgroup.writable()
    assert bool(found.reasons) == (found.tier != "namespaces")


def test_no_control_group_is_left_behind() -> None:
    """Neither those of jobs nor those of cells that waited in vain."""
    code = (
        "import os\n"
        "from omni.sandbox.job import Job, run\n"
        "assert run(Job(('true',))).status == 'ok'\n"
        "print(os.getpid())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    mine = f"{cgroup.PREFIX}{int(done.stdout)}-*"
    assert [path for parent in cgroup.parents() for path in Path(parent).glob(mine)] == []
