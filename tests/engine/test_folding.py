"""Folding and deciding over random histories: same bytes, same decision, never an exception."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omni.contracts.canonical import canonical
from omni.contracts.validation import validate_payload
from omni.engine.decide import DECIDERS, decide
from omni.engine.effects import Effect, Finish
from omni.engine.lifecycle import LEGAL, TERMINAL, Status, is_legal
from omni.engine.state import RunState, fold
from tests.engine.histories import RUN, Happened, histories

EXAMPLES = 500 * int(os.environ.get("OMNI_SOAK") or 0) or 120
many = settings(max_examples=EXAMPLES, deadline=None, derandomize=EXAMPLES < 1000)


def spelled(state: RunState) -> bytes:
    return canonical(state.as_json())


@pytest.mark.req("RUN-7")
@many
@given(histories(), st.data())
def test_folding_in_pieces_is_folding_at_once(history: list[Happened], data: st.DataObject) -> None:
    """A kept state plus what came later gives the very bytes of a fold from scratch."""
    cut = data.draw(st.integers(0, len(history)))
    kept = json.loads(spelled(fold(history[:cut])))
    resumed = fold(history[cut:], RunState.from_json(kept))
    assert spelled(resumed) == spelled(fold(history))


@pytest.mark.req("RUN-7")
@many
@given(histories())
def test_a_state_survives_being_stored(history: list[Happened]) -> None:
    state = fold(history)
    again = RunState.from_json(json.loads(spelled(state)))
    assert spelled(again) == spelled(state)
    assert again.last_seq == len(history)


@pytest.mark.req("RUN-7")
@many
@given(histories())
def test_folding_leaves_events_alone(history: list[Happened]) -> None:
    """A second fold over the same events must not see traces of the first."""
    before = [canonical(event.payload) for event in history]
    first = spelled(fold(history))
    decide(RUN, fold(history))
    assert [canonical(event.payload) for event in history] == before
    assert spelled(fold(history)) == first


@pytest.mark.req("RUN-8", "RUN-10")
@many
@given(histories())
def test_every_history_has_one_decision(history: list[Happened]) -> None:
    """Deterministic, total, without side effects; only an ended run has nothing to decide."""
    state = fold(history)
    before = spelled(state)
    effect = decide(RUN, state)
    assert spelled(state) == before
    assert decide(RUN, RunState.from_json(json.loads(before))) == effect
    assert (effect is None) == state.is_terminal
    assert effect is None or isinstance(effect, Effect)
    if isinstance(effect, Finish) and state.status == Status.RUNNING:
        assert is_legal(Status(state.status), effect.status)


@pytest.mark.req("RUN-9")
@many
@given(histories())
def test_a_cancelled_history_leads_only_to_its_end(history: list[Happened]) -> None:
    state = fold(history)
    if state.cancel_requested and not state.is_terminal:
        assert decide(RUN, state) == Finish(Status.CANCELLED, "cancelled")


@pytest.mark.req("RUN-2")
@settings(max_examples=60, deadline=None, derandomize=True)
@given(histories())
def test_the_histories_are_ones_that_the_log_accepts(history: list[Happened]) -> None:
    """Else the properties above would speak of something that cannot happen."""
    for event in history:
        if event.payload is not None:
            validate_payload(event.kind, event.name or None, event.payload)


@pytest.mark.req("RUN-7")
def test_a_gap_is_refused() -> None:
    """A fold that skipped an event would be wrong for ever after."""
    steps = [Happened(n, "system_event", "step_finished", {"step": "s"}) for n in (1, 3)]
    with pytest.raises(ValueError, match="does not follow"):
        fold(steps)


@pytest.mark.req("RUN-8")
def test_the_lifecycle_is_the_one_that_was_promised() -> None:
    """queued → running ⇄ waiting_permission, → done | failed | cancelled, and nothing else."""
    assert len(LEGAL) == 10
    assert not any(before in TERMINAL for before, _ in LEGAL)
    assert {before for before, after in LEGAL if after is Status.DONE} == {Status.RUNNING}
    for status in Status:
        ways_out = {after for before, after in LEGAL if before is status}
        assert (status in TERMINAL) == (not ways_out)
        assert status in TERMINAL or {Status.FAILED, Status.CANCELLED} <= ways_out
    assert sorted(DECIDERS) == ["echo", "plan", "script"]
