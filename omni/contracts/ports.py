"""What lower floors receive from higher ones: small protocols instead of imports."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from omni.contracts.errors import ErrorCategory, OmniError
from omni.contracts.types.shapes import Mode, ToolErrorCategory


class MemoryPort(Protocol):
    """What a project remembers."""

    def search(self, project_id: uuid.UUID, query: str, *, most: int) -> list[dict[str, Any]]:
        """Items that have to do with the query, best first; each says why."""
        ...

    def remember(
        self, project_id: uuid.UUID, text: str, *, kind: str, importance: float, call_id: str
    ) -> dict[str, Any]:
        """Keep a text; answers its id and whether it is new."""
        ...


class RunContext(Protocol):
    """What an effect may know of the run it works for."""

    @property
    def run_id(self) -> uuid.UUID: ...

    @property
    def memory(self) -> MemoryPort:
        """What the run's project remembers."""
        ...

    def cancelled(self) -> bool:
        """Whether to stop now: the run is being cancelled or belongs to another worker."""
        ...

    def emit_delta(self, message_id: str, text: str) -> None:
        """Stream a piece of an answer; pieces are gathered before they are appended."""
        ...

    def put_artifact(self, data: bytes, *, media_type: str, name: str = "") -> str:
        """Store bytes, record that the run refers to them, answer their SHA-256."""
        ...

    def get_artifact(self, sha256: str, *, max_bytes: int) -> bytes:
        """The bytes of an artifact that some run of the same project refers to."""
        ...


class ModelPort(Protocol):
    """Streams the pieces of an answer, and says afterwards what it used."""

    def stream(
        self, model: str, messages: list[dict[str, str]], context: RunContext
    ) -> Iterator[str]: ...

    def usage(self, messages: list[dict[str, str]], answer: str) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class RunFacts:
    """For whom and where a run works."""

    project_id: uuid.UUID
    project: str
    thread_id: uuid.UUID
    user_id: str = ""
    roles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A call that a run wants to make, with all that a decision about it depends on."""

    facts: RunFacts
    call_id: str
    tool: str
    arguments: dict[str, Any]
    idempotent: bool = False
    version: str | None = None
    agent: str = ""
    mode: Mode = "normal"
    pins: dict[str, dict[str, str]] = field(default_factory=dict)
    """Tools that the run is pinned to, by name."""
    answers: dict[str, str] = field(default_factory=dict)
    """Approvals of the run that are settled, by id."""
    grants: list[dict[str, Any]] = field(default_factory=list)
    """Rules that people added for this run."""
    spent: dict[str, float] = field(default_factory=dict)
    """What is used by now, by scope and unit, such as `run:steps`."""
    is_edited: bool = False
    """Whether a person changed the arguments while approving the call."""
    calls_made: int = 0
    """How often the run has called this tool before."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a person must answer before the call may be made."""

    approval_id: str
    title: str
    detail: dict[str, Any]
    options: tuple[str, ...]
    rule: str = ""
    seconds: int | None = None
    on_expiry: str = "deny"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a request: to be made, to be asked, or refused; with its decision."""

    tool: str
    version: str = "0.0.0"
    executor: str = ""
    idempotent: bool = False
    decision: dict[str, Any] | None = None
    """Payload of the `policy_decided` event; None when it came to no decision."""
    question: Question | None = None
    refusal: dict[str, Any] | None = None
    """Category, message and data of the `tool_error` instead of a call."""
    budgets: tuple[dict[str, Any], ...] = ()
    """Bounds that count, each with the name of its policy."""
    cost: dict[str, Any] = field(default_factory=dict)
    """What the call uses of them at most."""
    prepared: Any = None
    """What the port itself needs to carry it out."""


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a call gave: its output, and what it changed."""

    output: Any
    simulated: bool = False
    artifacts: tuple[dict[str, Any], ...] = ()
    changes: tuple[dict[str, Any], ...] = ()
    """Payloads of `workspace_changed` events."""


class ToolFailed(OmniError):
    """A call without a result; `kind` is the category of its `tool_error`."""

    def __init__(
        self,
        kind: ToolErrorCategory,
        message: str,
        *,
        data: dict[str, Any] | None = None,
        changes: tuple[dict[str, Any], ...] = (),
    ) -> None:
        super().__init__(message, category=ErrorCategory.INVALID, data=data)
        self.kind = kind
        self.changes = changes


class ToolPort(Protocol):
    """Decides about calls and carries them out; nothing else reaches a tool."""

    def prepare(self, request: ToolRequest, context: RunContext) -> Verdict:
        """The decision, without any effect: it may be asked again after a crash."""
        ...

    def execute(self, verdict: Verdict, request: ToolRequest, context: RunContext) -> ToolOutcome:
        """Make an allowed call; raises ToolFailed when it gave no result."""
        ...
