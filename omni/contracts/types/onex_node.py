"""Generated from the schemas by `python -m omni.contracts.generate`; edit those instead."""

from typing import Literal, NotRequired, TypeAlias, TypedDict

from omni.contracts.types.shapes import (
    DottedName,
    Name,
    RelativePath,
    Requirement,
    Scope,
    Semver,
    Sentence,
    Sha256,
    Tags,
    Title,
    Trust,
)
from omni.contracts.types.state_contract import StateContract


class OnexPythonEntrypoint(TypedDict):
    """A Python file with a function."""

    type: Literal["python"]
    """Kind of node."""
    target: RelativePath
    """The file."""
    function: NotRequired[Name]
    """The function; `run` when absent."""


class OnexCliEntrypoint(TypedDict):
    """A program that reads and writes JSON."""

    type: Literal["cli"]
    """Kind of node."""
    command: list[str]
    """Program and arguments."""


class OnexNoopEntrypoint(TypedDict):
    """Nothing: the state passes through."""

    type: Literal["noop"]
    """Kind of node."""


OnexNodeEntrypoint: TypeAlias = OnexPythonEntrypoint | OnexCliEntrypoint | OnexNoopEntrypoint


class OnexNodeLimits(TypedDict):
    """Bounds of one execution."""

    wall_seconds: NotRequired[float]
    """Longest duration."""
    memory_bytes: NotRequired[int]
    """Most memory."""
    output_bytes: NotRequired[int]
    """Largest output state."""


class OnexNode(TypedDict):
    """Metadata of a node (`.onex`): identity, life, hash lock, and the state contract it keeps."""

    schema_version: NotRequired[Literal[1]]
    """Version of this contract that the document follows; 1 when absent."""
    namespace: DottedName
    """Family that it belongs to."""
    name: Name
    """A name in the product: lower-case letters, digits and underscores."""
    version: Semver
    """A semantic version."""
    description: Sentence
    """What it does."""
    kind: NotRequired[Literal["node", "agent", "tool", "validator", "test", "scaffold"]]
    """What it is."""
    lifecycle: Literal["draft", "review", "active", "deprecated"]
    """Where it stands; only active nodes are executed without being asked for by version."""
    entrypoint: OnexNodeEntrypoint
    """How it is executed."""
    state_contract: RelativePath | StateContract
    """The contract: a file beside the node, or the contract itself."""
    hash: Sha256 | None
    """Hash lock over the node's files; null for a draft that was never locked."""
    files: NotRequired[list[RelativePath]]
    """Files that belong to it and that the hash covers."""
    tags: NotRequired[Tags]
    """Words to find it by."""
    author: NotRequired[Title]
    """Who made it."""
    license: NotRequired[str]
    """SPDX expression."""
    dependencies: NotRequired[list[Requirement]]
    """Nodes that it needs."""
    triggers: NotRequired[list[Name]]
    """Groups over which it can be triggered."""
    scopes: NotRequired[list[Scope]]
    """All that it may touch."""
    limits: NotRequired[OnexNodeLimits]
    """Bounds of one execution."""
    idempotent: NotRequired[bool]
    """Whether it may be repeated after a crash."""
    trust: NotRequired[Trust]
    """How far a node has proved itself."""
    replaced_by: NotRequired[DottedName]
    """What to use instead of a deprecated node."""
