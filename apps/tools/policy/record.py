"""Decisions and answers in the shapes that the log and policies keep."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from apps.tools.policy.decide import Considered, Decision
from apps.tools.policy.request import CallRequest
from omni.contracts.canonical import digest, instant
from omni.contracts.types.policy import PolicyMatch, PolicyRule
from omni.contracts.types.shapes import Predicate
from omni.contracts.types.system_events import ConsideredRule, PolicyDecidedPayload

MAX_CONSIDERED = 200
MAX_REASON = 2000


def call_hash(*, tool: str, version: str, sha256: str, arguments: Mapping[str, Any]) -> str:
    """Names one exact call; an approval of it is worth nothing for any other."""
    return digest(
        {"tool": tool, "version": version, "manifest": sha256, "arguments": dict(arguments)}
    )


def decided_payload(
    decision: Decision, request: CallRequest, *, call_id: str, call_hash: str
) -> PolicyDecidedPayload:
    """The payload of `policy_decided`."""
    payload: PolicyDecidedPayload = {
        "call_id": call_id,
        "tool": request.tool,
        "version": request.version,
        "effect": decision.effect,
        "policy": decision.policy,
        "rule": decision.rule,
        "reason": decision.reason[:MAX_REASON],
        "considered": [_row(each) for each in decision.considered[:MAX_CONSIDERED]],
        "call_hash": call_hash,
        "mode": request.mode,
    }
    if decision.policy_version is not None:
        payload["policy_version"] = decision.policy_version
    return payload


def answer_rule(
    *,
    tool: str,
    effect: Literal["allow", "deny"],
    approval_id: str,
    run_id: str,
    by: str,
    at: datetime,
    reason: str = "",
    this_run_only: bool = False,
    arguments: tuple[Predicate, ...] = (),
) -> PolicyRule:
    """What “allow for this run” and “for this project” turn into; it says where it comes from."""
    match: PolicyMatch = {"tools": [tool]}
    if this_run_only:
        match["run_ids"] = [run_id]
    if arguments:
        match["arguments"] = list(arguments)
    reach = "this run" if this_run_only else "this project"
    return {
        "id": f"answer-{approval_id}",
        "effect": effect,
        "match": match,
        "reason": reason[:MAX_REASON] or f"A person answered for {reach}.",
        "origin": {
            "kind": "approval",
            "approval_id": approval_id,
            "run_id": run_id,
            "by": by,
            "at": instant(at),
        },
    }


def _row(considered: Considered) -> ConsideredRule:
    row: ConsideredRule = {
        "policy": considered.policy,
        "version": considered.version,
        "rule": considered.rule,
        "effect": considered.effect,
        "matched": considered.matched,
    }
    if considered.why:
        row["why"] = considered.why
    return row
