"""Generated from the schemas by `python -m omni.contracts.generate`; edit those instead."""

from typing import Literal, NotRequired, TypedDict

from omni.contracts.types.shapes import (
    ContextProfile,
    DottedName,
    JsonSchema,
    Limits,
    Mode,
    ModelChoice,
    Name,
    Requirement,
    Retry,
    Scope,
    Semver,
    Sentence,
    Tags,
    Text,
    Title,
)


class AgentManifestPrompt(TypedDict):
    """Its standing instructions."""

    system: Text
    """Head of every prompt."""
    task_template: NotRequired[Text]
    """How the task is put; `{{name}}` stands for a value."""
    version: NotRequired[Semver]
    """Version of the prompt; that of the agent when absent."""
    schema_instructions: NotRequired[bool]
    """Whether the output schema is explained in the prompt."""


class AgentManifestPermissions(TypedDict):
    """The most it may do; the policy may allow less."""

    scopes: list[Scope]
    """Scopes of the tools it may ask for."""
    modes: NotRequired[list[Mode]]
    """Modes in which it may work."""
    limits: NotRequired[Limits]
    """Bounds on a run; reaching one pauses or fails it."""


class AgentManifestLoop(TypedDict):
    """How it works."""

    kind: Literal["single", "chat", "plan_execute_verify", "magentic"]
    """Which loop."""
    max_steps: NotRequired[int]
    """Most turns."""
    max_replans: NotRequired[int]
    """Most new plans."""
    stall_after: NotRequired[int]
    """Turns without progress before it plans anew."""
    json_retries: NotRequired[int]
    """Times a malformed answer is asked for again."""


class AgentManifestDelegation(TypedDict):
    """Work that it may hand on."""

    max_depth: int
    """Deepest delegation."""
    max_fan_out: int
    """Most children at once."""
    agents: NotRequired[list[DottedName]]
    """Agents it may hand work to; any when absent."""


class AgentManifest(TypedDict):
    """An agent: its role, model, prompt, tools, context and shapes."""

    schema_version: NotRequired[Literal[1]]
    """Version of this contract that the document follows; 1 when absent."""
    name: DottedName
    """A name with parts: `filesystem.read_file`, `mcp.github.create-issue`."""
    version: Semver
    """A semantic version."""
    role: Name
    """Role that it can take in a sequence."""
    title: NotRequired[Title]
    """A few words for people, on one line."""
    description: Sentence
    """What it is for; routing reads it too."""
    model: ModelChoice
    """A model and its parameters."""
    fallback_models: NotRequired[list[ModelChoice]]
    """Asked in this order when the model does not answer."""
    prompt: AgentManifestPrompt
    """Its standing instructions."""
    tools: list[Requirement]
    """Tools that it may ask for."""
    skills: NotRequired[list[Requirement]]
    """Skills injected into its prompt."""
    context: Name | ContextProfile
    """Context profile: its name, or the profile itself."""
    input_schema: JsonSchema
    """Shape of its task."""
    output_schema: JsonSchema
    """Shape of its result."""
    permissions: AgentManifestPermissions
    """The most it may do; the policy may allow less."""
    loop: NotRequired[AgentManifestLoop]
    """How it works."""
    delegation: NotRequired[AgentManifestDelegation]
    """Work that it may hand on."""
    retry: NotRequired[Retry]
    """How often and how patiently to try again."""
    fallback_agent: NotRequired[DottedName]
    """Takes over when it fails for good."""
    memory: NotRequired[Name]
    """Memory configuration that it uses."""
    tags: NotRequired[Tags]
    """Words to find it by."""
