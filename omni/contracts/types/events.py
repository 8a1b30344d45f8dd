"""Generated from the schemas by `python -m omni.contracts.generate`; edit those instead."""

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

from omni.contracts.types.shapes import (
    Actor,
    FileName,
    Instant,
    JsonObject,
    Key,
    MediaType,
    Name,
    Sha256,
    Uuid,
)


class ArtifactRef(TypedDict):
    """Names bytes by their hash; wherever they are kept, they are the same."""

    sha256: Sha256
    """SHA-256 of the content, in lower-case hexadecimal digits."""
    size: int
    """Bytes."""
    media_type: MediaType
    """Kind of content, such as `text/plain; charset=utf-8`."""
    name: NotRequired[FileName]
    """What to call the file."""
    role: NotRequired[
        Literal[
            "input",
            "output",
            "attachment",
            "prompt",
            "response",
            "log",
            "diff",
            "report",
            "citation",
            "payload",
            "package",
        ]
    ]
    """What it is for."""


class CloudEvent(TypedDict):
    """A RunEvent as a CloudEvents 1.0 envelope, for other systems; nothing of the event is lost in
    it.
    """

    specversion: Literal["1.0"]
    """Version of CloudEvents."""
    id: str
    """Run and position: unique within the source."""
    source: str
    """Where it comes from."""
    type: str
    """`dev.omni.run.<kind>.v1`."""
    subject: Uuid
    """The run."""
    time: Instant
    """When it was appended."""
    datacontenttype: Literal["application/json"]
    """Kind of `data`."""
    dataschema: str
    """Name of the schema of `data`."""
    runid: Uuid
    """The run."""
    sequence: str
    """Position in the run, as a decimal number."""
    sequencetype: Literal["Integer"]
    """How `sequence` is to be read."""
    eventname: NotRequired[Name]
    """Which system event."""
    actor: Actor
    """Who did it: `system`, `user:<uuid>`, `worker:<uuid>` or `agent:<name>`."""
    payloadhash: Sha256
    """`payload_hash` of the event."""
    prevhash: NotRequired[Sha256]
    """`prev_hash` of the event."""
    eventhash: Sha256
    """`hash` of the event."""
    schemaversion: str
    """`schema_version` of the event."""
    idempotencykey: NotRequired[Key]
    """`idempotency_key` of the event."""
    traceparent: NotRequired[str]
    """W3C trace context."""
    data: NotRequired[JsonObject]
    """The payload; absent once it was erased."""


EventKind: TypeAlias = Literal[
    "run_created",
    "user_message",
    "assistant_message_delta",
    "assistant_message",
    "tool_call",
    "tool_result",
    "tool_error",
    "artifact_ref",
    "system_event",
]
SystemEventName: TypeAlias = Literal[
    "approval_answered",
    "approval_expired",
    "approval_requested",
    "budget_reached",
    "budget_reserved",
    "budget_settled",
    "cancel_requested",
    "child_finished",
    "child_started",
    "lease_taken",
    "model_call",
    "model_error",
    "model_result",
    "payload_erased",
    "pins_recorded",
    "policy_decided",
    "run_resumed",
    "run_retried",
    "state_changed",
    "step_finished",
    "step_started",
    "timer_fired",
    "timer_set",
    "workspace_changed",
]


class RunEvent(TypedDict):
    """One entry of a run's log: numbered, chained to its predecessor, never changed."""

    run_id: Uuid
    """The run."""
    seq: int
    """Position in the run: 1, 2, 3 … without gaps."""
    kind: EventKind
    """What kind of event it is; closed."""
    name: SystemEventName | None
    """Which system event; null for every other kind."""
    payload: dict[str, Any] | None
    """What happened, by the schema of its kind and name; null once it was erased."""
    payload_hash: Sha256
    """Hash of the canonical payload; it outlives an erased payload."""
    prev_hash: Sha256 | None
    """`hash` of the event before; null for the first."""
    hash: Sha256
    """Hash of the canonical object of actor, at, kind, name, payload_hash, prev_hash, run_id,
    schema_version and seq.
    """
    actor: Actor
    """Who did it: `system`, `user:<uuid>`, `worker:<uuid>` or `agent:<name>`."""
    at: Instant
    """When it was appended, by the database's clock."""
    schema_version: Literal[1]
    """Version of the contract that the payload follows."""
    idempotency_key: Key | None
    """The same key in the same run is the same event."""
