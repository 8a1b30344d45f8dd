"""A tool call on its way through a run: asked, refused or made, each step an event."""

from __future__ import annotations

import time
import uuid
from typing import Any, cast

import structlog
from django.db import Error

from apps.registry.models import Membership
from apps.runs.drive.budget import settled
from apps.runs.drive.context import DriveContext
from apps.runs.drive.outcome import failure, settled_tool
from apps.runs.eventlog import Fenced, NewEvent, RunCancelling, RunEnded, Sealed, system
from apps.runs.models import Run
from omni.contracts.errors import InvalidInput
from omni.contracts.ports import (
    RunFacts,
    ToolFailed,
    ToolOutcome,
    ToolPort,
    ToolRequest,
    Verdict,
)
from omni.contracts.types.shapes import Mode
from omni.engine.effects import CallTool
from omni.engine.state import RunState

log = structlog.get_logger(__name__)
ASK_AGAIN = {
    "category": "permission_denied",
    "message": "It was interrupted, and by now a person would have to approve it first.",
}
CHANGES_AT_ONCE = 100
LOST_HOLD = (Fenced, RunCancelling, RunEnded, Error)


def facts_of(run_id: uuid.UUID) -> RunFacts:
    """For whom the run works; read once for each time a worker takes it up."""
    run = Run.objects.select_related("project").get(pk=run_id)
    held = Membership.objects.filter(project=run.project, user=run.created_by_id)
    return RunFacts(
        project_id=run.project_id,
        project=run.project.slug,
        thread_id=run.thread_id,
        user_id=str(run.created_by_id or ""),
        roles=tuple(sorted(held.values_list("role", flat=True))),
    )


def request_of(
    effect: CallTool, state: RunState, facts: RunFacts, spent: dict[str, float]
) -> ToolRequest:
    return ToolRequest(
        facts=facts,
        call_id=effect.call_id,
        tool=effect.tool,
        arguments=state.edited_calls.get(effect.call_id, effect.arguments),
        idempotent=effect.idempotent,
        version=effect.version,
        mode=cast(Mode, state.mode),
        pins=state.pinned_tools,
        answers=state.settled_approvals,
        grants=state.grants,
        spent=spent,
        is_edited=effect.call_id in state.edited_calls,
        calls_made=state.calls_by_tool.get(effect.tool, 0) - effect.repeat,
    )


def prepare(tools: ToolPort, request: ToolRequest, context: DriveContext) -> Verdict:
    """A port that breaks while it decides has not decided: the call is refused."""
    try:
        return tools.prepare(request, context)
    except LOST_HOLD:
        raise
    except Exception as error:
        log.exception("tool_not_prepared", tool=request.tool)
        refusal = {"category": "misconfigured", **failure(error)}
        return Verdict(tool=request.tool, version=request.version or "0.0.0", refusal=refusal)


def asked(verdict: Verdict, request: ToolRequest, context: DriveContext) -> list[NewEvent]:
    """The decision, the question, and that the run waits; it holds no worker meanwhile."""
    question = verdict.question
    assert question is not None  # noqa: S101  (for the type checker)
    payload: dict[str, Any] = {
        "approval_id": question.approval_id,
        "call_id": request.call_id,
        "title": question.title,
        "detail": question.detail,
        "options": list(question.options),
        "on_expiry": question.on_expiry,
    }
    if question.rule:
        payload["rule"] = question.rule
    if question.seconds is not None:
        payload["expires_at"] = context.after(question.seconds)
    return [
        *_decision(verdict),
        system("approval_requested", payload, key=f"approval-{question.approval_id}"),
        system("state_changed", {"from": "running", "to": "waiting_permission"}),
    ]


def intent(verdict: Verdict, request: ToolRequest, plan_step: int | None) -> list[NewEvent]:
    """What must be in the log before the tool starts: who decided, and what will be done."""
    call: dict[str, Any] = {
        "call_id": request.call_id,
        "tool": request.tool,
        "version": verdict.version,
        "arguments": request.arguments,
        "idempotent": verdict.idempotent,
    }
    if verdict.executor:
        call["executor"] = verdict.executor
    if plan_step is not None:
        call["plan_step"] = plan_step
    return [*_decision(verdict), NewEvent("tool_call", call, key=f"call-{request.call_id}")]


def refused(verdict: Verdict, request: ToolRequest, effect: CallTool) -> list[NewEvent]:
    """A call that is not made is recorded as one, with the reason in place of a result."""
    error = {"call_id": request.call_id, **(verdict.refusal or ASK_AGAIN)}
    settled = NewEvent("tool_error", error, key=f"settled-{request.call_id}")
    if effect.repeat:
        return [*_decision(verdict), settled]
    return [*intent(verdict, request, effect.plan_step), settled]


def carry_out(
    tools: ToolPort, verdict: Verdict, request: ToolRequest, context: DriveContext
) -> list[NewEvent | Sealed]:
    """Make the call; whatever happens becomes exactly one result or error."""
    start = time.monotonic()
    payload: dict[str, Any] = {"call_id": request.call_id}
    changes: tuple[dict[str, Any], ...] = ()
    try:
        outcome = tools.execute(verdict, request, context)
        payload |= _told(outcome)
        changes = outcome.changes
    except LOST_HOLD:
        raise
    except ToolFailed as error:
        payload |= {"category": error.kind, **failure(error)}
        changes = error.changes
        if error.data:
            payload["data"] = error.data
    except Exception as error:  # noqa: BLE001  (a tool's failure is an event, never a dead run)
        log.warning("tool_failed", tool=request.tool, error=type(error).__name__)
        payload |= {"category": "tool_failed", **failure(error)}
    seconds = time.monotonic() - start
    payload["duration_ms"] = int(seconds * 1000)
    _record_changes(changes, context)
    results: list[NewEvent | Sealed] = [
        settled_tool(payload, f"settled-{request.call_id}", context)
    ]
    if verdict.budgets:
        results.append(settled(request, seconds))
    return results


def _record_changes(changes: tuple[dict[str, Any], ...], context: DriveContext) -> None:
    """In batches of their own: a program may change more files than one statement takes."""
    sealed: list[NewEvent] = []
    for each in changes:
        event = system("workspace_changed", each)
        try:
            context.seal(event)
        except InvalidInput as error:
            log.warning("change_not_recorded", path=each.get("path"), error=str(error)[:300])
            continue
        sealed.append(event)
    for start in range(0, len(sealed), CHANGES_AT_ONCE):
        context.append(sealed[start : start + CHANGES_AT_ONCE])


def _told(outcome: ToolOutcome) -> dict[str, Any]:
    told: dict[str, Any] = {"output": outcome.output}
    if outcome.artifacts:
        told["artifacts"] = list(outcome.artifacts)
    if outcome.simulated:
        told["simulated"] = True
    return told


def _decision(verdict: Verdict) -> list[NewEvent]:
    return [system("policy_decided", verdict.decision)] if verdict.decision else []
