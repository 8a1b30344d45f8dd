"""Workers that are killed at every event boundary and in every call, and workers that come back."""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.crew import ROUNDS, SOAK, Crew, environment, must_have, test_database_url
from tests.services.installation import eventually

pytestmark = pytest.mark.django_db(transaction=True)

ACTIONS: list[dict[str, Any]] = [
    {"do": "step"},
    {"do": "tool", "tool": "read", "idempotent": True},
    {"do": "tool", "tool": "pay"},
    {"do": "timer", "seconds": 0.02},
    {"do": "child", "input": {"actions": [{"do": "step"}, {"do": "tool", "tool": "post"}]}},
    {"do": "ask", "title": "Go on?"},
    {"do": "tool", "tool": "send"},
    {"do": "step", "output": "the last"},
]


@pytest.fixture
def crew(tmp_path: Path) -> Iterator[Crew]:
    with Crew(tmp_path, environment(test_database_url())) as crew:
        yield crew


def assert_all_ended_well(crew: Crew, runs: list[str], what: str) -> None:
    """Every parent and every child: done, gapless, verified, nothing twice."""
    found = crew.judge(runs)
    assert [one for one in found if one["wrong"]] == [], what
    assert [one for one in found if one["status"] != "done" or not one["settled"]] == [], what
    assert [one["steps"] for one in found] == [len(ACTIONS)] * len(runs) + [2] * len(runs), what


def points(crew: Crew) -> dict[str, int]:
    """How many appends and calls an undisturbed run has, over all its lives."""
    run = crew.ask("make", actions=ACTIONS)
    counts: dict[str, int] = {}
    for _ in range(3):
        answer = crew.live(run)
        assert answer["state"] == "done", answer
        for place, count in answer["result"]["counts"].items():
            counts[place] = counts.get(place, 0) + count
        if not crew.ask("answer", runs=run):
            break
    assert_all_ended_well(crew, run, "undisturbed")
    return counts


def die(crew: Crew, run: str, fault: str) -> bool:
    """One worker of this run dies at this point; answers whether it did."""
    answer = crew.live([run], fault)
    if answer["state"] == "done" and crew.ask("answer", runs=[run]):
        # The point lies behind a question that somebody must answer first.
        place, number, *rest = fault.split(":")
        passed = answer["result"]["counts"].get(place, 0)
        answer = crew.live([run], ":".join([place, str(int(number) - passed), *rest]))
    if answer["state"] == "killed":
        assert answer["signal"] == signal.SIGKILL
        crew.ask("step_clock")
        return True
    return False


@pytest.mark.req("RUN-10", "RUN-11", "OPS-1")
def test_a_worker_killed_at_any_event_or_in_any_call_loses_and_repeats_nothing(crew: Crew) -> None:
    """kill -9 behind each append, in front of each, and before and after each effect."""
    counts = points(crew)
    assert counts["append"] >= 20 and counts["call"] == 4
    faults = [f"append:{n}:after:kill" for n in range(1, counts["append"])]
    faults += [f"append:{n}:before:kill" for n in range(1, counts["append"] + 1, 1 if SOAK else 5)]
    faults += [f"call:{n}:{side}:kill" for n in range(1, 5) for side in ("before", "after")]
    runs = crew.ask("make", actions=ACTIONS, count=len(faults))
    missed = [f for f, run in zip(faults, runs, strict=True) if not die(crew, run, f)]
    must_have(not missed, f"the death at {missed}")
    crew.finish(runs)
    assert_all_ended_well(crew, runs, "killed once")


@pytest.mark.req("RUN-10", "RUN-11")
def test_workers_that_die_one_after_the_other(crew: Crew) -> None:
    """Recovery itself is interrupted, at random points; the seed is printed when it fails."""
    seed = random.SystemRandom().randrange(1 << 30) if SOAK else 20
    chance = random.Random(seed)
    runs = crew.ask("make", actions=ACTIONS, count=6 * ROUNDS or 5)
    deaths = 0
    for run in runs:
        for _ in range(3):
            side = chance.choice(["before", "after"])
            deaths += die(crew, run, f"append:{chance.randint(1, 6)}:{side}:kill")
    must_have(deaths > len(runs), f"dying more than once (seed {seed})")
    crew.finish(runs)
    assert_all_ended_well(crew, runs, f"seed {seed}")


def zombie(crew: Crew, *, fenced: bool) -> list[dict[str, Any]]:
    """One worker freezes in the middle of an answer; another takes over; the first wakes up."""
    run = crew.ask("make", run_kind="echo", text="one two three four five six")
    first = crew.start(run, "piece:3:after:stop", fenced=fenced)
    must_have(crew.wait(first)["state"] == "frozen", "freezing the first worker")
    # Its lease of one second runs out by itself; the second freezes too, holding the run.
    second = crew.start(run, "piece:3:after:stop")
    must_have(crew.wait(second)["state"] == "frozen", "another worker taking over")
    crew.order("signal", pid=first, signal=signal.SIGCONT)
    outcome = crew.wait(first)
    crew.order("signal", pid=second, signal=signal.SIGCONT)
    crew.wait(second)
    crew.finish(run)
    found = crew.judge(run)
    if fenced:
        assert outcome["result"]["outcomes"] == ["fenced"], outcome
    return found


def wrote_after_losing(found: list[dict[str, Any]]) -> bool:
    """Whether the first worker appears in the log behind the second one."""
    workers = [actor for actor in found[0]["actors"] if actor.startswith("worker:")]
    order = list(dict.fromkeys(workers))
    must_have(len(order) >= 2, "a second worker writing")
    return order[0] in workers[workers.index(order[1]) :]


@pytest.mark.req("RUN-10", "OPS-1")
def test_a_worker_that_wakes_up_after_its_lease_cannot_write(crew: Crew) -> None:
    found = zombie(crew, fenced=True)
    assert not wrote_after_losing(found)
    assert found[0]["status"] == "done" and found[0]["wrong"] == []


@pytest.mark.req("RUN-10")
def test_without_the_fence_it_would_write(crew: Crew) -> None:
    """The negative control: the scenario above is able to fail."""
    assert wrote_after_losing(zombie(crew, fenced=False))


@pytest.mark.req("RUN-10", "OPS-1")
def test_a_clock_that_jumps_ahead_makes_no_second_effect(crew: Crew) -> None:
    """All leases end at once while a call is under way: the call still takes place only once."""
    run = crew.ask("make", actions=[{"do": "tool", "tool": "pay", "arguments": {"seconds": 0.5}}])
    first = crew.start(run, "call:1:before:stop")
    must_have(crew.wait(first)["state"] == "frozen", "freezing inside the call")
    must_have(crew.ask("step_clock"), "the lease ending")
    assert crew.live(run)["state"] == "done"
    crew.order("signal", pid=first, signal=signal.SIGCONT)
    assert crew.wait(first)["result"]["outcomes"] == ["fenced"]
    crew.finish(run)
    found = crew.judge(run)
    assert found[0]["wrong"] == [] and found[0]["status"] == "done"
    assert "tool_error" in found[0]["names"] and "tool_result" not in found[0]["names"]


@pytest.mark.req("RUN-10", "OPS-1")
@pytest.mark.parametrize("hours", [1, -1])
def test_a_workers_own_clock_may_be_wrong(crew: Crew, hours: int) -> None:
    """Leases, timers and the times of events follow the database's clock."""
    run = crew.ask("make", actions=ACTIONS)
    for _ in range(3):
        assert crew.live(run, skew=hours * 3600)["state"] == "done"
        if not crew.ask("answer", runs=run):
            break
    assert_all_ended_well(crew, run, f"{hours} hours off")
    assert crew.ask("farthest_time", runs=run) < 1800


@pytest.mark.req("RUN-10", "OPS-1")
def test_a_worker_that_is_ahead_of_time_takes_nothing_away(tmp_path: Path) -> None:
    """Two workers want one lease: to the second it seems long over, to the database it is not."""
    variables = environment(test_database_url(), OMNI_LEASE_SECONDS="120")
    with Crew(tmp_path, variables) as crew:
        hold = {"do": "tool", "tool": "pay", "arguments": {"until": "go"}}
        run = crew.ask("make", actions=[hold])
        first = crew.start(run)
        eventually(lambda: crew.ask("begun", runs=run))
        second = crew.live(run, skew=3600, seconds=0.5)
        must_have(second["result"]["outcomes"], "trying to take the run")
        assert set(second["result"]["outcomes"]) == {"busy or ended"}
        (tmp_path / "go").touch()
        assert crew.wait(first)["state"] == "done"
        found = crew.judge(run)
    assert found[0]["wrong"] == [] and found[0]["status"] == "done"
    assert "lease_taken" not in found[0]["names"]
