"""Every layer matters: without it, a program gets through that is contained otherwise."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from omni.sandbox.job import Refused
from omni.sandbox.tier import canary
from omni.sandbox.zygote import Zygote
from tests.sandbox.machine import machine
from tests.sandbox.programs import BY_NAME, Outcome, Program, run_program

pytestmark = [pytest.mark.req("SBX-1", "SBX-4"), pytest.mark.xdist_group("sandbox")]

MB = 1 << 20
# Like the hostile ones, but they end by themselves where nothing stops them.
BOUNDED = [
    Program(
        "processes",
        """
import time
children = []
for _ in range(9):
    children.append(os.fork())
    if not children[-1]:
        time.sleep(60)
time.sleep(0.3)
verdict(True)
""",
        status="process_limit",
        limits={"processes": 4},
    ),
    Program(
        "memory",
        """
import time
kept = bytearray(b"x" * (160 << 20))
time.sleep(0.3)
verdict(True)
""",
        status="memory_limit",
        limits={"memory_bytes": 64 * MB},
    ),
    Program(
        "time",
        "import time\ntime.sleep(1)\nverdict(True)",
        status="timeout",
        limits={"wall_seconds": 0.2},
    ),
    Program(
        "file",
        "open('large', 'wb').write(b'x' * (8 << 20))\nverdict(True)",
        status="file_limit",
        limits={"file_bytes": 4 * MB},
    ),
    Program(
        "disk",
        """
for number in range(12):
    open(f"fill{number}", "wb").write(b"x" * (1 << 20))
verdict(True)
""",
        status="disk_limit",
        limits={"disk_bytes": 8 * MB},
    ),
    Program(
        "inodes",
        """
for number in range(300):
    open(f"f{number}", "w").close()
verdict(True)
""",
        status="disk_limit",
        limits={"inodes": 200},
    ),
]
KNOWN = {**BY_NAME, **{program.name: program for program in BOUNDED}}
# What is left out, and what then gets through.
PROOFS = [
    (("seccomp",), "kernel: unshare user"),
    (("seccomp",), "kernel: io_uring"),
    (("seccomp",), "kernel: shmget"),
    (("seccomp",), "kernel: keyctl"),
    (("seccomp",), "kernel: ptrace"),
    (("seccomp",), "network: other families"),
    (("seccomp",), "processes: killing the supervisor"),
    (("net",), "network: the machine's own ports"),
    (("net", "landlock"), "network: abstract sockets"),
    (("root",), "files: of the machine"),
    (("readonly", "landlock"), "files: writing to the system"),
    (("descriptors",), "descriptors: inherited"),
    (("dumpable",), "processes: looking into the supervisor"),
    (("dumpable", "environment"), "environment: of the platform"),
    (("rlimits", "watchdog"), "processes"),
    (("watchdog",), "memory"),
    (("watchdog",), "time"),
    (("rlimits",), "file"),
    (("disk",), "disk"),
    (("disk",), "inodes"),
]


class Cells:
    """One zygote for each combination of layers that was asked for."""

    def __init__(self, env: dict[str, str]) -> None:
        self._env = env
        self._made: dict[tuple[str, ...], Zygote] = {}

    def run(self, without: tuple[str, ...], name: str) -> Outcome:
        if without not in self._made:
            given = {"HOST_CANARY": "1"} if "environment" in without else None
            self._made[without] = Zygote(frozenset(without), given)
        return run_program(self._made[without].open, KNOWN[name], self._env)

    def close(self) -> None:
        for zygote in self._made.values():
            zygote.close()


@pytest.fixture(scope="module")
def cells() -> Iterator[Cells]:
    with machine() as env:
        made = Cells(env)
        yield made
        made.close()


@pytest.mark.parametrize("name", [program.name for program in BOUNDED])
def test_with_every_layer_it_is_contained(name: str, cells: Cells) -> None:
    outcome = cells.run((), name)
    assert outcome.contained(KNOWN[name]), outcome


@pytest.mark.parametrize(("without", "name"), PROOFS)
def test_without_the_layer_it_gets_through(
    without: tuple[str, ...], name: str, cells: Cells
) -> None:
    outcome = cells.run(without, name)
    assert not outcome.contained(KNOWN[name]), outcome


@pytest.mark.parametrize("one", ["readonly", "landlock"])
def test_one_of_two_is_enough(one: str, cells: Cells) -> None:
    """Read-only mounts and Landlock stand in for each other."""
    name = "files: writing to the system"
    outcome = cells.run((one,), name)
    assert outcome.contained(KNOWN[name]), outcome


@pytest.mark.req("SBX-2")
@pytest.mark.parametrize(
    ("layer", "named"), [("seccomp", "seccomp"), ("capabilities", "capabilities"), ("net", "inter")]
)
def test_the_canary_notices_a_missing_layer(layer: str, named: str) -> None:
    """It looks around from inside, so a layer that fails without a word is not missed."""
    zygote = Zygote(frozenset({layer}))
    try:
        with pytest.raises(Refused, match=f"not contained: .*{named}"):
            canary(zygote.open, frozenset(os.listdir("/")))
    finally:
        zygote.close()
