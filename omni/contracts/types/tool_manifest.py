"""Generated from the schemas by `python -m omni.contracts.generate`; edit those instead."""

from typing import Literal, NotRequired, TypeAlias, TypedDict

from omni.contracts.types.events import ArtifactRef
from omni.contracts.types.shapes import (
    Capability,
    DottedName,
    Entrypoint,
    Host,
    JsonObject,
    JsonSchema,
    JsonValue,
    Risk,
    Scope,
    SecretRef,
    Semver,
    Sentence,
    Sha256,
    Slug,
    Tags,
    Text,
    Title,
    ToolErrorCategory,
    Url,
)


class InprocSafeConfig(TypedDict):
    """What it needs."""

    entrypoint: Entrypoint
    """Python callable as `package.module:function`."""


class InprocSafeExecutor(TypedDict):
    """In the worker itself; only for tools that come with the platform."""

    kind: Literal["inproc_safe"]
    """Which executor."""
    version: Semver
    """Version of the executor."""
    config: InprocSafeConfig
    """What it needs."""


class McpRemoteConfig(TypedDict):
    """What it needs."""

    server: Slug
    """Name of the registered server."""
    tool: str
    """The server's own name of the tool."""
    definition_sha256: Sha256
    """Hash of the definition that was accepted; a changed one is quarantined."""


class McpRemoteExecutor(TypedDict):
    """On a registered MCP server."""

    kind: Literal["mcp_remote"]
    """Which executor."""
    version: Semver
    """Version of the executor."""
    config: McpRemoteConfig
    """What it needs."""


class OpenapiProxyConfig(TypedDict):
    """What it needs."""

    document_sha256: Sha256
    """Hash of the accepted OpenAPI document."""
    operation_id: str
    """Operation in it."""
    base_url: Url
    """Server to call."""
    credential: NotRequired[SecretRef]
    """Secret that signs it in, where one is enough."""
    credentials: NotRequired[dict[str, SecretRef]]
    """Names of the document's security schemes and the secrets for them."""


class OpenapiProxyExecutor(TypedDict):
    """As an operation of an HTTP API."""

    kind: Literal["openapi_proxy"]
    """Which executor."""
    version: Semver
    """Version of the executor."""
    config: OpenapiProxyConfig
    """What it needs."""


class SandboxJobConfig(TypedDict):
    """What it needs."""

    command: list[str]
    """Program and arguments; `{name}` stands for an argument of the call."""
    stdin: NotRequired[Literal["none", "arguments"]]
    """What the program reads."""
    output: NotRequired[Literal["json", "text", "exit_code"]]
    """How its output is read."""
    egress: NotRequired[list[Host]]
    """Hosts that it may reach, once approved."""
    secrets: NotRequired[dict[str, SecretRef]]
    """Environment names and the secrets they hold."""
    files: NotRequired[list[ArtifactRef]]
    """Artifacts placed into its folder."""


class SandboxJobExecutor(TypedDict):
    """In namespaces of its own."""

    kind: Literal["sandbox_job"]
    """Which executor."""
    version: Semver
    """Version of the executor."""
    config: SandboxJobConfig
    """What it needs."""


ToolManifestExecutor: TypeAlias = (
    InprocSafeExecutor | SandboxJobExecutor | McpRemoteExecutor | OpenapiProxyExecutor
)


class ToolManifestLimits(TypedDict):
    """Bounds of one call."""

    wall_seconds: float
    """Longest duration."""
    cpu_seconds: NotRequired[float]
    """Most processor time."""
    memory_bytes: NotRequired[int]
    """Most memory."""
    output_bytes: NotRequired[int]
    """Largest output."""
    file_bytes: NotRequired[int]
    """Largest file written."""
    processes: NotRequired[int]
    """Most processes."""
    calls_per_run: NotRequired[int]
    """Most calls in one run."""


class ToolManifestExample(TypedDict):
    """One call."""

    title: NotRequired[Title]
    """What it shows."""
    arguments: JsonObject
    """What it is called with."""
    output: NotRequired[JsonValue]
    """What it should give."""
    error: NotRequired[ToolErrorCategory]
    """How it should fail instead."""


class ToolManifest(TypedDict):
    """A tool: what it takes and gives, what it may touch, and how it is executed. Nothing runs
    that is not declared so.
    """

    schema_version: NotRequired[Literal[1]]
    """Version of this contract that the document follows; 1 when absent."""
    name: DottedName
    """Its name; unique together with the version."""
    version: Semver
    """Its version; a published version never changes."""
    title: NotRequired[Title]
    """A few words for people, on one line."""
    description: Sentence
    """What it does, for people and models."""
    input_schema: JsonSchema
    """Shape of the arguments."""
    output_schema: JsonSchema
    """Shape of the output."""
    scopes: list[Scope]
    """All that it may touch."""
    capabilities: list[Capability]
    """Classes of effect that it has."""
    executor: ToolManifestExecutor
    """How it is executed; the version of the executor is recorded with each run."""
    limits: ToolManifestLimits
    """Bounds of one call."""
    idempotency: Literal["idempotent", "keyed", "not_idempotent"]
    """`idempotent` may be repeated, `keyed` only with the same call id, `not_idempotent` never
    blindly.
    """
    risk: Risk
    """How much harm a wrong call can do."""
    simulates: NotRequired[bool]
    """Whether it can answer in `dry_run` without changing anything."""
    editable: NotRequired[bool]
    """Whether a person who approves a call may change its arguments."""
    tags: NotRequired[Tags]
    """Words to find it by."""
    examples: NotRequired[list[ToolManifestExample]]
    """Calls that show how it is used, and that its tests check."""
    documentation: NotRequired[Text]
    """Longer explanation in Markdown."""
    deprecated: NotRequired[Sentence]
    """Why not to use it any more, and what instead."""
