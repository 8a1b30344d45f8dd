"""Generated from the schemas by `python -m omni.contracts.generate`; edit those instead."""

from typing import Literal, NotRequired, TypeAlias, TypedDict

from omni.contracts.types.events import ArtifactRef
from omni.contracts.types.shapes import (
    CallId,
    DottedName,
    DurationMs,
    JsonObject,
    JsonValue,
    Limits,
    Mode,
    Name,
    Pins,
    Semver,
    Sentence,
    Text,
    Title,
    ToolErrorCategory,
    Usage,
    Uuid,
)

ArtifactRefPayload: TypeAlias = ArtifactRef


class AssistantMessagePayload(TypedDict):
    """A complete answer; it holds all that its pieces held."""

    message_id: Uuid
    """Names the answer."""
    text: Text
    """The whole answer."""
    model_call_id: NotRequired[CallId]
    """The model call that wrote it."""
    agent: NotRequired[DottedName]
    """The agent that speaks."""
    usage: NotRequired[Usage]
    """What a model call consumed."""


class AssistantMessageDeltaPayload(TypedDict):
    """Part of an answer while it is being written; the complete answer follows as
    `assistant_message`.
    """

    message_id: Uuid
    """The answer it belongs to."""
    index: int
    """Position among the pieces: 0, 1, 2 …"""
    text: str
    """The piece."""


class RunCreatedPayloadParent(TypedDict):
    """The run that delegated this one."""

    run_id: Uuid
    """The parent."""
    call_id: CallId
    """Its call that waits for this run."""
    depth: int
    """How deep the delegation is; a child of a first run has 1."""


class RunCreatedPayloadFork(TypedDict):
    """The event from which this run was started anew."""

    run_id: Uuid
    """The run it continues."""
    seq: int
    """Last event that both share."""


class RunCreatedPayloadOrigin(TypedDict):
    """Through which door it came."""

    door: Literal[
        "workspace",
        "api",
        "cli",
        "admin",
        "job",
        "bus",
        "schedule",
        "mcp",
        "child",
        "fork",
        "retry",
        "engine",
    ]
    """The door."""
    ref: NotRequired[str]
    """What the door knows it by."""


class RunCreatedPayload(TypedDict):
    """First event of every run: what was asked, and all that the run is pinned to."""

    run_kind: Name
    """Which decider drives it: `chat`, `agent`, `workflow`, `job` …"""
    input: JsonValue
    """What the run was asked to do."""
    pins: Pins
    """All that a run was started with, so that it can be repeated."""
    title: NotRequired[Title]
    """What people see in lists."""
    parent: NotRequired[RunCreatedPayloadParent]
    """The run that delegated this one."""
    fork: NotRequired[RunCreatedPayloadFork]
    """The event from which this run was started anew."""
    limits: NotRequired[Limits]
    """Bounds on a run; reaching one pauses or fails it."""
    mode: NotRequired[Mode]
    """`analysis_only` blocks changes, `dry_run` simulates them."""
    origin: NotRequired[RunCreatedPayloadOrigin]
    """Through which door it came."""


class ToolCallPayload(TypedDict):
    """Written before the tool starts; exactly one `tool_result` or `tool_error` with the same call
    id follows.
    """

    call_id: CallId
    """Names one call within its run; also the idempotency key of its effect."""
    tool: DottedName
    """Which tool."""
    version: Semver
    """Exact version, as pinned."""
    arguments: JsonObject
    """What it is called with; secrets are references."""
    idempotent: bool
    """Whether it may be repeated after a crash with the same call id."""
    executor: NotRequired[str]
    """Executor and version, such as `sandbox_job 1.2.0`."""
    plan_step: NotRequired[int]
    """Step of the plan that it carries out."""
    agent: NotRequired[DottedName]
    """The agent that asked for it."""


class ToolErrorPayload(TypedDict):
    """The tool gave no result; the category tells a failing tool, a refusal and a wrong set-up
    apart.
    """

    call_id: CallId
    """The call it answers."""
    category: ToolErrorCategory
    """Why a tool call gave no result: the tool failed, permission was denied, or the engine is
    misconfigured, and finer cases.
    """
    message: Sentence
    """What happened and what to do about it."""
    data: NotRequired[JsonObject]
    """Details for programs."""
    duration_ms: NotRequired[DurationMs]
    """How long it took, in milliseconds."""


class ToolResultPayload(TypedDict):
    """The tool did its work; the output follows its declared schema."""

    call_id: CallId
    """The call it answers."""
    output: JsonValue
    """What the tool returned."""
    duration_ms: DurationMs
    """How long it took, in milliseconds."""
    artifacts: NotRequired[list[ArtifactRef]]
    """Files that it made."""
    simulated: NotRequired[bool]
    """True when the mode was `dry_run` and nothing was changed."""


class UserMessagePayload(TypedDict):
    """Something a person said to the run."""

    text: Text
    """What was said."""
    attachments: NotRequired[list[ArtifactRef]]
    """Files that go with it."""
