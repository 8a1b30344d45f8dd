"""Schemas of other servers in the one dialect of our manifests (2020-12)."""

from __future__ import annotations

from typing import Any

DIALECT = "https://json-schema.org/draft/2020-12/schema"
OLD = ("http://json-schema.org/draft-07/schema", "http://json-schema.org/draft-06/schema")
# Members whose values are schemas, lists of schemas, or maps to schemas; all else is data.
SCHEMAS = frozenset(
    {"additionalProperties", "additionalItems", "contains", "else", "if", "items", "not",
     "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"}
)  # fmt: skip
LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "items"})
MAPS = frozenset(
    {"$defs", "definitions", "dependentSchemas", "patternProperties", "properties", "dependencies"}
)


def modern(schema: dict[str, Any]) -> dict[str, Any]:
    """The same schema in 2020-12; without a dialect it is taken for that already."""
    dialect = str(schema.get("$schema", "")).rstrip("#")
    if dialect in OLD:
        return {"$schema": DIALECT, **_converted(schema, top=True)}
    if not dialect:
        return {"$schema": DIALECT, **schema}
    return dict(schema)


def _converted(node: Any, *, top: bool = False) -> Any:
    if not isinstance(node, dict):
        return node
    if isinstance(node.get("$ref"), str) and not top:
        return {"$ref": _moved(node["$ref"])}  # draft-07 ignores what stands beside it
    found: dict[str, Any] = {}
    for key, value in node.items():
        found.update(_member(key, value, node))
    return found


def _member(key: str, value: Any, node: dict[str, Any]) -> dict[str, Any]:
    if key == "$schema":
        return {}
    if key == "$ref" and isinstance(value, str):
        return {key: _moved(value)}
    if key == "definitions" and isinstance(value, dict):
        return {"$defs": {name: _converted(each) for name, each in value.items()}}
    if key == "items" and isinstance(value, list):
        rest = _converted(node.get("additionalItems", True))
        return {"prefixItems": [_converted(each) for each in value], "items": rest}
    if key == "additionalItems":
        return {}
    if key == "dependencies" and isinstance(value, dict):
        return _dependencies(value)
    if key == "$id" and isinstance(value, str) and value.startswith("#"):
        return {"$anchor": value[1:]}
    return {key: _inside(key, value)}


def _inside(key: str, value: Any) -> Any:
    if key in MAPS and isinstance(value, dict):
        return {name: _converted(each) for name, each in value.items()}
    if key in LISTS and isinstance(value, list):
        return [_converted(each) for each in value]
    return _converted(value) if key in SCHEMAS else value


def _dependencies(value: dict[str, Any]) -> dict[str, Any]:
    required = {name: each for name, each in value.items() if isinstance(each, list)}
    schemas = {name: _converted(each) for name, each in value.items() if name not in required}
    found: dict[str, Any] = {"dependentRequired": required} if required else {}
    return found | ({"dependentSchemas": schemas} if schemas else {})


def _moved(reference: str) -> str:
    return reference.replace("#/definitions/", "#/$defs/").replace("/definitions/", "/$defs/")
