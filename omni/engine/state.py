"""What a run's events add up to. The same events give the same bytes, always."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Any, Protocol

from omni.engine.lifecycle import TERMINAL, Status


class HistoryEvent(Protocol):
    """What folding needs to know of an event."""

    @property
    def seq(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def payload(self) -> dict[str, Any] | None: ...


@dataclass(slots=True)
class Usage:
    """Sums over all model calls; costs by currency, and calls without a price are counted."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0
    cost: dict[str, str] = field(default_factory=dict)
    unpriced_calls: int = 0
    model_calls: int = 0
    tool_calls: int = 0


SHAPE = 3
"""Grows when folding changes; a kept state of another shape is folded anew."""


@dataclass(slots=True)
class RunState:
    """The folded history of one run."""

    shape: int = SHAPE
    run_kind: str = ""
    input: dict[str, Any] = field(default_factory=dict)
    mode: str = "normal"
    pinned_tools: dict[str, dict[str, str]] = field(default_factory=dict)
    grants: list[dict[str, Any]] = field(default_factory=list)
    calls_by_tool: dict[str, int] = field(default_factory=dict)
    edited_calls: dict[str, dict[str, Any]] = field(default_factory=dict)
    status: str = Status.QUEUED.value
    reason: str = ""
    last_seq: int = 0
    cancel_requested: bool = False
    steps_done: int = 0
    open_step: str | None = None
    messages: list[dict[str, str]] = field(default_factory=list)
    result: Any = None
    pending_calls: dict[str, dict[str, Any]] = field(default_factory=dict)
    settled_calls: dict[str, dict[str, Any]] = field(default_factory=dict)
    pending_approvals: dict[str, dict[str, Any]] = field(default_factory=dict)
    settled_approvals: dict[str, str] = field(default_factory=dict)
    pending_timers: dict[str, str] = field(default_factory=dict)
    fired_timers: list[str] = field(default_factory=list)
    pending_children: dict[str, str] = field(default_factory=dict)
    finished_children: dict[str, str] = field(default_factory=dict)
    partial: dict[str, str] = field(default_factory=dict)
    artifacts: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    errors: int = 0
    changed_files: int = 0

    @property
    def is_terminal(self) -> bool:
        return self.status in TERMINAL

    @property
    def waits_for(self) -> str:
        """What a run that needs no worker is waiting for; empty while it needs one."""
        if self.pending_approvals:
            return "approval"
        if self.pending_children:
            return "child"
        return "timer" if self.pending_timers else ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> RunState:
        return cls(**{**value, "usage": Usage(**value["usage"])})


def fold(events: Iterable[HistoryEvent], state: RunState | None = None) -> RunState:
    """Apply `events` in order to `state` (or to nothing); a gap is a mistake of the caller."""
    state = state or RunState()
    for event in events:
        if event.seq != state.last_seq + 1:
            raise ValueError(f"event {event.seq} does not follow event {state.last_seq}")
        state.last_seq = event.seq
        # An erased payload has left the state for good; only its place in the order remains.
        payload = event.payload
        if payload is not None:
            handler = _HANDLERS.get(event.name or event.kind)
            if handler is not None:
                handler(state, payload)
    return state


def _run_created(state: RunState, payload: dict[str, Any]) -> None:
    state.run_kind = payload["run_kind"]
    state.input = payload["input"]
    state.mode = payload.get("mode", "normal")
    state.pinned_tools = payload["pins"].get("tools", {})


def _state_changed(state: RunState, payload: dict[str, Any]) -> None:
    state.status = payload["to"]
    state.reason = payload.get("reason", "")
    if payload["to"] == Status.DONE and "result" in payload:
        state.result = payload["result"]
    if payload["to"] in TERMINAL:
        state.pending_approvals.clear()
        state.pending_timers.clear()


def _cancel_requested(state: RunState, payload: dict[str, Any]) -> None:
    state.cancel_requested = True


def _user_message(state: RunState, payload: dict[str, Any]) -> None:
    state.messages.append({"role": "user", "text": payload["text"]})


def _delta(state: RunState, payload: dict[str, Any]) -> None:
    key = payload["message_id"]
    state.partial[key] = state.partial.get(key, "") + payload["text"]


def _assistant_message(state: RunState, payload: dict[str, Any]) -> None:
    state.partial.pop(payload["message_id"], None)
    state.messages.append({"role": "assistant", "text": payload["text"]})


def _tool_call(state: RunState, payload: dict[str, Any]) -> None:
    state.usage.tool_calls += 1
    state.calls_by_tool[payload["tool"]] = state.calls_by_tool.get(payload["tool"], 0) + 1
    state.pending_calls[payload["call_id"]] = {
        "effect": "tool",
        "tool": payload["tool"],
        "version": payload["version"],
        "arguments": payload["arguments"],
        "idempotent": payload["idempotent"],
    }


def _tool_result(state: RunState, payload: dict[str, Any]) -> None:
    state.pending_calls.pop(payload["call_id"], None)
    state.settled_calls[payload["call_id"]] = {"ok": True, "output": payload["output"]}


def _tool_error(state: RunState, payload: dict[str, Any]) -> None:
    state.errors += 1
    state.pending_calls.pop(payload["call_id"], None)
    state.settled_calls[payload["call_id"]] = {
        "ok": False,
        "category": payload["category"],
        "message": payload["message"],
    }


def _model_call(state: RunState, payload: dict[str, Any]) -> None:
    state.usage.model_calls += 1
    state.pending_calls[payload["call_id"]] = {"effect": "model", "model": payload["model"]}


def _model_result(state: RunState, payload: dict[str, Any]) -> None:
    state.pending_calls.pop(payload["call_id"], None)
    state.settled_calls[payload["call_id"]] = {"ok": True}
    used, usage = payload["usage"], state.usage
    usage.prompt_tokens += used["prompt_tokens"]
    usage.completion_tokens += used["completion_tokens"]
    usage.total_tokens += used["total_tokens"]
    cost = used.get("cost")
    if cost is None:
        usage.unpriced_calls += 1
    else:
        before = Decimal(usage.cost.get(cost["currency"], "0"))
        usage.cost[cost["currency"]] = format(before + Decimal(cost["amount"]), "f")


def _model_error(state: RunState, payload: dict[str, Any]) -> None:
    state.errors += 1
    state.pending_calls.pop(payload["call_id"], None)
    state.settled_calls[payload["call_id"]] = {
        "ok": False,
        "category": payload["category"],
        "message": payload["message"],
    }


def _approval_requested(state: RunState, payload: dict[str, Any]) -> None:
    state.pending_approvals[payload["approval_id"]] = {
        "title": payload["title"],
        "expires_at": payload.get("expires_at"),
        "call_id": payload.get("call_id"),
        "grant": payload.get("detail", {}).get("grant"),
        "on_expiry": payload.get("on_expiry", "deny"),
    }


def _approval_answered(state: RunState, payload: dict[str, Any]) -> None:
    asked = state.pending_approvals.pop(payload["approval_id"], None) or {}
    if payload.get("scope") == "run" and asked.get("grant"):
        state.grants.append({**asked["grant"], "approval_id": payload["approval_id"]})
    if "arguments" in payload and asked.get("call_id"):
        state.edited_calls[asked["call_id"]] = payload["arguments"]
    state.settled_approvals[payload["approval_id"]] = payload["answer"]


def _approval_expired(state: RunState, payload: dict[str, Any]) -> None:
    state.pending_approvals.pop(payload["approval_id"], None)
    state.settled_approvals[payload["approval_id"]] = "expired"


def _timer_set(state: RunState, payload: dict[str, Any]) -> None:
    state.pending_timers[payload["timer_id"]] = payload["due_at"]


def _timer_fired(state: RunState, payload: dict[str, Any]) -> None:
    state.pending_timers.pop(payload["timer_id"], None)
    state.fired_timers.append(payload["timer_id"])


def _child_started(state: RunState, payload: dict[str, Any]) -> None:
    state.pending_children[payload["call_id"]] = payload["child_run_id"]


def _child_finished(state: RunState, payload: dict[str, Any]) -> None:
    state.pending_children.pop(payload["call_id"], None)
    state.finished_children[payload["call_id"]] = payload["status"]


def _step_started(state: RunState, payload: dict[str, Any]) -> None:
    state.open_step = payload["step"]


def _step_finished(state: RunState, payload: dict[str, Any]) -> None:
    state.open_step = None
    state.steps_done += 1


def _workspace_changed(state: RunState, payload: dict[str, Any]) -> None:
    state.changed_files += 1


def _artifact_ref(state: RunState, payload: dict[str, Any]) -> None:
    state.artifacts.append(payload["sha256"])


_HANDLERS = {
    "run_created": _run_created,
    "user_message": _user_message,
    "assistant_message_delta": _delta,
    "assistant_message": _assistant_message,
    "tool_call": _tool_call,
    "tool_result": _tool_result,
    "tool_error": _tool_error,
    "artifact_ref": _artifact_ref,
    "workspace_changed": _workspace_changed,
    "state_changed": _state_changed,
    "cancel_requested": _cancel_requested,
    "approval_requested": _approval_requested,
    "approval_answered": _approval_answered,
    "approval_expired": _approval_expired,
    "timer_set": _timer_set,
    "timer_fired": _timer_fired,
    "child_started": _child_started,
    "child_finished": _child_finished,
    "model_call": _model_call,
    "model_result": _model_result,
    "model_error": _model_error,
    "step_started": _step_started,
    "step_finished": _step_finished,
}
