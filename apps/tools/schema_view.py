"""A tool's JSON Schema as rows that people can read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

DEEPEST = 4
MOST = 200
_LIMITS = {
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "pattern": "matches {}",
    "format": "{}",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One field; `name` holds the way to it."""

    name: str
    kind: str
    required: bool
    meaning: str
    limits: str


def rows_of(schema: Mapping[str, Any]) -> list[Row]:
    """Every field of a schema, those inside others below them."""
    found = []
    for row in _rows(schema, "", 0):
        found.append(row)
        if len(found) == MOST:
            break
    return found


def _rows(schema: Any, prefix: str, depth: int) -> Iterator[Row]:
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping) or depth >= DEEPEST:
        return
    required = schema.get("required")
    needed = required if isinstance(required, list) else []
    for name, inner in properties.items():
        path = f"{prefix}{name}"
        node = inner if isinstance(inner, Mapping) else {}
        meaning = str(node.get("description") or node.get("title") or "")
        yield Row(path, _kind(node), name in needed, meaning[:500], _limits(node))
        yield from _rows(node, f"{path}.", depth + 1)
        yield from _rows(node.get("items"), f"{path}[].", depth + 1)


def _kind(node: Mapping[str, Any]) -> str:
    if "const" in node:
        return f"always {_short(node['const'])}"
    if isinstance(node.get("enum"), list):
        return f"one of {', '.join(_short(each) for each in node['enum'][:20])}"
    kinds = node.get("type", "any value")
    words = " or ".join(str(each) for each in kinds) if isinstance(kinds, list) else str(kinds)
    items = node.get("items")
    if words == "array" and isinstance(items, Mapping):
        return f"list of {_kind(items)}"
    return words


def _limits(node: Mapping[str, Any]) -> str:
    parts = [text.format(_short(node[key])) for key, text in _LIMITS.items() if key in node]
    if "default" in node:
        parts.append(f"{_short(node['default'])} when missing")
    return ", ".join(parts)


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:79]}…"
