"""Generated from the schemas by `python -m omni.contracts.generate`; edit those instead."""

from typing import Literal, NotRequired, TypedDict

from omni.contracts.types.events import ArtifactRef
from omni.contracts.types.shapes import (
    Actor,
    CallId,
    DottedName,
    DurationMs,
    Failure,
    Instant,
    JsonObject,
    JsonValue,
    Mode,
    ModelErrorCategory,
    ModelParams,
    Name,
    NodeId,
    Pins,
    RelativePath,
    RunStatus,
    Semver,
    Sentence,
    Sha256,
    Slug,
    Spending,
    Title,
    Usage,
    Uuid,
)


class ApprovalAnsweredPayload(TypedDict):
    """The first valid answer to the question; later ones are not written."""

    approval_id: Uuid
    """The question."""
    answer: Name
    """The chosen option."""
    reason: NotRequired[Sentence]
    """Why."""
    scope: NotRequired[Literal["once", "run", "project"]]
    """How far the answer reaches."""
    arguments: NotRequired[JsonObject]
    """What the call is made with instead, where the person changed it."""


class ApprovalExpiredPayload(TypedDict):
    """Nobody answered in time; the policy decided."""

    approval_id: Uuid
    """The question."""
    policy: Literal["deny", "fail", "cancel"]
    """What the policy does then."""


class ApprovalRequestedPayload(TypedDict):
    """A person must decide before the run goes on."""

    approval_id: Uuid
    """Names the question."""
    call_id: NotRequired[CallId]
    """The call that waits."""
    title: Title
    """The question."""
    detail: NotRequired[JsonObject]
    """What the person needs to decide."""
    options: list[Name]
    """Answers to choose from."""
    expires_at: NotRequired[Instant]
    """When the question lapses."""
    on_expiry: NotRequired[Literal["deny", "fail", "cancel"]]
    """What happens then."""
    rule: NotRequired[str]
    """The rule that asks."""


class BudgetReachedPayload(TypedDict):
    """A budget has no room for the next effect; the run waits for a person or fails, as
    configured.
    """

    call_id: NotRequired[CallId]
    """The call that does not fit."""
    per: Literal["run", "thread", "project", "day"]
    """What the budget covers."""
    policy: NotRequired[Slug]
    """Policy that sets the budget; absent for the run's own limits."""
    limit: Spending
    """Its bound."""
    used: Spending
    """Spent and set aside so far."""
    wanted: NotRequired[Spending]
    """What the call would have set aside."""
    proposed: NotRequired[Spending]
    """The bound that a person is asked to raise it to."""
    on_reached: Literal["ask", "fail"]
    """What happens now."""
    approval_id: NotRequired[Uuid]
    """The question, if a person is asked."""


class BudgetState(TypedDict):
    """A budget after this reservation."""

    per: Literal["run", "thread", "project", "day"]
    """What the budget covers."""
    policy: NotRequired[Slug]
    """Policy that sets it; absent for the run's own limits."""
    limit: Spending
    """Its bound."""
    used: Spending
    """Spent and set aside so far."""


class BudgetReservedPayload(TypedDict):
    """What an effect may cost at most is set aside before it starts."""

    call_id: CallId
    """The call it is set aside for."""
    amount: Spending
    """How much."""
    budgets: NotRequired[list[BudgetState]]
    """The budgets it counts against."""


class BudgetSettledPayload(TypedDict):
    """What the effect really cost; the rest of the reservation is free again."""

    call_id: CallId
    """The call it was set aside for."""
    amount: Spending
    """What it cost."""


class CancelRequestedPayload(TypedDict):
    """Someone asked the run to stop; no call is started after this."""

    reason: NotRequired[Sentence]
    """Why."""


class ChildFinishedPayload(TypedDict):
    """The delegated run ended."""

    child_run_id: Uuid
    """The child."""
    call_id: CallId
    """The call that waited for it."""
    status: Literal["done", "failed", "cancelled"]
    """How it ended."""
    result: NotRequired[JsonValue]
    """What it gives back."""
    error: NotRequired[Failure]
    """Why it failed."""


class ChildStartedPayload(TypedDict):
    """Work was delegated to a run of its own."""

    child_run_id: Uuid
    """The child."""
    call_id: CallId
    """The call that waits for it."""
    run_kind: Name
    """Which decider drives the child."""


class LeaseTakenPayload(TypedDict):
    """A worker took the run; whatever held it before can no longer write."""

    worker_id: Uuid
    """The worker."""
    epoch: int
    """Fencing token; grows with each lease."""
    attempt: int
    """How many workers have tried in all."""
    node_id: NotRequired[NodeId]
    """Where the worker runs."""


class ModelCallPayload(TypedDict):
    """Written before a model is asked."""

    call_id: CallId
    """Names one call within its run; also the idempotency key of its effect."""
    provider: DottedName
    """Who serves the model."""
    model: str
    """The provider's name of the model."""
    params: NotRequired[ModelParams]
    """Parameters of a model call."""
    prompt_hash: NotRequired[Sha256]
    """Hash of the canonical prompt."""
    prompt: NotRequired[ArtifactRef]
    """The prompt itself."""
    attempt: NotRequired[int]
    """Which attempt this is."""
    agent: NotRequired[DottedName]
    """The agent that asks."""


class ModelErrorPayload(TypedDict):
    """The model gave no answer."""

    call_id: CallId
    """The call it answers."""
    category: ModelErrorCategory
    """Why a model call gave no answer."""
    message: Sentence
    """What happened and what to do about it."""
    data: NotRequired[JsonObject]
    """Details for programs."""
    latency_ms: NotRequired[DurationMs]
    """How long it took, in milliseconds."""
    will_retry: NotRequired[bool]
    """Whether another attempt follows."""


class ModelResultPayload(TypedDict):
    """The model answered."""

    call_id: CallId
    """The call it answers."""
    message_id: NotRequired[Uuid]
    """The answer it became."""
    usage: Usage
    """What a model call consumed."""
    latency_ms: DurationMs
    """Time to the complete answer."""
    first_token_ms: NotRequired[DurationMs]
    """Time to the first piece."""
    finish_reason: NotRequired[
        Literal["stop", "length", "tool_calls", "content_filter", "cancelled", "other"]
    ]
    """Why it stopped."""
    output: NotRequired[JsonValue]
    """Structured output or tool calls it asked for."""
    response: NotRequired[ArtifactRef]
    """The raw response."""


class PayloadErasedPayload(TypedDict):
    """The payload of an earlier event was removed for good; its hash stays, so the chain still
    verifies.
    """

    seq: int
    """The event that lost its payload."""
    reason: Sentence
    """Why it had to go."""
    erased_by: Actor
    """Who decided."""


class PinsRecordedPayload(TypedDict):
    """Further exact versions that the run uses from here on."""

    pins: Pins
    """All that a run was started with, so that it can be repeated."""
    reason: NotRequired[Sentence]
    """Why they are recorded now."""


class ConsideredRule(TypedDict):
    """One rule that was looked at."""

    policy: Slug
    """Its policy."""
    version: Semver
    """Version of that policy."""
    rule: Slug
    """The rule."""
    effect: Literal["deny", "ask", "allow"]
    """What it decides."""
    matched: bool
    """Whether every condition held."""
    why: NotRequired[Sentence]
    """Which condition did not hold, or what became of the rule."""


class PolicyDecidedPayload(TypedDict):
    """What the policy says to one call, with the rule and every rule that was looked at."""

    call_id: CallId
    """The call that was decided."""
    tool: DottedName
    """Which tool."""
    version: Semver
    """Exact version, as pinned."""
    effect: Literal["deny", "ask", "allow"]
    """What was decided."""
    policy: Slug | None
    """Policy of the deciding rule or default; null when the platform itself decided."""
    policy_version: NotRequired[Semver]
    """Version of that policy."""
    rule: Slug | None
    """The deciding rule; null when none matched."""
    reason: Sentence
    """Why, for people."""
    considered: list[ConsideredRule]
    """Rules that were looked at, those that matched first."""
    call_hash: Sha256
    """Hash of the exact call: tool, version, hash of its manifest and arguments."""
    mode: Mode
    """Mode of the run."""


class RunResumedPayload(TypedDict):
    """The run goes on after a pause, a crash or a request."""

    by: Literal["sweeper", "user", "approval", "timer", "child", "signal", "worker"]
    """What set it going."""
    reason: NotRequired[Sentence]
    """Why."""


class RunRetriedPayload(TypedDict):
    """This run repeats another one that ended badly."""

    of_run_id: Uuid
    """The run it repeats."""
    reason: NotRequired[Sentence]
    """Why."""


StateChangedPayload = TypedDict(
    "StateChangedPayload",
    {
        "from": RunStatus,
        "to": RunStatus,
        "reason": NotRequired[Sentence],
        "result": NotRequired[JsonValue],
        "error": NotRequired[Failure],
    },
)
"""The run moved from one state to another; only legal moves are written.

- from: State before.
- to: State after.
- reason: Why.
- result: What a finished run gives back.
- error: Why a run failed.
"""


class StepFinishedPayload(TypedDict):
    """A step ended; its output is recorded and never computed again."""

    step: CallId
    """The step."""
    output: NotRequired[JsonValue]
    """What it gave."""
    error: NotRequired[Failure]
    """Why it failed."""
    duration_ms: NotRequired[DurationMs]
    """How long it took, in milliseconds."""


class StepStartedPayload(TypedDict):
    """A step of a plan, sequence or workflow begins."""

    step: CallId
    """Names the step within the run."""
    name: NotRequired[Title]
    """What people see."""
    attempt: NotRequired[int]
    """Which attempt this is."""
    input: NotRequired[JsonValue]
    """What the step works on."""


class TimerFiredPayload(TypedDict):
    """The moment has come."""

    timer_id: CallId
    """The timer."""


class TimerSetPayload(TypedDict):
    """The run waits until a moment."""

    timer_id: CallId
    """Names the timer within the run."""
    due_at: Instant
    """When to go on."""
    reason: NotRequired[Sentence]
    """Why it waits."""


class WorkspaceChangedPayload(TypedDict):
    """A file of the run's workspace was made, changed or removed; the diff can be viewed and
    undone.
    """

    call_id: NotRequired[CallId]
    """The call that changed it; absent when a person did."""
    path: RelativePath
    """The file, below the workspace root."""
    change: Literal["created", "modified", "deleted", "restored"]
    """What happened to it."""
    before: Sha256 | None
    """Hash of its content before; null when there was none."""
    after: Sha256 | None
    """Hash of its content now; null when it is gone."""
    diff: NotRequired[ArtifactRef]
    """The difference, as a file of the run; absent for what is no text."""
    undoes: NotRequired[int]
    """Number of the event whose change was undone."""
