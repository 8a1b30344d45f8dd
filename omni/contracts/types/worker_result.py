"""Generated from the schemas by `python -m omni.contracts.generate`; edit those instead."""

from typing import Literal, NotRequired, TypedDict

from omni.contracts.types.events import ArtifactRef
from omni.contracts.types.shapes import DurationMs, Failure, JsonValue, Usage, Uuid


class WorkerResult(TypedDict):
    """What delegated work gives back: a summary, the files it made, and every failure with what to
    do about it.
    """

    schema_version: NotRequired[Literal[1]]
    """Version of this contract that the document follows; 1 when absent."""
    summary: str
    """What was done, for people and the delegating agent."""
    artifacts: list[ArtifactRef]
    """Files that it made."""
    errors: list[Failure]
    """Failures on the way."""
    status: Literal["done", "partial", "failed", "cancelled"]
    """How it ended."""
    run_id: NotRequired[Uuid]
    """Run that did it."""
    output: NotRequired[JsonValue]
    """Result by the schema of the agent."""
    usage: NotRequired[Usage]
    """What a model call consumed."""
    duration_ms: NotRequired[DurationMs]
    """How long it took, in milliseconds."""
    depth: NotRequired[int]
    """How deep the delegation was."""
