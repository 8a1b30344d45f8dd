"""Generated from the schemas by `python -m omni.contracts.generate`; edit those instead."""

from typing import Literal, NotRequired, TypedDict

from omni.contracts.types.shapes import (
    DottedName,
    FailureCategory,
    Limits,
    Mode,
    Name,
    NodeRole,
    Requirement,
    Semver,
    Sentence,
    Tag,
    Title,
)


class PipelineMatch(TypedDict):
    """When it can be chosen; what is absent does not matter."""

    modes: NotRequired[list[Mode]]
    """Modes of the run."""
    tags: NotRequired[list[Tag]]
    """Tags, any of which the task has."""
    all_tags: NotRequired[list[Tag]]
    """Tags, all of which the task has."""
    not_tags: NotRequired[list[Tag]]
    """Tags, none of which the task has."""
    min_score: NotRequired[float]
    """Least score."""
    run_kinds: NotRequired[list[Name]]
    """Kinds of run."""


class PipelineStage(TypedDict):
    """One stage."""

    name: Name
    """A name in the product: lower-case letters, digits and underscores."""
    title: NotRequired[Title]
    """A few words for people, on one line."""
    nodes: NotRequired[list[Name]]
    """Nodes that belong to it."""


class PipelineFallback(TypedDict):
    """One row of the fallback matrix."""

    category: FailureCategory
    """Failure."""
    node_type: NodeRole
    """Role of the node that failed."""
    to: Name
    """Node to go to."""


class Pipeline(TypedDict):
    """Which workflow a task gets. The choice depends on mode, tags and scores alone, so it can be
    repeated.
    """

    schema_version: NotRequired[Literal[1]]
    """Version of this contract that the document follows; 1 when absent."""
    name: DottedName
    """A name with parts: `filesystem.read_file`, `mcp.github.create-issue`."""
    version: Semver
    """A semantic version."""
    description: NotRequired[Sentence]
    """What it is for."""
    match: PipelineMatch
    """When it can be chosen; what is absent does not matter."""
    weights: NotRequired[dict[str, float]]
    """Weight of each tag in the score."""
    priority: NotRequired[int]
    """Higher wins between equal scores; then the name decides."""
    workflow: Requirement
    """Workflow that does the work."""
    stages: NotRequired[list[PipelineStage]]
    """Stages that people see, in order."""
    fallbacks: NotRequired[list[PipelineFallback]]
    """Where to go after a failure: category and node type lead to a node."""
    default: NotRequired[bool]
    """Taken when nothing else matches."""
    limits: NotRequired[Limits]
    """Bounds on a run; reaching one pauses or fails it."""
    enabled: NotRequired[bool]
    """Whether it can be chosen; true when absent."""
