"""A call's place in the budgets: set aside with its intent, or a question to a person."""

from __future__ import annotations

import uuid
from typing import Any

from apps.runs.drive.context import DriveContext
from apps.runs.eventlog import NewEvent, system
from apps.runs.eventlog.spending import reservation_key
from apps.runs.models import BudgetUse, Run
from apps.runs.services.budgets import Bound, Reached, bounds_of, reserve, spending
from omni.contracts.ports import RunFacts, ToolRequest, Verdict

RAISE, STOP = "raise", "stop"
EXPIRES_SECONDS = 24 * 3600


def set_aside(run_id: uuid.UUID, verdict: Verdict, context: DriveContext) -> Reached | list[Bound]:
    """Within the caller's transaction; the run is locked first, as whoever appends does."""
    run = Run.objects.select_for_update().get(pk=run_id)
    return reserve(run, bounds_of(run, verdict.budgets, context.now()), verdict.cost)


def spent(facts: RunFacts, run_id: uuid.UUID, context: DriveContext) -> dict[str, float]:
    """What is used of every scope that the run is in, for rules that look at it."""
    scopes = {
        f"run:{run_id}": "run",
        f"thread:{facts.thread_id}": "thread",
        f"project:{facts.project_id}": "project",
        f"day:{facts.project_id}:{context.now():%Y-%m-%d}": "day",
    }
    rows = BudgetUse.objects.filter(scope__in=scopes)
    return {
        f"{scopes[scope]}:{unit}": float(amount)
        for scope, unit, amount in rows.values_list("scope", "unit", "amount")
    }


def reserved(verdict: Verdict, request: ToolRequest, bounds: list[Bound]) -> NewEvent:
    payload = {
        "call_id": request.call_id,
        "amount": verdict.cost,
        "budgets": [
            {
                "per": each.per,
                "policy": each.policy,
                "limit": spending(each.unit, each.limit),
                "used": spending(each.unit, each.used),
            }
            for each in bounds[:50]
        ],
    }
    return system("budget_reserved", payload, key=reservation_key(request.call_id))


def settled(request: ToolRequest, seconds: float) -> NewEvent:
    amount = {"steps": 1, "seconds": round(seconds, 3)}
    payload = {"call_id": request.call_id, "amount": amount}
    return system("budget_settled", payload, key=f"settle-{request.call_id}")


def full(
    reached: Reached, request: ToolRequest, context: DriveContext
) -> tuple[list[NewEvent], str]:
    """What is recorded of a full budget: a question, or the reason why the call is refused."""
    bound = reached.bound
    told = f"{bound.per} may use {_words(bound, bound.limit)}, and it would use more"
    payload: dict[str, Any] = {
        "call_id": request.call_id,
        "per": bound.per,
        "policy": bound.policy,
        "limit": spending(bound.unit, bound.limit),
        "used": spending(bound.unit, bound.used),
        "wanted": spending(bound.unit, reached.wanted),
        "on_reached": bound.on_reached,
    }
    reason = f"The budget is used up: this {told}."
    if bound.on_reached == "fail":
        return [system("budget_reached", payload)], reason
    place = f"budget:{bound.scope}:{bound.unit}:{reached.proposed}"
    approval_id = str(uuid.uuid5(context.run_id, place))
    if approval_id in request.answers:
        return [system("budget_reached", payload)], reason
    payload |= {
        "proposed": spending(bound.unit, reached.proposed),
        "approval_id": approval_id,
    }
    return [
        system("budget_reached", payload),
        _question(reached, request, approval_id, reason, context.after(EXPIRES_SECONDS)),
        system("state_changed", {"from": "running", "to": "waiting_permission"}),
    ], ""


def _question(
    reached: Reached, request: ToolRequest, approval_id: str, why: str, expires_at: str
) -> NewEvent:
    bound = reached.bound
    proposed = _words(bound, reached.proposed)
    payload = {
        "approval_id": approval_id,
        "call_id": request.call_id,
        "title": f"Raise the budget of this {bound.per} to {proposed}?",
        "detail": {
            "reason": why,
            "next_call": request.tool,
            "budget": {"scope": bound.scope, "unit": bound.unit, "to": str(reached.proposed)},
        },
        "options": [RAISE, STOP],
        "expires_at": expires_at,
    }
    return system("approval_requested", payload, key=f"approval-{approval_id}")


def _words(bound: Bound, number: Any) -> str:
    amount = format(number.normalize(), "f")
    if bound.unit.startswith("money:"):
        return f"{amount} {bound.unit[6:]}"
    return f"{amount} {bound.unit}"
