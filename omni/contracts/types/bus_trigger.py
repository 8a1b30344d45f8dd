"""Generated from the schemas by `python -m omni.contracts.generate`; edit those instead."""

from typing import Literal, NotRequired, TypedDict

from omni.contracts.types.shapes import (
    Actor,
    Binding,
    DottedName,
    Instant,
    JsonObject,
    Key,
    Name,
    Tag,
    VersionRange,
)


class BusTriggerNext(TypedDict):
    """A further trigger."""

    node: DottedName
    """The node."""
    group: Name
    """Group of executors."""
    input: NotRequired[dict[str, Binding]]
    """Input state: written here, or from `input` or `result` of the node before."""


class BusTriggerFilters(TypedDict):
    """Which nodes and senders are acceptable."""

    tags: NotRequired[list[Tag]]
    """Tags that the node has."""
    min_trust: NotRequired[float]
    """Least trust score of the node."""
    lifecycle: NotRequired[list[Literal["draft", "review", "active", "deprecated"]]]
    """Acceptable lifecycles; `active` when absent."""


class BusTrigger(TypedDict):
    """Asks over the bus to execute a node; answered on `node.exec.result.<group>`."""

    schema_version: NotRequired[Literal[1]]
    """Version of this contract that the document follows; 1 when absent."""
    node: DottedName
    """The node."""
    version: NotRequired[VersionRange]
    """Acceptable versions; the active one when absent."""
    group: Name
    """Group of executors; part of the subject."""
    idempotent_key: Key
    """The same key executes once."""
    input: JsonObject
    """Input state of the node."""
    on_success: NotRequired[list[BusTriggerNext]]
    """Triggered next when it succeeds."""
    on_failure: NotRequired[list[BusTriggerNext]]
    """Triggered next when it fails."""
    filters: NotRequired[BusTriggerFilters]
    """Which nodes and senders are acceptable."""
    deadline: NotRequired[Instant]
    """Not to be started after that."""
    depth: NotRequired[int]
    """Length of the chain so far."""
    requested_by: NotRequired[Actor]
    """Who asks for it."""
