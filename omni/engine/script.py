"""A run that carries out a list of recorded actions, one step each; the simplest real behaviour."""

from __future__ import annotations

import uuid
from typing import Any

from omni.engine.effects import (
    Ask,
    CallModel,
    CallTool,
    Effect,
    Finish,
    RunStep,
    SetTimer,
    StartChild,
    plain_text,
)
from omni.engine.lifecycle import Status
from omni.engine.state import RunState


def decide_script(run_id: uuid.UUID, state: RunState) -> Effect:
    """`input`: {"steps": n} for n plain steps, or {"actions": [{"do": …}, …]}."""
    actions: list[dict[str, Any]] = state.input.get("actions", [])
    total = len(actions) or int(state.input.get("steps", 0))
    step = state.steps_done + 1
    if step > total:
        return Finish(Status.DONE, result={"steps": total})
    if not actions:
        return RunStep(step)
    action = actions[step - 1]
    return _ACTIONS[action["do"]](str(uuid.uuid5(run_id, f"step-{step}")), step, action, state)


def _step(key: str, step: int, action: dict[str, Any], state: RunState) -> Effect:
    return RunStep(step, action.get("output"))


def _tool(key: str, step: int, action: dict[str, Any], state: RunState) -> Effect:
    settled = state.settled_calls.get(key)
    if settled is None:
        return CallTool(
            key, action["tool"], action.get("arguments", {}), action.get("idempotent", False)
        )
    if settled["ok"] or action.get("on_error") == "continue":
        return RunStep(step, settled.get("output"))
    if settled["category"] == "outcome_unknown":
        return _after_answer(f"{key}", step, action, state, settled)
    return Finish(Status.FAILED, f"step {step}: {settled['message']}")


def _after_answer(
    key: str, step: int, action: dict[str, Any], state: RunState, settled: dict[str, Any]
) -> Effect:
    """What happened is unknown, so a person says how to go on."""
    question = str(uuid.uuid5(uuid.UUID(key), "outcome-unknown"))
    answer = state.settled_approvals.get(question)
    if answer is None:
        return Ask(
            question,
            f"The outcome of {action['tool']} is unknown: go on as if it had worked?",
            {"tool": action["tool"], "arguments": action.get("arguments", {})},
            ("continue", "fail"),
        )
    if answer == "continue":
        return RunStep(step, None)
    return Finish(Status.FAILED, f"step {step}: {settled['message']}")


def _model(key: str, step: int, action: dict[str, Any], state: RunState) -> Effect:
    settled = state.settled_calls.get(key)
    if settled is None:
        message = {"role": "user", "text": plain_text(action.get("text", ""))}
        return CallModel(
            key, str(uuid.uuid5(uuid.UUID(key), "message")), action.get("model", "echo"), [message]
        )
    if settled["ok"]:
        return RunStep(step)
    return Finish(Status.FAILED, f"step {step}: {settled['message']}")


def _ask(key: str, step: int, action: dict[str, Any], state: RunState) -> Effect:
    answer = state.settled_approvals.get(key)
    if answer is None:
        return Ask(key, action["title"], action.get("detail", {}), seconds=action.get("seconds"))
    if answer == "approve":
        return RunStep(step, answer)
    return Finish(Status.FAILED, f"step {step}: the answer was “{answer}”")


def _timer(key: str, step: int, action: dict[str, Any], state: RunState) -> Effect:
    if key not in state.fired_timers:
        return SetTimer(key, float(action["seconds"]))
    return RunStep(step)


def _child(key: str, step: int, action: dict[str, Any], state: RunState) -> Effect:
    outcome = state.finished_children.get(key)
    if outcome is None:
        child = str(uuid.uuid5(uuid.UUID(key), "child"))
        return StartChild(key, child, action.get("run_kind", "script"), action.get("input", {}))
    if outcome == Status.DONE or action.get("on_error") == "continue":
        return RunStep(step, outcome)
    return Finish(Status.FAILED, f"step {step}: the child run ended as {outcome}")


_ACTIONS = {
    "step": _step,
    "tool": _tool,
    "model": _model,
    "ask": _ask,
    "timer": _timer,
    "child": _child,
}
