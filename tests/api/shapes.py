"""What every failed answer must look like."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs

import omni.contracts

_SCHEMA = Path(omni.contracts.__file__).parent / "v1" / "problem.schema.json"
_VALIDATOR = jsonschema_rs.validator_for(json.loads(_SCHEMA.read_text()))


def problem(response: Any, status: int, category: str | None = None) -> dict[str, Any]:
    """Check that a response is a problem document of this status, and answer its content."""
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/problem+json"
    body: dict[str, Any] = json.loads(response.content)
    _VALIDATOR.validate(body)
    assert body["status"] == status
    assert body["request_id"] == response["X-Request-ID"]
    if category is not None:
        assert body["category"] == category
    return body
