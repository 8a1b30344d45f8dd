"""What a run may want done. An effect is a value; `apps.runs.drive` carries it out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from omni.contracts.canonical import canonical
from omni.engine.lifecycle import Status


@dataclass(frozen=True, slots=True)
class RunStep:
    """Record that a step of the script is done; it has no effect outside the log."""

    step: int
    output: Any = None


@dataclass(frozen=True, slots=True)
class CallModel:
    call_id: str
    message_id: str
    model: str
    messages: list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class CallTool:
    """`repeat` marks a call whose intent is recorded already: same id, no new `tool_call`."""

    call_id: str
    tool: str
    arguments: dict[str, Any]
    idempotent: bool
    repeat: bool = False


@dataclass(frozen=True, slots=True)
class SettleUnknown:
    """A call was under way when its worker died, and may not be repeated blindly."""

    call_id: str
    effect: str


@dataclass(frozen=True, slots=True)
class Ask:
    approval_id: str
    title: str
    detail: dict[str, Any] = field(default_factory=dict)
    options: tuple[str, ...] = ("approve", "reject")
    seconds: int | None = None


@dataclass(frozen=True, slots=True)
class SetTimer:
    timer_id: str
    seconds: float


@dataclass(frozen=True, slots=True)
class StartChild:
    call_id: str
    child_run_id: str
    run_kind: str
    input: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Finish:
    status: Status
    reason: str = ""
    result: Any = None


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do until an approval, a timer, a child or a message arrives."""

    what: str


Effect = (
    RunStep | CallModel | CallTool | SettleUnknown | Ask | SetTimer | StartChild | Finish | Wait
)


def plain_text(value: Any) -> str:
    """Text as it is, anything else as canonical JSON: the order of keys must decide nothing."""
    return value if isinstance(value, str) else canonical(value).decode()
