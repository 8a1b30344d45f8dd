"""Generated from the schemas by `python -m omni.contracts.generate`; edit those instead."""

from typing import Literal, NotRequired, TypedDict

from omni.contracts.types.shapes import (
    DottedName,
    FailureCategory,
    JsonSchema,
    JsonValue,
    Pointer,
    Semver,
    Sentence,
    Title,
)


class StateContractExample(TypedDict):
    """One execution."""

    input: JsonValue
    """State before."""
    output: JsonValue
    """State after."""
    title: NotRequired[Title]
    """What it shows."""


class StateContract(TypedDict):
    """What a node needs before and promises after; checked on both sides of each execution."""

    schema_version: NotRequired[Literal[1]]
    """Version of this contract that the document follows; 1 when absent."""
    name: DottedName
    """A name with parts: `filesystem.read_file`, `mcp.github.create-issue`."""
    version: Semver
    """A semantic version."""
    description: NotRequired[Sentence]
    """What it promises."""
    input: JsonSchema
    """Shape of the state before."""
    output: JsonSchema
    """Shape of the state after."""
    preserves: NotRequired[list[Pointer]]
    """Parts of the input that the output repeats unchanged."""
    errors: NotRequired[list[FailureCategory]]
    """Failures that a caller must expect."""
    examples: NotRequired[list[StateContractExample]]
    """Executions that must hold."""
