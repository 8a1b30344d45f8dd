"""Schemas that others wrote, of tools, agents and nodes: checked before they may check anything."""

from __future__ import annotations

from typing import Any

import jsonschema_rs

from omni.contracts.bounds import check_bounds
from omni.contracts.errors import InvalidInput
from omni.contracts.validation import LINEAR_TIME, MASK, explain, refuse_retrieval
from omni.contracts.workload import Workload

MAX_SCHEMA_BYTES = 256 * 1024
DIALECTS = frozenset(
    {
        "https://json-schema.org/draft/2020-12/schema",
        "https://json-schema.org/draft/2019-09/schema",
        "http://json-schema.org/draft-07/schema",
    }
)


class ForeignSchema:
    """A schema of someone else that was found to be harmless."""

    def __init__(self, schema: dict[str, Any]) -> None:
        check_bounds(schema, max_bytes=MAX_SCHEMA_BYTES)
        _check_dialect(schema)
        Workload(schema).check()
        self._validator = _compile(schema)

    def validate(self, instance: Any, *, what: str = "The value") -> None:
        """Refuse an instance that does not follow the schema."""
        check_bounds(instance)
        if not self._validator.is_valid(instance):
            raise explain(self._validator.iter_errors(instance), what=what)


def _compile(schema: dict[str, Any]) -> jsonschema_rs.Validator:
    try:
        return jsonschema_rs.validator_for(
            schema,
            retriever=refuse_retrieval,
            pattern_options=LINEAR_TIME,
            validate_formats=True,
            mask=MASK,
        )
    except jsonschema_rs.ValidationError as error:
        raise explain([error], what="The schema") from None
    except (jsonschema_rs.ReferencingError, ValueError) as error:
        reason = str(error).partition("\n")[0][:300]
        raise InvalidInput(
            f"The schema cannot be used: {reason}", data={"rule": "schema"}
        ) from None


def _check_dialect(schema: dict[str, Any]) -> None:
    dialect = schema.get("$schema")
    if dialect is not None and str(dialect).rstrip("#") not in DIALECTS:
        raise InvalidInput.field("$schema", f"The dialect “{str(dialect)[:100]}” is not known.")
