"""Events of a run as lines that people read."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import datetime
from typing import Any

from omni.cli.text import clean, paint

LONGEST = 300
# They repeat what a later event says as a whole, or tell only how the work was shared out.
UNTOLD = ("assistant_message_delta", "lease_taken")
_COLOURS = {
    "user_message": "cyan",
    "assistant_message": "green",
    "tool_error": "red",
    "model_error": "red",
    "approval_requested": "yellow",
}


def line_of(event: dict[str, Any]) -> str:
    name = event["name"] or event["kind"]
    at = datetime.fromisoformat(event["at"]).astimezone().strftime("%H:%M:%S")
    label = paint(f"{name:<19}", _COLOURS.get(name, "bright_black"), stream=sys.stdout)
    return f"{at} {event['seq']:>5}  {label} {clean(told(event))[:LONGEST]}".rstrip()


def told(event: dict[str, Any]) -> str:
    """What an event says, in a few words."""
    payload = event["payload"]
    if payload is None:
        return "(erased)"
    tell = _TELLERS.get(event["name"] or event["kind"])
    return tell(payload) if tell else _compact(payload)


def _text(payload: dict[str, Any]) -> str:
    return str(payload["text"])


def _created(payload: dict[str, Any]) -> str:
    return f"{payload['run_kind']} {_compact(payload['input'])}"


def _changed(payload: dict[str, Any]) -> str:
    reason = f" ({payload['reason']})" if payload.get("reason") else ""
    return f"{payload['from']} → {payload['to']}{reason}"


def _called(payload: dict[str, Any]) -> str:
    return f"{payload['tool']} {_compact(payload['arguments'])}"


def _failed(payload: dict[str, Any]) -> str:
    return f"{payload['category']}: {payload['message']}"


def _asked(payload: dict[str, Any]) -> str:
    options = " | ".join(payload["options"])
    return f"{payload['title']} → omni approvals answer {payload['approval_id']} {options}"


def _decided(payload: dict[str, Any]) -> str:
    rule = f" ({payload['policy']}: {payload['rule']})" if payload.get("rule") else ""
    return f"{payload['effect']} {payload['tool']}{rule}: {payload['reason']}"


def _edited(payload: dict[str, Any]) -> str:
    return f"{payload['change']} {payload['path']}"


def _spent(payload: dict[str, Any]) -> str:
    return _compact(payload["amount"])


def _file(payload: dict[str, Any]) -> str:
    return f"{payload.get('name', '')} {payload['size']} bytes {payload['sha256']}".strip()


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if value else ""


_TELLERS: dict[str, Callable[[dict[str, Any]], str]] = {
    "run_created": _created,
    "user_message": _text,
    "assistant_message": _text,
    "assistant_message_delta": _text,
    "tool_call": _called,
    "tool_result": lambda payload: _compact(payload["output"]),
    "tool_error": _failed,
    "model_error": _failed,
    "artifact_ref": _file,
    "policy_decided": _decided,
    "workspace_changed": _edited,
    "budget_reserved": _spent,
    "budget_settled": _spent,
    "state_changed": _changed,
    "approval_requested": _asked,
    "approval_answered": lambda payload: str(payload["answer"]),
    "step_started": lambda payload: str(payload["step"]),
    "step_finished": lambda payload: f"{payload['step']} {_compact(payload.get('output'))}",
}
