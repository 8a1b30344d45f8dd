"""Decides about a call and makes it; the events around it are the driver's to write."""

from __future__ import annotations

from typing import Any, cast

import structlog
from django.utils import timezone

from apps.tools import selectors
from apps.tools.executors.base import Call, Outcome, ToolError
from apps.tools.invoke.kinds import executor_for
from apps.tools.invoke.modes import blocked, changing, simulated, simulates
from apps.tools.invoke.preview import preview_of
from apps.tools.invoke.question import answer_to, question_about
from apps.tools.invoke.record import changes_of, store_files
from apps.tools.invoke.resolve import Resolved, resolve
from apps.tools.invoke.surroundings import secrets_of, workspace_of
from apps.tools.policy.decide import Decision, decide
from apps.tools.policy.hosts import hosts_of
from apps.tools.policy.record import call_hash, decided_payload
from apps.tools.policy.request import CallRequest
from omni.contracts.errors import ErrorCategory, OmniError
from omni.contracts.ports import RunContext, ToolFailed, ToolOutcome, ToolRequest, Verdict
from omni.contracts.types.policy import Policy, PolicyMatch, PolicyRule

log = structlog.get_logger(__name__)


class Invoker:
    """Implements the ToolPort for every run."""

    def prepare(self, request: ToolRequest, context: RunContext) -> Verdict:
        try:
            resolved = resolve(request)
        except ToolError as error:
            return _refused(request.tool, request.version or "0.0.0", error)
        return self._judge(request, resolved, context)

    def execute(self, verdict: Verdict, request: ToolRequest, context: RunContext) -> ToolOutcome:
        if verdict.decision is None or verdict.decision["effect"] != "allow":
            raise ToolFailed("permission_denied", "No decision allows this call.")
        resolved: Resolved = verdict.prepared
        held_still = request.mode == "dry_run" and changing(resolved.manifest)
        if held_still and not simulates(resolved.manifest):
            return simulated(resolved, request)
        return _carry_out(resolved, request, context)

    def _judge(self, request: ToolRequest, resolved: Resolved, context: RunContext) -> Verdict:
        policies = [*selectors.policies_of(request.facts.project_id), *_granted(request, context)]
        asked = _asked(request, resolved, context, policies)
        decision = blocked(request, resolved) or _decided(request, policies, asked)
        hashed = call_hash(
            tool=resolved.name,
            version=resolved.version,
            sha256=resolved.sha256,
            arguments=request.arguments,
        )
        question = None
        if decision.effect == "ask":
            question = question_about(
                asked,
                resolved,
                decision,
                policies,
                call_id=request.call_id,
                call_hash=hashed,
                preview=preview_of(_call(resolved, request, context)),
            )
            decision = answer_to(question, request, decision)
        told = decided_payload(decision, asked, call_id=request.call_id, call_hash=hashed)
        return Verdict(
            tool=resolved.name,
            version=resolved.version,
            executor=resolved.executor,
            idempotent=resolved.idempotent,
            decision=dict(told),
            question=question if decision.effect == "ask" else None,
            refusal=_denial(decision) if decision.effect == "deny" else None,
            budgets=_budgets(policies),
            cost={"steps": 1, "seconds": resolved.manifest["limits"]["wall_seconds"]},
            prepared=resolved,
        )


def _decided(request: ToolRequest, policies: list[Policy], asked: CallRequest) -> Decision:
    """The project's rules are kept ready; those of a run are added to them."""
    if request.grants:
        return decide(policies, asked)
    return selectors.rulebook_of(request.facts.project_id).decide(asked)


def _asked(
    request: ToolRequest, resolved: Resolved, context: RunContext, policies: list[Policy]
) -> CallRequest:
    facts, manifest = request.facts, resolved.manifest
    return CallRequest(
        tool=resolved.name,
        version=resolved.version,
        at=timezone.now(),
        scopes=tuple(manifest["scopes"]),
        capabilities=tuple(manifest["capabilities"]),
        risk=manifest["risk"],
        arguments=request.arguments,
        agent=request.agent,
        project=facts.project,
        user=facts.user_id,
        roles=facts.roles,
        mode=request.mode,
        run_id=str(context.run_id),
        hosts=hosts_of(manifest, request.arguments),
        spent_share=_spent_share(policies, request.spent),
    )


def _spent_share(policies: list[Policy], spent: dict[str, float]) -> float:
    """The largest share that is spent of any budget in force."""
    shares = [0.0]
    for budget in _budgets(policies):
        bounds = {unit: float(budget[unit]) for unit in ("steps", "seconds", "tokens")
                  if unit in budget}  # fmt: skip
        for unit, limit in bounds.items():
            used = spent.get(f"{budget['per']}:{unit}", 0.0)
            shares.append(min(used / limit, 1.0) if limit else 1.0)
    return max(shares)


def _granted(request: ToolRequest, context: RunContext) -> list[Policy]:
    """What people allowed for the rest of this run, as a policy of its own."""
    if not request.grants:
        return []
    rules: list[PolicyRule] = [
        {
            "id": f"run-grant-{number}",
            "effect": "allow",
            "match": cast(PolicyMatch, {**grant["match"], "run_ids": [str(context.run_id)]}),
            "reason": "A person allowed it for this run.",
            "origin": {"kind": "approval", "approval_id": grant["approval_id"]},
        }
        for number, grant in enumerate(request.grants, 1)
    ]
    return [{"name": "run-grants", "version": "1.0.0", "default": "deny", "rules": rules}]


def _budgets(policies: list[Policy]) -> tuple[dict[str, Any], ...]:
    return tuple(
        {**budget, "policy": policy["name"]}
        for policy in policies
        for budget in policy.get("budgets", [])
    )


def _denial(decision: Decision) -> dict[str, Any]:
    by = f" (rule {decision.rule} of {decision.policy})" if decision.rule else ""
    return {
        "category": "permission_denied",
        "message": f"{decision.reason}{by}"[:2000],
        "data": {"rule": decision.rule, "policy": decision.policy},
    }


def _refused(tool: str, version: str, error: ToolError) -> Verdict:
    refusal: dict[str, Any] = {"category": error.kind, "message": str(error)[:2000]}
    if error.data:
        refusal["data"] = error.data
    return Verdict(tool=tool, version=version, refusal=refusal)


def _call(resolved: Resolved, request: ToolRequest, context: RunContext) -> Call:
    return Call(
        call_id=request.call_id,
        manifest=resolved.manifest,
        arguments=request.arguments,
        project_id=request.facts.project_id,
        run=context,
        workspace=workspace_of(request.facts.thread_id),
        secret=secrets_of(request.facts.project_id),
        hosts=hosts_of(resolved.manifest, request.arguments),
        dry_run=request.mode == "dry_run",
    )


def _carry_out(resolved: Resolved, request: ToolRequest, context: RunContext) -> ToolOutcome:
    call = _call(resolved, request, context)
    try:
        outcome = executor_for(resolved.manifest).execute(call)
        _check_output(resolved, outcome)
    except ToolError as error:
        changes = changes_of(error.changes, request.call_id, context)
        raise ToolFailed(error.kind, str(error), data=error.data, changes=changes) from None
    except OmniError as error:
        raise ToolFailed(_kind_of(error), str(error), data=error.data) from None
    made = () if call.dry_run else changes_of(outcome.changes, request.call_id, context)
    return ToolOutcome(
        output=outcome.output,
        simulated=call.dry_run and bool(changing(resolved.manifest)),
        artifacts=store_files(outcome.files, context),
        changes=made,
    )


def _check_output(resolved: Resolved, outcome: Outcome) -> None:
    try:
        resolved.output.validate(outcome.output, what=f"The output of {resolved.name}")
    except OmniError as error:
        raise ToolError(
            "invalid_output", str(error), data=error.data, changes=outcome.changes
        ) from None


def _kind_of(error: OmniError) -> Any:
    """Errors of lower floors in the words of tool errors."""
    return {
        ErrorCategory.PERMISSION_DENIED: "permission_denied",
        ErrorCategory.MISCONFIGURED: "misconfigured",
        ErrorCategory.RATE_LIMITED: "rate_limited",
        ErrorCategory.UNAVAILABLE: "unavailable",
        ErrorCategory.TOO_LARGE: "limit_exceeded",
    }.get(error.category, "tool_failed")
