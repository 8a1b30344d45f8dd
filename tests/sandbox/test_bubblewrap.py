"""The second tier, where bubblewrap is installed: the same programs, contained the same way."""

from __future__ import annotations

import os
import shutil

import pytest

from omni.sandbox import bubblewrap
from omni.sandbox.tier import canary, roots_of_interpreter
from tests.sandbox.machine import machine
from tests.sandbox.ordinary import run_as_ordinary_user
from tests.sandbox.programs import BY_NAME, Outcome, run_programs

if shutil.which("bwrap") is None:
    pytest.skip("bubblewrap is not installed", allow_module_level=True)

pytestmark = [pytest.mark.req("SBX-1", "SBX-2"), pytest.mark.xdist_group("sandbox")]

# What this tier does not offer; `omni doctor` names it.
WEAKER = {"files: of the machine", "resources: number of files"}


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    """As an ordinary user: for root it works only where everybody can reach Python."""
    if os.geteuid() == 0:
        said = run_as_ordinary_user("bubblewrap")
        return {name: Outcome(**one) for name, one in said.items()}
    canary(bubblewrap.open_cell, roots_of_interpreter())
    with machine() as env:
        return run_programs(bubblewrap.open_cell, env)


@pytest.mark.parametrize("name", sorted(BY_NAME.keys() - WEAKER))
def test_it_is_contained(name: str, outcomes: dict[str, Outcome]) -> None:
    assert outcomes[name].contained(BY_NAME[name]), outcomes[name]


def test_of_the_machine_only_its_description_is_seen(outcomes: dict[str, Outcome]) -> None:
    """/proc has files about the kernel and the processor here, and nothing else."""
    said = outcomes["files: of the machine"].stdout
    found = said.removeprefix("escaped").strip()
    assert set(eval(found)) <= {"/proc/sys/kernel", "/proc/cpuinfo", "/proc/kcore"}, said
