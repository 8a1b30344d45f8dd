"""What a person is asked about a call, and what an answer means."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from apps.tools.invoke.resolve import Resolved
from apps.tools.policy.decide import Decision
from apps.tools.policy.request import CallRequest
from omni.contracts.canonical import canonical
from omni.contracts.ports import Question, ToolRequest
from omni.contracts.types.policy import Policy

APPROVE, FOR_RUN, FOR_PROJECT, REJECT = "approve", "approve_run", "approve_project", "reject"
OPTIONS = (APPROVE, FOR_RUN, FOR_PROJECT, REJECT)
EXPIRES_SECONDS = 24 * 3600
# An event holds 64 KiB; the arguments come first, the picture of the change only if it fits.
MAX_DETAIL = 56 * 1024
# The strictest of several policies counts.
STRICTNESS: tuple[Literal["cancel", "fail", "deny"], ...] = ("cancel", "fail", "deny")
SUBJECTS = ("path", "url", "command", "query", "text")


def question_about(
    asked: CallRequest,
    resolved: Resolved,
    decision: Decision,
    policies: Sequence[Policy],
    *,
    call_id: str,
    call_hash: str,
    preview: str = "",
) -> Question:
    """Bound to the exact call: other arguments or another manifest are another question."""
    detail: dict[str, Any] = {
        "tool": asked.tool,
        "version": asked.version,
        "arguments": dict(asked.arguments),
        "call_hash": call_hash,
        "capabilities": sorted(asked.capabilities),
        "risk": asked.risk,
        "reason": decision.reason,
        "grant": {"match": _reach(asked)},
    }
    if asked.hosts:
        detail["hosts"] = list(asked.hosts)
    if preview and len(canonical(detail)) + 2 * len(preview) < MAX_DETAIL:
        detail["preview"] = preview
    if resolved.manifest.get("editable", False):
        detail["editable"] = True
    on_expiry = _on_expiry(policies)
    if on_expiry != "deny":
        detail["on_expiry"] = on_expiry
    return Question(
        approval_id=str(uuid.uuid5(uuid.UUID(asked.run_id), f"call:{call_id}:{call_hash}")),
        title=_title(asked, resolved)[:200],
        detail=detail,
        options=OPTIONS,
        rule=decision.rule or "",
        seconds=_seconds(policies),
        on_expiry=on_expiry,
    )


def answer_to(question: Question, request: ToolRequest, decision: Decision) -> Decision:
    """A settled question decides; an open one stays a question."""
    if request.is_edited:
        return replace(decision, effect="allow", reason="A person changed and approved this call.")
    answer = request.answers.get(question.approval_id)
    if answer is None:
        return decision
    if answer in (APPROVE, FOR_RUN, FOR_PROJECT):
        return replace(decision, effect="allow", reason="A person approved this call.")
    reason = "Nobody approved it in time." if answer == "expired" else "A person rejected it."
    return replace(decision, effect="deny", reason=reason)


def _reach(asked: CallRequest) -> dict[str, Any]:
    """How far “for this run” and “for this project” go: this tool, this version, these hosts."""
    match: dict[str, Any] = {"tools": [asked.tool], "versions": asked.version}
    if asked.hosts:
        match["hosts"] = list(asked.hosts)
    return match


def _seconds(policies: Sequence[Policy]) -> int:
    named = [each.get("approvals", {}).get("expires_seconds") for each in policies]
    return min((seconds for seconds in named if seconds is not None), default=EXPIRES_SECONDS)


def _on_expiry(policies: Sequence[Policy]) -> str:
    named = {each.get("approvals", {}).get("on_expiry", "deny") for each in policies}
    return next((each for each in STRICTNESS if each in named), "deny")


def _title(asked: CallRequest, resolved: Resolved) -> str:
    what = resolved.manifest.get("title") or asked.tool
    for name in SUBJECTS:
        value = asked.arguments.get(name)
        words = " ".join(map(str, value)) if isinstance(value, list) else value
        if isinstance(words, str) and words:
            line = " ".join(words.split())
            return f"{what}: {line[:120]}{'…' if len(line) > 120 else ''}"
    return f"{what} ({asked.tool})"
