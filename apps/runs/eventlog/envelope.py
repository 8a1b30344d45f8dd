"""The shape in which an event leaves the log: the same from the table, the stream and an export."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any


def stamp(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds")[:-6] + "Z"


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of a run's log, as `run-event.schema.json` describes it."""

    run_id: uuid.UUID
    seq: int
    kind: str
    name: str
    payload: dict[str, Any] | None
    payload_hash: str
    prev_hash: str
    hash: str
    actor: str
    at: datetime
    schema_version: int
    idempotency_key: str | None

    def as_json(self) -> dict[str, Any]:
        return {
            "run_id": str(self.run_id),
            "seq": self.seq,
            "kind": self.kind,
            "name": self.name or None,
            "payload": self.payload,
            "payload_hash": self.payload_hash,
            "prev_hash": self.prev_hash,
            "hash": self.hash,
            "actor": self.actor,
            "at": stamp(self.at),
            "schema_version": self.schema_version,
            "idempotency_key": self.idempotency_key,
        }

    @property
    def head(self) -> dict[str, Any]:
        """What the chain hash covers: the payload only by its hash, so that it can be erased."""
        return {
            "actor": self.actor,
            "at": stamp(self.at),
            "kind": self.kind,
            "name": self.name,
            "payload_hash": self.payload_hash,
            "prev_hash": self.prev_hash,
            "run_id": str(self.run_id),
            "schema_version": self.schema_version,
            "seq": self.seq,
        }
