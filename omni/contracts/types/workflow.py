"""Generated from the schemas by `python -m omni.contracts.generate`; edit those instead."""

from typing import Literal, NotRequired, TypeAlias, TypedDict

from omni.contracts.types.shapes import (
    Binding,
    DottedName,
    FailureCategory,
    JsonSchema,
    Limits,
    Name,
    NodeRole,
    Predicate,
    Requirement,
    Retry,
    Semver,
    Sentence,
    Tags,
    Title,
)


class WorkflowMap(TypedDict):
    """Does the node once for each item of a list."""

    over: Binding
    """The list."""
    into: Name
    """Input that receives the item."""
    max_parallel: NotRequired[int]
    """Most items at work at once."""
    max_items: NotRequired[int]
    """Longest acceptable list."""
    on_item_error: NotRequired[Literal["fail", "collect"]]
    """What a failing item does."""


class AgentNode(TypedDict):
    """An agent works on it."""

    id: Name
    """Names it within the workflow."""
    role: Literal["agent"]
    """What the node does."""
    title: NotRequired[Title]
    """A few words for people, on one line."""
    input: NotRequired[dict[str, Binding]]
    """Where its inputs come from."""
    retry: NotRequired[Retry]
    """How often and how patiently to try again."""
    timeout_seconds: NotRequired[float]
    """Longest duration."""
    map: NotRequired[WorkflowMap]
    """Does the node once for each item of a list."""
    stage: NotRequired[Name]
    """Stage that it belongs to."""
    agent: Requirement
    """Which agent."""
    fallback_agent: NotRequired[Requirement]
    """Takes over when it fails for good."""


class ApprovalNode(TypedDict):
    """A person decides."""

    id: Name
    """Names it within the workflow."""
    role: Literal["approval"]
    """What the node does."""
    title: NotRequired[Title]
    """A few words for people, on one line."""
    input: NotRequired[dict[str, Binding]]
    """Where its inputs come from."""
    retry: NotRequired[Retry]
    """How often and how patiently to try again."""
    timeout_seconds: NotRequired[float]
    """Longest duration."""
    map: NotRequired[WorkflowMap]
    """Does the node once for each item of a list."""
    stage: NotRequired[Name]
    """Stage that it belongs to."""
    question: Title
    """What is asked."""
    detail: NotRequired[Sentence]
    """What the person should know."""
    options: list[Name]
    """Answers to choose from."""
    expires_seconds: NotRequired[int]
    """It lapses after this time."""
    on_expiry: NotRequired[Literal["deny", "fail", "cancel"]]
    """What happens then."""


class DecisionNode(TypedDict):
    """Chooses one of its conditional edges by its inputs."""

    id: Name
    """Names it within the workflow."""
    role: Literal["decision"]
    """What the node does."""
    title: NotRequired[Title]
    """A few words for people, on one line."""
    input: NotRequired[dict[str, Binding]]
    """Where its inputs come from."""
    retry: NotRequired[Retry]
    """How often and how patiently to try again."""
    timeout_seconds: NotRequired[float]
    """Longest duration."""
    map: NotRequired[WorkflowMap]
    """Does the node once for each item of a list."""
    stage: NotRequired[Name]
    """Stage that it belongs to."""
    by: NotRequired[Literal["conditions", "agent"]]
    """Who chooses: the conditions, or an agent that names an edge."""
    agent: NotRequired[Requirement]
    """The agent that chooses."""


class FeedbackNode(TypedDict):
    """Has an earlier result improved until it is good enough."""

    id: Name
    """Names it within the workflow."""
    role: Literal["feedback"]
    """What the node does."""
    title: NotRequired[Title]
    """A few words for people, on one line."""
    input: NotRequired[dict[str, Binding]]
    """Where its inputs come from."""
    retry: NotRequired[Retry]
    """How often and how patiently to try again."""
    timeout_seconds: NotRequired[float]
    """Longest duration."""
    map: NotRequired[WorkflowMap]
    """Does the node once for each item of a list."""
    stage: NotRequired[Name]
    """Stage that it belongs to."""
    reviewer: Requirement
    """Agent that judges."""
    subject: Name
    """Node whose result is judged."""
    accept_when: Predicate
    """When the judgement is good enough."""
    max_rounds: int
    """Most rounds."""


class WorkflowStep(TypedDict):
    """One step of a linear node."""

    id: Name
    """Names it within the node."""
    tool: NotRequired[Requirement]
    """Tool to call."""
    agent: NotRequired[Requirement]
    """Agent to ask, if no tool is called."""
    input: NotRequired[dict[str, Binding]]
    """Where its inputs come from."""
    on_error: NotRequired[Literal["stop", "continue"]]
    """What a failure does."""


class LinearNode(TypedDict):
    """Steps one after the other, without branches."""

    id: Name
    """Names it within the workflow."""
    role: Literal["linear"]
    """What the node does."""
    title: NotRequired[Title]
    """A few words for people, on one line."""
    input: NotRequired[dict[str, Binding]]
    """Where its inputs come from."""
    retry: NotRequired[Retry]
    """How often and how patiently to try again."""
    timeout_seconds: NotRequired[float]
    """Longest duration."""
    map: NotRequired[WorkflowMap]
    """Does the node once for each item of a list."""
    stage: NotRequired[Name]
    """Stage that it belongs to."""
    steps: list[WorkflowStep]
    """The steps."""


class MergeNode(TypedDict):
    """Joins several results into one; none is dropped silently."""

    id: Name
    """Names it within the workflow."""
    role: Literal["merge"]
    """What the node does."""
    title: NotRequired[Title]
    """A few words for people, on one line."""
    input: NotRequired[dict[str, Binding]]
    """Where its inputs come from."""
    retry: NotRequired[Retry]
    """How often and how patiently to try again."""
    timeout_seconds: NotRequired[float]
    """Longest duration."""
    map: NotRequired[WorkflowMap]
    """Does the node once for each item of a list."""
    stage: NotRequired[Name]
    """Stage that it belongs to."""
    policy: Literal["list", "dict_by_source", "first", "custom"]
    """How."""
    reducer: NotRequired[Requirement]
    """Tool that joins them when the policy is `custom`."""
    require: NotRequired[Literal["all", "any"]]
    """How many results it waits for."""


class SubflowNode(TypedDict):
    """Another workflow runs as a child."""

    id: Name
    """Names it within the workflow."""
    role: Literal["subflow"]
    """What the node does."""
    title: NotRequired[Title]
    """A few words for people, on one line."""
    input: NotRequired[dict[str, Binding]]
    """Where its inputs come from."""
    retry: NotRequired[Retry]
    """How often and how patiently to try again."""
    timeout_seconds: NotRequired[float]
    """Longest duration."""
    map: NotRequired[WorkflowMap]
    """Does the node once for each item of a list."""
    stage: NotRequired[Name]
    """Stage that it belongs to."""
    workflow: Requirement
    """Which workflow."""


class ToolNode(TypedDict):
    """A tool is called; its inputs are the arguments."""

    id: Name
    """Names it within the workflow."""
    role: Literal["tool"]
    """What the node does."""
    title: NotRequired[Title]
    """A few words for people, on one line."""
    input: NotRequired[dict[str, Binding]]
    """Where its inputs come from."""
    retry: NotRequired[Retry]
    """How often and how patiently to try again."""
    timeout_seconds: NotRequired[float]
    """Longest duration."""
    map: NotRequired[WorkflowMap]
    """Does the node once for each item of a list."""
    stage: NotRequired[Name]
    """Stage that it belongs to."""
    tool: Requirement
    """Which tool."""


WorkflowNode: TypeAlias = (
    AgentNode
    | ToolNode
    | DecisionNode
    | MergeNode
    | FeedbackNode
    | ApprovalNode
    | SubflowNode
    | LinearNode
)
NormalEdge = TypedDict(
    "NormalEdge",
    {
        "from": Name,
        "to": Name,
        "kind": Literal["normal"],
    },
)
"""Follows when the node succeeded.

- from: Node before.
- to: Node after.
- kind: Kind of edge.
"""
ErrorEdge = TypedDict(
    "ErrorEdge",
    {
        "from": Name,
        "to": Name,
        "kind": Literal["error"],
        "categories": NotRequired[list[FailureCategory]],
    },
)
"""Follows when the node failed.

- from: Node before.
- to: Node after.
- kind: Kind of edge.
- categories: Only for these failures; any when absent.
"""
ConditionalEdge = TypedDict(
    "ConditionalEdge",
    {
        "from": Name,
        "to": Name,
        "kind": Literal["conditional"],
        "when": NotRequired[Predicate],
        "otherwise": NotRequired[bool],
        "label": NotRequired[Title],
        "priority": NotRequired[int],
    },
)
"""Follows when a decision chose it.

- from: The decision.
- to: Node after.
- kind: Kind of edge.
- when: Condition on the inputs of the decision.
- otherwise: Follows when no condition held.
- label: What people and agents call it.
- priority: Lower is tried first.
"""
FallbackEdge = TypedDict(
    "FallbackEdge",
    {
        "from": Name,
        "to": Name,
        "kind": Literal["fallback"],
    },
)
"""Follows when retries and error edges are used up.

- from: Node before.
- to: Node after.
- kind: Kind of edge.
"""
WorkflowEdge: TypeAlias = NormalEdge | ErrorEdge | ConditionalEdge | FallbackEdge


class WorkflowFallback(TypedDict):
    """One row of the fallback matrix."""

    category: FailureCategory
    """Failure."""
    node_type: NodeRole
    """Role of the node that failed."""
    to: Name
    """Node to go to."""


class Workflow(TypedDict):
    """A graph of work. It is checked when it is loaded; a bad graph never starts."""

    schema_version: NotRequired[Literal[1]]
    """Version of this contract that the document follows; 1 when absent."""
    name: DottedName
    """A name with parts: `filesystem.read_file`, `mcp.github.create-issue`."""
    version: Semver
    """A semantic version."""
    title: NotRequired[Title]
    """A few words for people, on one line."""
    description: NotRequired[Sentence]
    """What it does."""
    input_schema: NotRequired[JsonSchema]
    """Shape of its input."""
    output_schema: NotRequired[JsonSchema]
    """Shape of its result."""
    entry: Name
    """Node with which it begins."""
    exits: list[Name]
    """Nodes with which it may end."""
    nodes: list[WorkflowNode]
    """What is to be done."""
    edges: list[WorkflowEdge]
    """What follows what."""
    fallbacks: NotRequired[list[WorkflowFallback]]
    """Where to go when a node failed and no error edge fits."""
    limits: NotRequired[Limits]
    """Bounds on a run; reaching one pauses or fails it."""
    max_parallel: NotRequired[int]
    """Most nodes at work at once."""
    tags: NotRequired[Tags]
    """Words to find it by."""
