"""One function per effect: which intent is recorded first, what is done, which events follow."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import structlog
from django.db import Error

from apps.runs.drive.context import DriveContext
from apps.runs.drive.overflow import overflowed
from apps.runs.drive.ports import Ports
from apps.runs.eventlog import Fenced, NewEvent, RunCancelling, RunEnded, Sealed, system
from apps.runs.eventlog.envelope import stamp
from omni.contracts.errors import ErrorCategory, InvalidInput, OmniError
from omni.engine.effects import Ask, CallModel, CallTool, RunStep, SetTimer, SettleUnknown

log = structlog.get_logger(__name__)

# Not the effect failed but the driver's hold on the run.
LOST_HOLD = (Fenced, RunCancelling, RunEnded, Error)
MODEL_ERRORS = {
    ErrorCategory.PERMISSION_DENIED: "permission_denied",
    ErrorCategory.MISCONFIGURED: "misconfigured",
    ErrorCategory.RATE_LIMITED: "rate_limited",
    ErrorCategory.INVALID: "invalid_request",
}
TOOL_ERRORS = {
    ErrorCategory.PERMISSION_DENIED: "permission_denied",
    ErrorCategory.MISCONFIGURED: "misconfigured",
}
MAX_SECONDS = 10 * 366 * 86400.0
Results = list[NewEvent | Sealed]


class Stopped(Exception):
    """The effect noticed that it must stop."""


def intent_of(effect: Any) -> list[NewEvent]:
    """What must be in the log before the effect starts."""
    if isinstance(effect, CallTool) and not effect.repeat:
        call = {
            "call_id": effect.call_id,
            "tool": effect.tool,
            "version": "0.0.0",
            "arguments": effect.arguments,
            "idempotent": effect.idempotent,
        }
        return [NewEvent("tool_call", call, key=f"call-{effect.call_id}")]
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


def _tool(effect: CallTool, context: DriveContext, ports: Ports) -> Results:
    start = time.monotonic()
    payload: dict[str, Any] = {"call_id": effect.call_id}
    try:
        payload["output"] = ports.tools.call(effect.tool, effect.arguments, effect.call_id, context)
    except LOST_HOLD:
        raise
    except Exception as error:  # noqa: BLE001  (a tool's failure is an event, never a dead run)
        log.warning("tool_failed", tool=effect.tool, error=type(error).__name__)
        payload |= _failure(error, TOOL_ERRORS, "tool_failed")
    payload["duration_ms"] = int((time.monotonic() - start) * 1000)
    return [_settled_tool(payload, f"settled-{effect.call_id}", context)]


def _settled_tool(payload: dict[str, Any], key: str, context: DriveContext) -> Sealed:
    """A large output moves into an artifact; what cannot be recorded at all is an error."""
    try:
        if "category" in payload:
            return context.seal(NewEvent("tool_error", payload, key=key))
        try:
            return context.seal(NewEvent("tool_result", payload, key=key))
        except InvalidInput as error:
            if error.category is not ErrorCategory.TOO_LARGE:
                raise
        return context.seal(overflowed(payload, key, context))
    except LOST_HOLD:
        raise
    except OmniError as error:
        failed = {name: payload[name] for name in ("call_id", "duration_ms")}
        failed |= {"category": "invalid_output", "message": error.message[:2000]}
        return context.seal(NewEvent("tool_error", failed, key=key))


def _failure(
    error: Exception, categories: dict[ErrorCategory, str], otherwise: str
) -> dict[str, str]:
    if isinstance(error, OmniError):
        category, message = categories.get(error.category, otherwise), str(error)
    else:
        category, message = otherwise, f"{type(error).__name__}: {error}"
    return {"category": category, "message": _storable(message)[:2000]}


def _storable(text: str) -> str:
    """Messages of others may hold anything; NUL and half characters cannot be stored."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()


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
        failed = {"call_id": effect.call_id, **_failure(error, MODEL_ERRORS, "unavailable")}
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
        payload["expires_at"] = _in(effect.seconds, context)
    return [
        system("approval_requested", payload, key=f"approval-{effect.approval_id}"),
        system("state_changed", {"from": "running", "to": "waiting_permission"}),
    ]


def _timer(effect: SetTimer, context: DriveContext, ports: Ports) -> Results:
    payload = {"timer_id": effect.timer_id, "due_at": _in(effect.seconds, context)}
    return [system("timer_set", payload, key=f"timer-{effect.timer_id}")]


def _in(seconds: float, context: DriveContext) -> str:
    return stamp(context.now() + timedelta(seconds=min(seconds, MAX_SECONDS)))


_PERFORM: dict[type, Callable[[Any, DriveContext, Ports], Results]] = {
    RunStep: _step,
    CallTool: _tool,
    CallModel: _model,
    SettleUnknown: _unknown,
    Ask: _ask,
    SetTimer: _timer,
}
