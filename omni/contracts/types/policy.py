"""Generated from the schemas by `python -m omni.contracts.generate`; edit those instead."""

from typing import Literal, NotRequired, TypedDict

from omni.contracts.types.shapes import (
    Actor,
    Capability,
    Host,
    Instant,
    Mode,
    Money,
    Name,
    NamePattern,
    Predicate,
    Risk,
    Scope,
    Semver,
    Sentence,
    Slug,
    Uuid,
    VersionRange,
)


class PolicyMatch(TypedDict):
    """Conditions; an empty object matches everything."""

    tools: NotRequired[list[NamePattern]]
    """Names of tools, with `*`."""
    versions: NotRequired[VersionRange]
    """Versions of the tool."""
    scopes: NotRequired[list[Scope]]
    """Scopes, any of which is requested."""
    capabilities: NotRequired[list[Capability]]
    """Classes of effect, any of which it has."""
    risks: NotRequired[list[Risk]]
    """Levels of risk."""
    arguments: NotRequired[list[Predicate]]
    """Conditions on the arguments, all of which hold."""
    agents: NotRequired[list[NamePattern]]
    """Names of agents, with `*`."""
    projects: NotRequired[list[Slug]]
    """Projects."""
    users: NotRequired[list[Uuid]]
    """People for whom the run works."""
    roles: NotRequired[list[Name]]
    """Roles that such a person holds."""
    modes: NotRequired[list[Mode]]
    """Modes of the run."""
    run_ids: NotRequired[list[Uuid]]
    """Single runs."""
    hosts: NotRequired[list[Host]]
    """Hosts that the call would reach."""
    spent_share: NotRequired[float]
    """At least this share of a budget is spent."""


class PolicyOrigin(TypedDict):
    """Where the rule comes from."""

    kind: Literal["file", "admin", "approval", "package", "default"]
    """How it was made."""
    approval_id: NotRequired[Uuid]
    """The answered approval."""
    run_id: NotRequired[Uuid]
    """The run in which it arose."""
    by: NotRequired[Actor]
    """Who made it."""
    at: NotRequired[Instant]
    """When."""


class PolicyRule(TypedDict):
    """One rule; it matches when every condition that it names holds."""

    id: Slug
    """Names it in decisions."""
    effect: Literal["deny", "ask", "allow"]
    """What it decides."""
    match: PolicyMatch
    """Conditions; an empty object matches everything."""
    reason: Sentence
    """Why; shown with each decision."""
    expires_at: NotRequired[Instant]
    """It counts until then."""
    origin: NotRequired[PolicyOrigin]
    """Where the rule comes from."""


class PolicyApprovals(TypedDict):
    """How approvals are asked for."""

    expires_seconds: NotRequired[int]
    """They lapse after this time."""
    on_expiry: NotRequired[Literal["deny", "fail", "cancel"]]
    """What happens then."""
    outcome_unknown: NotRequired[Literal["ask", "fail", "skip"]]
    """What to do when nobody knows whether a call took effect."""


class PolicyBudget(TypedDict):
    """A bound on spending."""

    per: Literal["run", "thread", "project", "day"]
    """What it covers."""
    money: NotRequired[Money]
    """Most money."""
    tokens: NotRequired[int]
    """Most tokens."""
    steps: NotRequired[int]
    """Most steps."""
    seconds: NotRequired[int]
    """Most seconds."""
    on_reached: Literal["ask", "fail"]
    """What then."""


class Policy(TypedDict):
    """What may be done. Of the rules that match, deny beats ask and ask beats allow; what no rule
    matches gets the default.
    """

    schema_version: NotRequired[Literal[1]]
    """Version of this contract that the document follows; 1 when absent."""
    name: Slug
    """A name in addresses: lower-case letters, digits and hyphens."""
    version: Semver
    """A semantic version."""
    description: NotRequired[Sentence]
    """What it is for."""
    default: Literal["deny", "ask"]
    """For what no rule matches; nothing is ever allowed by default."""
    rules: list[PolicyRule]
    """The rules; their order has no meaning."""
    approvals: NotRequired[PolicyApprovals]
    """How approvals are asked for."""
    budgets: NotRequired[list[PolicyBudget]]
    """Bounds on spending."""
