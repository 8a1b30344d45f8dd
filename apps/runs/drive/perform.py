"""One function per effect: which intent is recorded first, what is done, which events follow."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import structlog
from django.db import Error

from apps.runs.drive.context import DriveContext
from apps.runs.drive.outcome import failure
from apps.runs.drive.ports import Ports
from apps.runs.eventlog import Fenced, NewEvent, RunCancelling, RunEnded, Sealed, system
from omni.contracts.errors import ErrorCategory, OmniError
from omni.engine.effects import Ask, CallModel, RunStep, SetTimer, SettleUnknown

log = structlog.get_logger(__name__)

# Not the effect failed but the driver's hold on the run.
LOST_HOLD = (Fenced, RunCancelling, RunEnded, Error)
MODEL_ERRORS = {
    ErrorCategory.PERMISSION_DENIED: "permission_denied",
    ErrorCategory.MISCONFIGURED: "misconfigured",
    ErrorCategory.RATE_LIMITED: "rate_limited",
    ErrorCategory.INVALID: "invalid_request",
}
Results = list[NewEvent | Sealed]


class Stopped(Exception):
    """The effect noticed that it must stop."""


def intent_of(effect: Any) -> list[NewEvent]:
    """What must be in the log before the effect starts."""
    if isinstance(effect, CallModel):
        call = {"call_id": effect.call_id, "provider": "scripted", "model": effect.model}
        return [system("model_call", call, key=f"call-{effect.call_id}")]
    return []


def perform(effect: Any, context: DriveContext, ports: Ports) -> list[NewEvent | Sealed]:
    """Carry out an effect; what it answers is appended with the next intent."""
    return _PERFORM[type(effect)](effect, context, ports)


def _step(effect: RunStep, context: DriveContext, ports: Ports) -> Results:
    payload: dict[str, Any] = {"step": f"s{effect.step}"}
    if effect.output is not None:
        payload["output"] = effect.output
    return [system("step_finished", payload, key=f"step-{effect.step}")]


def _model(effect: CallModel, context: DriveContext, ports: Ports) -> Results:
    start = time.monotonic()
    pieces: list[str] = []
    try:
        for piece in ports.model.stream(effect.model, effect.messages, context):
            if context.cancelled():
                raise Stopped
            pieces.append(piece)
            context.emit_delta(effect.message_id, piece)
        if context.cancelled():
            # A model that noticed it first has stopped early; half an answer is not the answer.
            raise Stopped
        context.flush()
        usage = ports.model.usage(effect.messages, "".join(pieces))
    except (Stopped, *LOST_HOLD):
        raise
    except Exception as error:  # noqa: BLE001  (a provider's failure is an event, never a dead run)
        log.warning("model_failed", model=effect.model, error=type(error).__name__)
        failed = {
            "call_id": effect.call_id,
            "category": _model_category(error),
            **failure(error),
        }
        return [system("model_error", failed, key=f"settled-{effect.call_id}")]
    text = "".join(pieces)
    result = {
        "call_id": effect.call_id,
        "message_id": effect.message_id,
        "usage": usage,
        "latency_ms": int((time.monotonic() - start) * 1000),
        "finish_reason": "stop",
    }
    message = {
        "message_id": effect.message_id,
        "text": text,
        "model_call_id": effect.call_id,
        "usage": usage,
    }
    return [
        system("model_result", result, key=f"settled-{effect.call_id}"),
        NewEvent("assistant_message", message, key=f"message-{effect.message_id}"),
    ]


def _model_category(error: Exception) -> str:
    if isinstance(error, OmniError):
        return MODEL_ERRORS.get(error.category, "unavailable")
    return "unavailable"


def _unknown(effect: SettleUnknown, context: DriveContext, ports: Ports) -> Results:
    payload = {
        "call_id": effect.call_id,
        "category": "outcome_unknown",
        "message": "The worker died in the middle of this call; whether it took effect is unknown.",
    }
    key = f"settled-{effect.call_id}"
    if effect.effect == "tool":
        return [NewEvent("tool_error", payload, key=key)]
    return [system("model_error", payload, key=key)]


def _ask(effect: Ask, context: DriveContext, ports: Ports) -> Results:
    payload: dict[str, Any] = {
        "approval_id": effect.approval_id,
        "title": effect.title,
        "options": list(effect.options),
    }
    if effect.detail:
        payload["detail"] = effect.detail
    if effect.seconds is not None:
        payload["expires_at"] = context.after(effect.seconds)
    return [
        system("approval_requested", payload, key=f"approval-{effect.approval_id}"),
        system("state_changed", {"from": "running", "to": "waiting_permission"}),
    ]


def _timer(effect: SetTimer, context: DriveContext, ports: Ports) -> Results:
    payload = {"timer_id": effect.timer_id, "due_at": context.after(effect.seconds)}
    return [system("timer_set", payload, key=f"timer-{effect.timer_id}")]


_PERFORM: dict[type, Callable[[Any, DriveContext, Ports], Results]] = {
    RunStep: _step,
    CallModel: _model,
    SettleUnknown: _unknown,
    Ask: _ask,
    SetTimer: _timer,
}
