"""A run that makes a list of tool calls in order; later ones may use what earlier ones gave."""

from __future__ import annotations

import uuid
from typing import Any

from omni.contracts.errors import InvalidInput
from omni.contracts.validation import validate
from omni.engine.effects import Ask, CallTool, Effect, Finish
from omni.engine.lifecycle import Status
from omni.engine.state import RunState

RESULT = "$result"
_MISSING = object()


def check_plan(plan: dict[str, Any]) -> None:
    """Refuse a plan that could not be carried out: its shape, its names, what it refers to."""
    validate("tool-plan", plan)
    known: set[str] = set()
    for number, step in enumerate(plan["steps"]):
        for name in _references(step.get("arguments", {})):
            if name not in known:
                raise InvalidInput.field(
                    f"/steps/{number}/arguments",
                    f"It uses the result of “{name}”, which is no earlier step.",
                )
        if step.get("id") in known:
            raise InvalidInput.field(f"/steps/{number}/id", "Another step has this id already.")
        known.add(_name(step, number))


def decide_plan(run_id: uuid.UUID, state: RunState) -> Effect:
    """The next call that has no outcome yet; an error ends the plan unless its step says else."""
    results: dict[str, dict[str, Any]] = {}
    for number, step in enumerate(state.input["steps"]):
        call = str(uuid.uuid5(run_id, f"plan-{number}"))
        settled = state.settled_calls.get(call)
        if settled is None:
            return _call(call, number, step, results)
        if not settled["ok"] and settled["category"] == "outcome_unknown":
            asked = _asked(call, step, state)
            if asked is not None:
                return asked
            if state.settled_approvals[_question(call)] == "continue":
                results[_name(step, number)] = settled
                continue
        if not settled["ok"] and step.get("on_error", "fail") != "continue":
            reason = f"step {number + 1} ({step['tool']}): {settled['message']}"
            return Finish(Status.FAILED, reason[:500])
        results[_name(step, number)] = settled
    return Finish(Status.DONE, result=_summary(results))


def _call(
    call: str, number: int, step: dict[str, Any], results: dict[str, dict[str, Any]]
) -> Effect:
    arguments = _bound(step.get("arguments", {}), results)
    if arguments is _MISSING:
        reason = f"step {number + 1} ({step['tool']}): an earlier step did not give what it needs"
        return Finish(Status.FAILED, reason)
    return CallTool(
        call, step["tool"], arguments, version=step.get("version"), plan_step=number + 1
    )


def _question(call: str) -> str:
    return str(uuid.uuid5(uuid.UUID(call), "outcome-unknown"))


def _asked(call: str, step: dict[str, Any], state: RunState) -> Effect | None:
    """What happened is unknown, so a person says how to go on; None once they have."""
    if _question(call) in state.settled_approvals:
        return None
    return Ask(
        _question(call),
        f"The outcome of {step['tool']} is unknown: go on as if it had worked?",
        {"tool": step["tool"], "arguments": step.get("arguments", {})},
        ("continue", "fail"),
    )


def _summary(results: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """How it went; what each call gave is in the log."""
    failed = [name for name, settled in results.items() if not settled["ok"]]
    return {"steps": len(results), "failed": failed}


def _name(step: dict[str, Any], number: int) -> str:
    return str(step.get("id") or f"step{number + 1}")


def _references(value: Any) -> list[str]:
    if isinstance(value, dict):
        if RESULT in value:
            return [value[RESULT]] if isinstance(value[RESULT], str) else [""]
        return [name for item in value.values() for name in _references(item)]
    if isinstance(value, list):
        return [name for item in value for name in _references(item)]
    return []


def _bound(value: Any, results: dict[str, dict[str, Any]]) -> Any:
    """`{"$result": "id", "pointer": "/x"}` stands for a part of that step's output."""
    if isinstance(value, dict):
        if RESULT in value:
            return _resolved(value, results)
        made = {key: _bound(item, results) for key, item in value.items()}
        return _MISSING if any(item is _MISSING for item in made.values()) else made
    if isinstance(value, list):
        items = [_bound(item, results) for item in value]
        return _MISSING if any(item is _MISSING for item in items) else items
    return value


def _resolved(reference: dict[str, Any], results: dict[str, dict[str, Any]]) -> Any:
    settled = results.get(reference[RESULT], {"ok": False})
    if not settled["ok"]:
        return reference.get("default", _MISSING)
    found = settled["output"]
    for step in str(reference.get("pointer", "")).split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and key in found:
            found = found[key]
        elif isinstance(found, list) and key.isdecimal() and int(key) < len(found):
            found = found[int(key)]
        else:
            return reference.get("default", _MISSING)
    return found
