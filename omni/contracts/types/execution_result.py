"""Generated from the schemas by `python -m omni.contracts.generate`; edit those instead."""

from typing import Literal, NotRequired, TypedDict

from omni.contracts.types.events import ArtifactRef
from omni.contracts.types.shapes import (
    DottedName,
    DurationMs,
    Failure,
    Instant,
    JsonObject,
    JsonValue,
    Key,
    NodeId,
    Semver,
    Sentence,
    Sha256,
    Trust,
    Uuid,
)


class ExecutionResultEntry(TypedDict):
    """One line of the trace."""

    at: Instant
    """When."""
    level: Literal["debug", "info", "warning", "error"]
    """How important."""
    message: Sentence
    """What happened."""
    data: NotRequired[JsonObject]
    """Details for programs."""


class ExecutionResult(TypedDict):
    """What an execution of a node gave: both states, its trace, its error, its trust."""

    schema_version: NotRequired[Literal[1]]
    """Version of this contract that the document follows; 1 when absent."""
    node: DottedName
    """The node."""
    version: Semver
    """A semantic version."""
    node_hash: Sha256
    """Hash of the node that was executed."""
    status: Literal[
        "ok",
        "error",
        "timeout",
        "cpu_limit",
        "memory_limit",
        "file_limit",
        "disk_limit",
        "output_limit",
        "signal",
        "refused",
        "contract_broken",
    ]
    """How it ended."""
    input_state: JsonValue
    """State before."""
    output_state: JsonValue
    """State after; null when it failed."""
    trace: list[ExecutionResultEntry]
    """What happened meanwhile."""
    error: Failure | None
    """Why it failed; null when it did not."""
    trust: Trust | None
    """Trust score after it; null when it does not count."""
    started_at: Instant
    """When it began."""
    duration_ms: DurationMs
    """How long it took, in milliseconds."""
    idempotent_key: NotRequired[Key]
    """Key of the trigger."""
    run_id: NotRequired[Uuid]
    """Run that records it."""
    node_id: NotRequired[NodeId]
    """Where it was executed."""
    artifacts: NotRequired[list[ArtifactRef]]
    """Files that it made."""
