"""Generated from the schemas by `python -m omni.contracts.generate`; edit those instead."""

from typing import Literal, NotRequired, TypedDict

from omni.contracts.types.shapes import (
    DottedName,
    Entrypoint,
    JsonObject,
    JsonSchema,
    NamePattern,
    Scope,
    Semver,
    Sentence,
    Tags,
)


class PluginHook(TypedDict):
    """One hook."""

    hook: Literal[
        "before_task",
        "after_task",
        "before_stage",
        "after_stage",
        "before_agent",
        "after_agent",
        "before_tool",
        "after_tool",
        "on_error",
        "on_completion",
    ]
    """When it is called."""
    order: NotRequired[int]
    """Lower is called first; then the plugin's name decides."""
    may_veto: NotRequired[bool]
    """Whether it may refuse what is about to happen."""
    on_failure: NotRequired[Literal["ignore", "veto", "fail"]]
    """What its own failure does to the run."""
    timeout_seconds: NotRequired[float]
    """Longest duration."""
    match: NotRequired[list[NamePattern]]
    """Only for these names, with `*`."""


class Plugin(TypedDict):
    """A plugin: which hooks it takes part in, and what it may touch. It can observe and veto,
    never bypass policy.
    """

    schema_version: NotRequired[Literal[1]]
    """Version of this contract that the document follows; 1 when absent."""
    name: DottedName
    """A name with parts: `filesystem.read_file`, `mcp.github.create-issue`."""
    version: Semver
    """A semantic version."""
    description: Sentence
    """What it does."""
    entrypoint: Entrypoint
    """Class of the plugin."""
    hooks: list[PluginHook]
    """Hooks that it takes part in."""
    config_schema: NotRequired[JsonSchema]
    """Shape of its configuration."""
    config: NotRequired[JsonObject]
    """Its configuration; secrets are references."""
    scopes: list[Scope]
    """All that it may touch."""
    enabled: NotRequired[bool]
    """Whether it is called; true when absent."""
    api_version: NotRequired[str]
    """Version of the hook interface it was written for."""
    tags: NotRequired[Tags]
    """Words to find it by."""
