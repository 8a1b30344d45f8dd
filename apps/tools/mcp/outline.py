"""Anybody's JSON Schema as rows that people can read: name, type, limits, meaning."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from apps.tools.mcp.text import plain

MAX_DEPTH = 5
MAX_ROWS = 300
LIMITS = {
    "minLength": "at least {} characters", "maxLength": "at most {} characters",
    "minItems": "at least {} items", "maxItems": "at most {} items",
    "minimum": "at least {}", "maximum": "at most {}",
    "exclusiveMinimum": "more than {}", "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}", "pattern": "like {}", "format": "{}",
    "default": "{} by default",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One member of an object, however deep; `path` is how one would write it."""

    path: str
    kind: str
    limits: str
    required: bool
    meaning: str


def outline(schema: Any) -> list[Row]:
    """Rows of an object schema, its members' members included; never raises."""
    if not isinstance(schema, dict):
        return []
    found: list[Row] = []
    for row in _rows(schema, schema, "", 0):
        found.append(row)
        if len(found) == MAX_ROWS:
            break
    return found


def _rows(node: dict[str, Any], root: dict[str, Any], prefix: str, depth: int) -> Iterator[Row]:
    members = node.get("properties")
    required = node.get("required")
    if depth > MAX_DEPTH or not isinstance(members, dict):
        return
    for name, member in members.items():
        inner = _followed(member, root)
        path = f"{prefix}{name}"
        yield Row(
            path=plain(path, 200),
            kind=_kind(inner, root),
            limits=_limits(inner),
            required=isinstance(required, list) and name in required,
            meaning=plain(str(inner.get("description") or inner.get("title") or ""), 600),
        )
        items = _followed(inner.get("items", {}), root)
        yield from _rows(inner, root, f"{path}.", depth + 1)
        yield from _rows(items, root, f"{path}[].", depth + 1)


def _followed(node: Any, root: dict[str, Any]) -> dict[str, Any]:
    """What a local reference leads to, beside what stands next to it."""
    for _ in range(MAX_DEPTH):
        if not isinstance(node, dict):
            return {}
        reference = node.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return node
        target: Any = root
        for step in reference[2:].split("/"):
            target = target.get(step.replace("~1", "/").replace("~0", "~"), {})
            if not isinstance(target, dict):
                return {}
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    return node if isinstance(node, dict) else {}


def _kind(node: dict[str, Any], root: dict[str, Any], depth: int = 0) -> str:
    if depth > MAX_DEPTH:
        return "…"
    if "const" in node:
        return f"always {_value(node['const'])}"
    if isinstance(node.get("enum"), list):
        return "one of " + ", ".join(_value(each) for each in node["enum"][:12])
    for choice in ("oneOf", "anyOf"):
        if isinstance(node.get(choice), list):
            options = (_kind(_followed(each, root), root, depth + 1) for each in node[choice][:8])
            return " or ".join(dict.fromkeys(options))
    kinds = node.get("type", "any value")
    if isinstance(kinds, list):
        return " or ".join(plain(str(each), 20) for each in kinds[:8])
    if kinds == "array":
        return f"array of {_kind(_followed(node.get('items', {}), root), root, depth + 1)}"
    return plain(str(kinds), 40)


def _limits(node: dict[str, Any]) -> str:
    parts = [words.format(_value(node[key])) for key, words in LIMITS.items() if key in node]
    return ", ".join(parts)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return plain(value, 60)
    return plain(json.dumps(value, ensure_ascii=False), 60)
