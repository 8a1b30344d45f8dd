"""A schema in words: its fields with type, limits and meaning, for documents and pages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from omni.contracts import catalogue
from omni.contracts.twins import camel

KINDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "null": "null",
    "array": "list",
    "object": "object",
}
UNBOUNDED = 2**53 - 1


@dataclass(frozen=True, slots=True)
class Field:
    """One member of an object."""

    name: str
    kind: str
    limits: str
    required: bool
    meaning: str
    # The schema and the definition in it that the type is explained by, if it has a name.
    schema: str = ""
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Shape:
    """An object, or a value with a name of its own."""

    name: str
    title: str
    meaning: str
    kind: str
    limits: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Description:
    """A whole schema: its document first, then the definitions that it uses."""

    name: str
    version: int
    title: str
    meaning: str
    written: str
    shapes: tuple[Shape, ...]
    example: str


def describe(name: str, version: int | None = None) -> Description:
    document = catalogue.schema(name, version)
    shapes = [_shape("", document, document)] if name != "shapes" else []
    for key, node in document.get("$defs", {}).items():
        shapes.append(_shape(key, node, document))
        shapes += _branches(key, node, document)
    example = document.get("examples", [None])[0]
    return Description(
        name=name,
        version=version or catalogue.latest(name),
        title=document["title"],
        meaning=document["description"],
        written=document.get("x-written", ""),
        shapes=tuple(shapes),
        example="" if example is None else json.dumps(example, indent=2, ensure_ascii=False),
    )


def _shape(name: str, node: dict[str, Any], root: dict[str, Any]) -> Shape:
    title = node.get("title") or camel(name)
    meaning = node.get("description", "")
    source, base = node, root
    if not name and "$ref" in node:
        source, base = _target(node["$ref"], root)
    kind = "object" if "properties" in source else _kind(source, base)
    return Shape(name, title, meaning, kind, _limits(source), tuple(_fields(source, base)))


def _branches(key: str, node: dict[str, Any], root: dict[str, Any]) -> Iterator[Shape]:
    """Objects that are written out inside a choice or a property of a definition."""
    inside = [*node.get("oneOf", ()), *node.get("properties", {}).values()]
    for each in inside:
        if "properties" in each and "title" in each:
            yield _shape(f"{key}.{each['title']}", each, root)


def _fields(node: dict[str, Any], root: dict[str, Any]) -> Iterator[Field]:
    for name, member in node.get("properties", {}).items():
        target = _target(member["$ref"], root)[0] if "$ref" in member else member
        yield Field(
            name=name,
            kind=_kind(member, root),
            limits=_limits(member),
            required=name in node.get("required", ()),
            meaning=member.get("description") or target.get("description", ""),
            **_explained_by(member, root),
        )


def _explained_by(node: dict[str, Any], root: dict[str, Any]) -> dict[str, str]:
    """Of a list or a nullable value, what is inside counts."""
    inner = node.get("items") or next(iter(node.get("anyOf", ())), None) or node
    if "$ref" not in inner:
        return {}
    base, _, anchor = inner["$ref"].partition("#/$defs/")
    return {"schema": catalogue.from_uri(base or root["$id"])[0], "anchor": anchor}


def _target(reference: str, root: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    base, _, path = reference.partition("#/$defs/")
    document = catalogue.schema(*catalogue.from_uri(base)) if base else root
    return (document["$defs"][path] if path else document), document


def _kind(node: dict[str, Any], root: dict[str, Any]) -> str:
    if "$ref" in node:
        base, _, path = node["$ref"].partition("#/$defs/")
        return path or catalogue.from_uri(base)[0]
    if "const" in node:
        return f"always {json.dumps(node['const'])}"
    if "enum" in node:
        return f"one of {', '.join(json.dumps(value) for value in node['enum'])}"
    for choice in ("oneOf", "anyOf"):
        if choice in node:
            options = (each.get("title") or _kind(each, root) for each in node[choice])
            return " or ".join(dict.fromkeys(options))
    kinds = node.get("type", "any value")
    if isinstance(kinds, list):
        return " or ".join(KINDS[each] for each in kinds)
    if kinds == "array":
        return f"list of {_kind(node['items'], root)}"
    if kinds == "object" and isinstance(node.get("additionalProperties"), dict):
        return f"map to {_kind(node['additionalProperties'], root)}"
    return str(node.get("title") or KINDS.get(kinds, kinds))


def _limits(node: dict[str, Any]) -> str:
    parts = [
        _span(node, "minLength", "maxLength", "characters"),
        _span(node, "minItems", "maxItems", "items"),
        _span(node, "minimum", "maximum", ""),
        f"{node['maxProperties']:,} members at most" if "maxProperties" in node else "",
        "no item twice" if node.get("uniqueItems") else "",
    ]
    return ", ".join(part for part in parts if part)


def _span(node: dict[str, Any], low: str, high: str, unit: str) -> str:
    if high not in node:
        return ""
    least, most = node.get(low, 0), node[high]
    if least == most:
        return f"{most:,} {unit}".strip()
    if most >= UNBOUNDED:
        return f"{least:,} or more {unit}".strip()
    return f"{least:,} to {most:,} {unit}".strip()
