"""Generated from the schemas by `python -m omni.contracts.generate`; edit those instead."""

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

Uuid: TypeAlias = str
Sha256: TypeAlias = str
Instant: TypeAlias = str
Semver: TypeAlias = str
VersionRange: TypeAlias = str
Name: TypeAlias = str
Slug: TypeAlias = str
DottedName: TypeAlias = str
NamePattern: TypeAlias = str
NodeId: TypeAlias = str
Key: TypeAlias = str
Scope: TypeAlias = str
Capability: TypeAlias = Literal[
    "read",
    "write",
    "external_write",
    "network_egress",
    "execute",
    "secrets",
    "delegate",
]
Risk: TypeAlias = Literal["low", "medium", "high", "critical"]
Mode: TypeAlias = Literal["normal", "analysis_only", "dry_run"]
RunStatus: TypeAlias = Literal[
    "queued",
    "running",
    "waiting_permission",
    "done",
    "failed",
    "cancelled",
]
Actor: TypeAlias = str
CallId: TypeAlias = str
MediaType: TypeAlias = str
FileName: TypeAlias = str
RelativePath: TypeAlias = str
Url: TypeAlias = str
Host: TypeAlias = str
Entrypoint: TypeAlias = str
SecretRef: TypeAlias = str
Pointer: TypeAlias = str
Title: TypeAlias = str
Sentence: TypeAlias = str
Text: TypeAlias = str
Tag: TypeAlias = str
Tags: TypeAlias = list[Tag]
JsonValue: TypeAlias = Any
JsonObject: TypeAlias = dict[str, Any]
JsonSchema: TypeAlias = dict[str, Any]
DurationMs: TypeAlias = int


class Money(TypedDict):
    """An amount of money."""

    amount: str
    """Decimal number as text, so that nothing is rounded."""
    currency: str
    """Three letters (ISO 4217)."""


class Spending(TypedDict):
    """An amount of what budgets bound: money, tokens, steps, seconds."""

    money: NotRequired[Money]
    """Money."""
    tokens: NotRequired[int]
    """Tokens."""
    steps: NotRequired[int]
    """Steps."""
    seconds: NotRequired[float]
    """Seconds."""


class Usage(TypedDict):
    """What a model call consumed."""

    prompt_tokens: int
    """Tokens read."""
    completion_tokens: int
    """Tokens written."""
    total_tokens: int
    """Both together."""
    cached_tokens: NotRequired[int]
    """Part of the prompt that the provider had cached."""
    reasoning_tokens: NotRequired[int]
    """Part of the completion that was thinking."""
    cost: NotRequired[Money | None]
    """Estimated cost; null when the price is unknown, which is not zero."""


FailureCategory: TypeAlias = Literal[
    "agent",
    "tool",
    "json",
    "context",
    "routing",
    "permission",
    "sandbox",
    "provider",
    "budget",
    "timeout",
    "cancelled",
    "outcome_unknown",
    "invalid_input",
    "engine",
]
NodeRole: TypeAlias = Literal[
    "agent",
    "tool",
    "decision",
    "merge",
    "feedback",
    "approval",
    "subflow",
    "linear",
]


class Failure(TypedDict):
    """A failure: its category, a sentence for people, data for programs."""

    category: FailureCategory
    """Which part failed."""
    message: Sentence
    """What happened and what to do about it."""
    data: NotRequired[JsonObject]
    """Details for programs."""
    stage: NotRequired[Name]
    """Stage in which it happened."""
    node: NotRequired[Name]
    """Workflow node in which it happened."""
    node_type: NotRequired[NodeRole]
    """What a workflow node does."""
    pipeline: NotRequired[DottedName]
    """Pipeline in which it happened."""


ToolErrorCategory: TypeAlias = Literal[
    "tool_failed",
    "invalid_input",
    "invalid_output",
    "permission_denied",
    "misconfigured",
    "timeout",
    "cancelled",
    "outcome_unknown",
    "limit_exceeded",
    "sandbox_refused",
    "budget_exceeded",
    "rate_limited",
    "unavailable",
    "quarantined",
]
ModelErrorCategory: TypeAlias = Literal[
    "authentication",
    "permission_denied",
    "invalid_request",
    "context_overflow",
    "content_filtered",
    "invalid_response",
    "rate_limited",
    "unavailable",
    "timeout",
    "cancelled",
    "outcome_unknown",
    "budget_exceeded",
    "misconfigured",
]
MemoryKind: TypeAlias = Literal["episodic", "semantic", "procedural"]
MemoryScope: TypeAlias = Literal["task", "project", "global"]


class Limits(TypedDict):
    """Bounds on a run; reaching one pauses or fails it."""

    money: NotRequired[Money]
    """Most money."""
    tokens: NotRequired[int]
    """Most tokens."""
    steps: NotRequired[int]
    """Most steps."""
    seconds: NotRequired[int]
    """Most seconds of wall time."""
    depth: NotRequired[int]
    """Deepest delegation."""
    children: NotRequired[int]
    """Most child runs."""
    on_reached: NotRequired[Literal["ask", "fail"]]
    """What then: ask a person, or fail."""


class Retry(TypedDict):
    """How often and how patiently to try again."""

    max_attempts: int
    """Attempts in all, the first included."""
    backoff_seconds: NotRequired[float]
    """Pause before the second attempt."""
    multiplier: NotRequired[float]
    """Each further pause is this many times longer."""
    max_backoff_seconds: NotRequired[float]
    """Longest pause."""
    on: NotRequired[list[FailureCategory]]
    """Only for these failures; any when absent."""


class Predicate(TypedDict):
    """A condition on one value of a document."""

    pointer: Pointer
    """Which value."""
    operator: Literal[
        "equals",
        "not_equals",
        "one_of",
        "prefix",
        "suffix",
        "contains",
        "matches",
        "under_path",
        "host_in",
        "less_than",
        "greater_than",
        "exists",
        "missing",
    ]
    """How to compare."""
    value: NotRequired[JsonValue]
    """What to compare with; absent for `exists` and `missing`."""


class FixedBinding(TypedDict):
    """A value written here."""

    value: JsonValue
    """The value itself."""


class SourceBinding(TypedDict):
    """A value taken from the input or an earlier result."""

    source: Name
    """`input`, or the id of an earlier node."""
    pointer: Pointer
    """Which part of it."""
    default: NotRequired[JsonValue]
    """Used when that part is missing."""


Binding: TypeAlias = FixedBinding | SourceBinding


class Pin(TypedDict):
    """An exact version and the hash of its content."""

    version: Semver
    """A semantic version."""
    sha256: Sha256
    """Hash of the canonical content."""


class Pinned(TypedDict):
    """A named thing at an exact version."""

    name: DottedName
    """Which one."""
    version: Semver
    """Exact version."""
    sha256: Sha256
    """Hash of the canonical content."""


class Requirement(TypedDict):
    """A named thing at any version of a range."""

    name: DottedName
    """Which one."""
    version: NotRequired[VersionRange]
    """Acceptable versions; any when absent."""


class ModelParams(TypedDict):
    """Parameters of a model call."""

    temperature: NotRequired[float]
    """Randomness."""
    top_p: NotRequired[float]
    """Share of probability to sample from."""
    max_tokens: NotRequired[int]
    """Most tokens to write."""
    seed: NotRequired[int]
    """Seed of the sampling."""
    stop: NotRequired[list[str]]
    """Texts that end the answer."""
    reasoning_effort: NotRequired[Literal["none", "low", "medium", "high"]]
    """How much to think."""
    response_schema: NotRequired[JsonSchema]
    """Shape that the answer must have."""
    extra: NotRequired[JsonObject]
    """Parameters of this provider alone."""


class ModelChoice(TypedDict):
    """A model and its parameters."""

    provider: DottedName
    """Who serves it."""
    model: str
    """The provider's name of the model."""
    params: NotRequired[ModelParams]
    """Parameters of each call."""


class Pins(TypedDict):
    """All that a run was started with, so that it can be repeated."""

    provider: NotRequired[DottedName]
    """Who serves the model."""
    model: NotRequired[str]
    """The provider's name of the model."""
    params: NotRequired[ModelParams]
    """Parameters of each model call."""
    seed: NotRequired[int]
    """Seed of the run."""
    agents: NotRequired[dict[str, Pin]]
    """Agents by name."""
    prompts: NotRequired[dict[str, Pin]]
    """Prompts by name."""
    tools: NotRequired[dict[str, Pin]]
    """Tools by name."""
    executors: NotRequired[dict[str, Semver]]
    """Executors by kind."""
    skills: NotRequired[dict[str, Pin]]
    """Skills by name."""
    policy: NotRequired[Pinned]
    """The policy."""
    workflow: NotRequired[Pinned]
    """The workflow."""
    pipeline: NotRequired[Pinned]
    """The pipeline."""
    engine: NotRequired[Semver]
    """Version of the engine."""


ContextSource: TypeAlias = Literal[
    "conversation",
    "knowledge",
    "agent_state",
    "profile",
    "tool_environment",
    "project_docs",
    "artifacts",
]


class ContextProfile(TypedDict):
    """What goes into a prompt."""

    max_tokens: int
    """Budget of the whole context."""
    retrieval_policy: NotRequired[Literal["none", "recent", "relevant", "hybrid"]]
    """What to retrieve."""
    sources: NotRequired[list[ContextSource]]
    """Where from."""
    include_task_history: NotRequired[bool]
    """Decisions so far are included."""
    include_project_docs: NotRequired[bool]
    """Project documents are included."""
    k_recent_messages: NotRequired[int]
    """Messages that are always kept."""
    head_tokens: NotRequired[int]
    """Kept verbatim at the start."""
    tail_tokens: NotRequired[int]
    """Kept verbatim at the end."""
    ranking_profile: NotRequired[Name]
    """How retrieved items are ranked."""


class Trust(TypedDict):
    """How far a node has proved itself."""

    score: float
    """Rolling score; 1 is best."""
    samples: int
    """Executions behind it."""
    updated_at: NotRequired[Instant]
    """When it was last reckoned."""
