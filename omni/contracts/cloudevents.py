"""Run events for other systems, as CloudEvents 1.0, and back again without loss."""

from __future__ import annotations

from typing import Any, cast

from omni.contracts import catalogue
from omni.contracts.types import CloudEvent, RunEvent
from omni.contracts.validation import validate

CONTENT_TYPE = "application/cloudevents+json"
TYPE_PREFIX = "dev.omni.run."
# Attribute of the envelope → member of the event; those an event may lack come second.
ATTRIBUTES = {
    "runid": "run_id",
    "actor": "actor",
    "time": "at",
    "payloadhash": "payload_hash",
    "eventhash": "hash",
}
OPTIONAL_ATTRIBUTES = {
    "eventname": "name",
    "prevhash": "prev_hash",
    "idempotencykey": "idempotency_key",
}


def to_cloudevent(event: RunEvent, *, source: str = "", traceparent: str = "") -> CloudEvent:
    """The event in an envelope; `source` is the address of the run if others can reach it."""
    version = event["schema_version"]
    schema = catalogue.payload_schema(event["kind"], event["name"])
    members = cast(dict[str, Any], event)
    envelope: dict[str, Any] = {
        "specversion": "1.0",
        "id": f"{event['run_id']}/{event['seq']}",
        "source": source or f"urn:omni:run:{event['run_id']}",
        "type": f"{TYPE_PREFIX}{event['kind']}.v{version}",
        "subject": event["run_id"],
        "datacontenttype": "application/json",
        "dataschema": catalogue.uri(schema, version),
        "sequence": str(event["seq"]),
        "sequencetype": "Integer",
        "schemaversion": str(version),
        **{attribute: members[member] for attribute, member in ATTRIBUTES.items()},
    }
    for attribute, member in OPTIONAL_ATTRIBUTES.items():
        if members[member] is not None:
            envelope[attribute] = members[member]
    if traceparent:
        envelope["traceparent"] = traceparent
    if event["payload"] is not None:
        envelope["data"] = event["payload"]
    validate("cloud-event", envelope)
    return cast(CloudEvent, envelope)


def from_cloudevent(envelope: Any) -> RunEvent:
    """The event of an envelope that this module made; anything else is refused."""
    validate("cloud-event", envelope)
    event: dict[str, Any] = {
        "seq": int(envelope["sequence"]),
        "kind": envelope["type"].removeprefix(TYPE_PREFIX).rpartition(".")[0],
        "payload": envelope.get("data"),
        "schema_version": int(envelope["schemaversion"]),
        **{member: envelope[attribute] for attribute, member in ATTRIBUTES.items()},
        **{member: envelope.get(attribute) for attribute, member in OPTIONAL_ATTRIBUTES.items()},
    }
    validate("run-event", event)
    return cast(RunEvent, event)
