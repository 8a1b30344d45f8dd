"""Generated from the schemas by `python -m omni.contracts.generate`; edit those instead."""

from typing import NotRequired, TypedDict

from omni.contracts.types.shapes import (
    DottedName,
    Instant,
    JsonObject,
    Key,
    Name,
    NodeId,
    Tags,
    Uuid,
)


class Envelope(TypedDict):
    """What surrounds every message on the bus."""

    protocol_version: str
    """Version of the bus protocol; readers refuse another major version."""
    message_id: Uuid
    """Names the message."""
    correlation_id: Uuid
    """The conversation that it belongs to."""
    causation_id: NotRequired[Uuid]
    """The message that caused it."""
    type: DottedName
    """Subject, such as `node.exec.request.<group>`."""
    source: Name
    """Role that sends it."""
    target: Name
    """Role that shall handle it; each role is a consumer group."""
    node_id: NodeId | None
    """Node that shall handle it; any when null."""
    idempotent_key: Key
    """The same key is handled once."""
    created_at: Instant
    """When it was sent."""
    expires_at: NotRequired[Instant]
    """Not to be handled after that."""
    attempt: NotRequired[int]
    """Deliveries so far."""
    reply_to: NotRequired[DottedName]
    """Subject for the answer."""
    payload_schema: NotRequired[str]
    """Contract of the payload."""
    payload: JsonObject
    """The message itself."""
    tags: NotRequired[Tags]
    """Words to find it by."""
    trust: NotRequired[float]
    """Trust score of the sender."""
    traceparent: NotRequired[str]
    """W3C trace context."""
