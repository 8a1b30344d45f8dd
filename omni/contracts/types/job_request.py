"""Generated from the schemas by `python -m omni.contracts.generate`; edit those instead."""

from typing import Literal, NotRequired, TypedDict

from omni.contracts.types.shapes import (
    Actor,
    CallId,
    ContextProfile,
    JsonObject,
    Limits,
    Mode,
    Name,
    Slug,
    Tags,
)


class JobRequestConfig(TypedDict):
    """How to go about it."""

    max_retries: NotRequired[int]
    """Further attempts of each step."""
    trace: NotRequired[bool]
    """Whether every step is recorded in detail."""
    context: NotRequired[Name | ContextProfile]
    """Context profile: its name, or the profile itself."""
    limits: NotRequired[Limits]
    """Bounds on a run; reaching one pauses or fails it."""
    mode: NotRequired[Mode]
    """`analysis_only` blocks changes, `dry_run` simulates them."""


class JobRequest(TypedDict):
    """Work handed in from outside, as a file or over the bus; the same job id twice is one job."""

    schema_version: NotRequired[Literal[1]]
    """Version of this contract that the document follows; 1 when absent."""
    job_id: CallId
    """Chosen by the sender; makes repeating harmless."""
    task: str | JsonObject
    """What to do: a text, or an object by the input schema of the first agent."""
    agent_sequence: list[Name]
    """Roles that work on it, one after the other."""
    config: NotRequired[JobRequestConfig]
    """How to go about it."""
    project: NotRequired[Slug]
    """Project that it belongs to; the sender's default when absent."""
    requested_by: NotRequired[Actor]
    """Who asks for it."""
    tags: NotRequired[Tags]
    """Words to find it by."""
