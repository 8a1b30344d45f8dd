"""A tool to register in tests."""

from __future__ import annotations

import copy
from typing import Any

MANIFEST: dict[str, Any] = {
    "name": "text.count",
    "version": "1.0.0",
    "description": "Counts the words of a text.",
    "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}},
    "output_schema": {"type": "object", "properties": {"words": {"type": "integer"}}},
    "scopes": [],
    "capabilities": ["execute"],
    "executor": {
        "kind": "sandbox_job",
        "version": "1.0.0",
        "config": {"command": ["wc", "-w"], "stdin": "arguments"},
    },
    "limits": {"wall_seconds": 5},
    "idempotency": "idempotent",
    "risk": "low",
}


def manifest(**changes: Any) -> dict[str, Any]:
    return copy.deepcopy(MANIFEST) | changes
