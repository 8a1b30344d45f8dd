"""Hostile programs: each is contained and ends with its own status, for root and for anybody."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from omni.sandbox.zygote import Zygote
from tests.sandbox.machine import machine
from tests.sandbox.ordinary import run_as_ordinary_user
from tests.sandbox.programs import BY_NAME, Outcome, run_programs

pytestmark = [pytest.mark.req("SBX-1", "SBX-4"), pytest.mark.xdist_group("sandbox")]

AS_ROOT = os.geteuid() == 0


@pytest.fixture(scope="module")
def as_we_are() -> Iterator[dict[str, Outcome]]:
    os.environ["HOST_CANARY"] = "1"
    zygote = Zygote()
    try:
        with machine() as env:
            yield run_programs(zygote.open, env)
    finally:
        zygote.close()
        del os.environ["HOST_CANARY"]


@pytest.fixture(scope="module")
def as_ordinary_user() -> dict[str, Outcome]:
    return {name: Outcome(**said) for name, said in run_as_ordinary_user("all").items()}


@pytest.mark.parametrize("name", BY_NAME)
def test_it_is_contained(name: str, as_we_are: dict[str, Outcome]) -> None:
    outcome = as_we_are[name]
    assert outcome.contained(BY_NAME[name]), outcome


@pytest.mark.skipif(not AS_ROOT, reason="the test above ran as an ordinary user already")
@pytest.mark.parametrize("name", BY_NAME)
def test_it_is_contained_for_an_ordinary_user(
    name: str, as_ordinary_user: dict[str, Outcome]
) -> None:
    outcome = as_ordinary_user[name]
    assert outcome.contained(BY_NAME[name]), outcome
