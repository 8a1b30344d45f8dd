"""From the folded history to the next effect. Pure: the same state gives the same answer."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from omni.engine.effects import CallTool, Effect, Finish, SettleUnknown, Wait
from omni.engine.lifecycle import Status
from omni.engine.plan import check_plan, decide_plan
from omni.engine.script import decide_script
from omni.engine.state import RunState
from omni.engine.talk import decide_echo

Decider = Callable[[uuid.UUID, RunState], Effect]

DECIDERS: dict[str, Decider] = {"echo": decide_echo, "plan": decide_plan, "script": decide_script}
CHECKS: dict[str, Callable[[dict[str, Any]], None]] = {"plan": check_plan}
"""What refuses an input before a run is made."""


def decide(run_id: uuid.UUID, state: RunState) -> Effect | None:
    """The next effect of a run, or None when it has ended."""
    if state.is_terminal:
        return None
    if state.cancel_requested:
        return Finish(Status.CANCELLED, "cancelled")
    unsettled = _recover(state)
    if unsettled is not None:
        return unsettled
    if state.waits_for:
        return Wait(state.waits_for)
    decider = DECIDERS.get(state.run_kind)
    if decider is None:
        return Finish(Status.FAILED, f"nothing here knows how to run “{state.run_kind}”")
    try:
        return decider(run_id, state)
    except Exception as error:  # noqa: BLE001  (the same state would fail again, for ever)
        # Not its text: that may differ between a state as folded and the same state as kept.
        return Finish(Status.FAILED, f"its input makes no sense ({type(error).__name__})")


def _recover(state: RunState) -> Effect | None:
    """A recorded call without an outcome means that a worker died in the middle of it."""
    # By id: a kept state has its keys in another order, and the decision must not depend on it.
    for call_id, call in sorted(state.pending_calls.items()):
        if call["effect"] == "tool" and call["idempotent"]:
            return CallTool(
                call_id,
                call["tool"],
                call["arguments"],
                idempotent=True,
                repeat=True,
                version=call["version"],
            )
        return SettleUnknown(call_id, call["effect"])
    return None
