"""Generated from the schemas by `python -m omni.contracts.generate`; edit those instead."""

from typing import Literal, NotRequired, TypeAlias, TypedDict

from omni.contracts.types.shapes import (
    Actor,
    DottedName,
    Instant,
    Mode,
    ModelChoice,
    Predicate,
    Retry,
    Sentence,
    Slug,
    Tag,
)


class OverrideCondition(TypedDict):
    """When it counts; always, if absent."""

    modes: NotRequired[list[Mode]]
    """Modes of the run."""
    tags: NotRequired[list[Tag]]
    """Tags, any of which the task has."""
    predicates: NotRequired[list[Predicate]]
    """Conditions on the input, all of which hold."""


class RouteToAction(TypedDict):
    """Another target is taken."""

    kind: Literal["route_to"]
    """Which change."""
    to: DottedName
    """The other target."""


class DisableAction(TypedDict):
    """The target is not taken."""

    kind: Literal["disable"]
    """Which change."""


class SetRetryAction(TypedDict):
    """The target is retried differently."""

    kind: Literal["set_retry"]
    """Which change."""
    retry: Retry
    """How often and how patiently to try again."""


class SetModelAction(TypedDict):
    """The target asks another model."""

    kind: Literal["set_model"]
    """Which change."""
    model: ModelChoice
    """A model and its parameters."""


OverrideAction: TypeAlias = RouteToAction | DisableAction | SetRetryAction | SetModelAction


class OverrideTarget(TypedDict):
    """What it changes."""

    kind: Literal["pipeline", "workflow", "node", "edge", "fallback"]
    """What that is."""
    name: DottedName
    """Which one; for a node `workflow.node`."""


class Override(TypedDict):
    """A deliberate change of routing; each use of it is recorded with its name and reason."""

    schema_version: NotRequired[Literal[1]]
    """Version of this contract that the document follows; 1 when absent."""
    name: DottedName
    """A name with parts: `filesystem.read_file`, `mcp.github.create-issue`."""
    target: OverrideTarget
    """What it changes."""
    when: NotRequired[OverrideCondition]
    """When it counts; always, if absent."""
    action: OverrideAction
    """What changes; the target must exist, nothing is invented."""
    reason: Sentence
    """Why; shown wherever it took effect."""
    author: Actor
    """Who made it."""
    created_at: NotRequired[Instant]
    """When."""
    expires_at: NotRequired[Instant]
    """It counts until then."""
    priority: NotRequired[int]
    """Higher wins over lower."""
    project: NotRequired[Slug]
    """Only in this project."""
    enabled: NotRequired[bool]
    """Whether it counts; true when absent."""
