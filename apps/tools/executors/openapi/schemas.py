"""Schemas of OpenAPI 3.0 and 3.1 as one standalone JSON Schema 2020-12, with what it refers to."""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal

import jsonschema_rs

from apps.tools.executors.openapi.document import Document, Node, Unusable
from omni.contracts.bounds import exact_integer
from omni.contracts.validation import LINEAR_TIME

Direction = Literal["request", "response"]

MAX_DEPTH = 24
MAX_PARTS = 20_000
FAR = 10_000
MAX_WORDS = 400
TYPES = frozenset({"string", "number", "integer", "boolean", "null", "array", "object"})
# Formats of OpenAPI that say how a number is stored, which JSON does not know.
STORAGE = frozenset({"int32", "int64", "float", "double", "password", "byte", "binary"})
_SAFE = re.compile(r"[^A-Za-z0-9_.-]+")


class SchemaWriter:
    """Collects one schema and the definitions it needs, nearest first.

    References further away than `reach` become "anything", for what is too much as a whole.
    """

    def __init__(self, document: Document, direction: Direction, *, reach: int = FAR) -> None:
        self._document = document
        self._hidden = "readOnly" if direction == "request" else "writeOnly"
        self._names: dict[str, str] = {}
        self._waiting: deque[tuple[str, int]] = deque()
        self._parts = 0
        self._reach = reach
        self._level = 0
        self._definitions: dict[str, Any] = {}

    def write(self, schema: Any, depth: int = 0) -> Any:
        """The schema in 2020-12; what no reader understands is left out."""
        self._parts += 1
        if self._parts > MAX_PARTS:
            raise Unusable("its schema is too large")
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, dict) or depth > MAX_DEPTH:
            return {}
        if isinstance(schema.get("$ref"), str):
            return self._reference(schema, depth)
        out: dict[str, Any] = {}
        for key, value in schema.items():
            writer = _KEYWORDS.get(key)
            written = writer(self, value, depth) if writer else None
            if written is not None:
                out[key] = written
        self._settle(schema, out)
        return out

    def _reference(self, schema: Node, depth: int) -> Any:
        pointer = schema["$ref"]
        if pointer not in self._names:
            self._document.find(pointer)
            if self._level >= self._reach:
                return {}
            self._names[pointer] = self._new_name(pointer)
            self._waiting.append((pointer, self._level + 1))
        written: dict[str, Any] = {"$ref": f"#/$defs/{self._names[pointer]}"}
        if self._document.is_30:
            # Version 3.0 ignores what stands beside a reference; `nullable` is often meant.
            return _nullable(written) if schema.get("nullable") is True else written
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        extra = self.write(beside, depth + 1) if beside else {}
        return {**extra, **written} if isinstance(extra, dict) else written

    def _new_name(self, pointer: str) -> str:
        base = _SAFE.sub("_", pointer.rpartition("/")[2])[:60] or "part"
        name, taken, number = base, set(self._names.values()), 2
        while name in taken:
            name, number = f"{base}_{number}", number + 1
        return name

    def _settle(self, schema: Node, out: dict[str, Any]) -> None:
        """What needs several keywords at once."""
        if "const" in schema and schema["const"] is None:
            out["enum"] = [None]
        self._hide(schema, out)
        if self._document.is_30:
            _bound(schema, out, "exclusiveMinimum", "minimum")
            _bound(schema, out, "exclusiveMaximum", "maximum")
        if schema.get("format") in ("binary", "byte") and out.get("type") == "string":
            out["contentEncoding"] = "base64"
        if schema.get("nullable") is True and self._document.is_30:
            _allow_null(out)

    def _hide(self, schema: Node, out: dict[str, Any]) -> None:
        """Members that only the other direction carries are not asked for."""
        members = schema.get("properties")
        if not isinstance(members, dict):
            return
        hidden = {n for n, each in members.items() if self._is_hidden(each)}
        if hidden and "required" in out:
            out["required"] = [name for name in out["required"] if name not in hidden]
        if self._hidden == "readOnly":
            for name in hidden:
                out.get("properties", {}).pop(name, None)

    def _is_hidden(self, member: Any) -> bool:
        return isinstance(member, dict) and member.get(self._hidden) is True

    def finished(self, schema: Any) -> dict[str, Any]:
        """With the definitions that it and they refer to."""
        while self._waiting:
            pointer, self._level = self._waiting.popleft()
            self._definitions[self._names[pointer]] = self.write(self._document.find(pointer))
        root = schema if isinstance(schema, dict) else ({} if schema else {"not": {}})
        return {**root, "$defs": self._definitions} if self._definitions else root

    def map_of(self, value: Any, depth: int) -> dict[str, Any] | None:
        if not isinstance(value, dict):
            return None
        return {str(name): self.write(each, depth + 1) for name, each in value.items()}

    def pattern_map(self, value: Any, depth: int) -> dict[str, Any] | None:
        written = self.map_of(value, depth)
        return {p: each for p, each in written.items() if usable_pattern(p)} if written else None

    def list_of(self, value: Any, depth: int) -> list[Any] | None:
        if not isinstance(value, list) or not value:
            return None
        return [self.write(each, depth + 1) for each in value]

    def one(self, value: Any, depth: int) -> Any:
        return self.write(value, depth + 1) if isinstance(value, dict | bool) else None


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


def _allow_null(out: dict[str, Any]) -> None:
    if isinstance(out.get("enum"), list) and None not in out["enum"]:
        out["enum"] = [*out["enum"], None]
    kind = out.get("type")
    if isinstance(kind, str) and kind != "null":
        out["type"] = [kind, "null"]
    elif kind is None and any(key in out for key in ("allOf", "anyOf", "oneOf")):
        inner = dict(out)
        out.clear()
        out.update(_nullable(inner))


def _bound(schema: Node, out: dict[str, Any], exclusive: str, inclusive: str) -> None:
    if schema.get(exclusive) is True and inclusive in out:
        out[exclusive] = out.pop(inclusive)


@lru_cache(maxsize=4096)
def usable_pattern(pattern: str) -> bool:
    """Whether our reader knows the expression; others are left out, never guessed at."""
    try:
        jsonschema_rs.validator_for({"pattern": pattern}, pattern_options=LINEAR_TIME)
    except (jsonschema_rs.ValidationError, ValueError):
        return False
    return True


def plain(value: Any) -> Any:
    """A value that our contracts carry: numbers that doubles hold, texts that databases keep."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        try:
            return value if exact_integer(value) else float(value)
        except OverflowError:
            return None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return value.replace("\x00", "").encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {plain(str(key)): plain(each) for key, each in value.items()}
    return None


Keyword = Callable[[SchemaWriter, Any, int], Any]


def _type(writer: SchemaWriter, value: Any, depth: int) -> Any:
    if isinstance(value, list):
        kinds = list(dict.fromkeys(k for k in value if isinstance(k, str) and k in TYPES))
        return kinds or None
    return value if isinstance(value, str) and value in TYPES else None


def _number(writer: SchemaWriter, value: Any, depth: int) -> Any:
    fits = isinstance(value, int | float) and not isinstance(value, bool)
    return plain(value) if fits else None


def _step(writer: SchemaWriter, value: Any, depth: int) -> Any:
    number = _number(writer, value, depth)
    return number if number is not None and number > 0 else None


def _count(writer: SchemaWriter, value: Any, depth: int) -> Any:
    fits = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
    return value if fits else None


def _names(writer: SchemaWriter, value: Any, depth: int) -> Any:
    if not isinstance(value, list):
        return None
    return list(dict.fromkeys(plain(each) for each in value if isinstance(each, str)))


def _values(writer: SchemaWriter, value: Any, depth: int) -> Any:
    if not isinstance(value, list) or not value or len(value) > 2000:
        return None
    unique: list[Any] = []
    for each in map(plain, value):
        if not any(each == other and type(each) is type(other) for other in unique[-500:]):
            unique.append(each)
    return unique


def _words(writer: SchemaWriter, value: Any, depth: int) -> Any:
    return plain(value[:MAX_WORDS]) if isinstance(value, str) and value.strip() else None


def _pattern(writer: SchemaWriter, value: Any, depth: int) -> Any:
    return value if isinstance(value, str) and usable_pattern(value) else None


def _format(writer: SchemaWriter, value: Any, depth: int) -> Any:
    known = isinstance(value, str) and 0 < len(value) <= 60 and value not in STORAGE
    return plain(value) if known else None


def _yes(writer: SchemaWriter, value: Any, depth: int) -> Any:
    return True if value is True else None


def _const(writer: SchemaWriter, value: Any, depth: int) -> Any:
    return plain(value)


_KEYWORDS: dict[str, Keyword] = {
    "type": _type,
    "enum": _values,
    "const": _const,
    "default": _const,
    "description": _words,
    "format": _format,
    "pattern": _pattern,
    "required": _names,
    "uniqueItems": _yes,
    "deprecated": _yes,
    "multipleOf": _step,
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _number),
    **dict.fromkeys(
        ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _count
    ),
    **dict.fromkeys(("minContains", "maxContains"), _count),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), SchemaWriter.list_of),
    **dict.fromkeys(("properties", "dependentSchemas"), SchemaWriter.map_of),
    "patternProperties": SchemaWriter.pattern_map,
    **dict.fromkeys(
        ("items", "additionalProperties", "not", "contains", "propertyNames"), SchemaWriter.one
    ),
    **dict.fromkeys(
        ("if", "then", "else", "unevaluatedProperties", "unevaluatedItems"), SchemaWriter.one
    ),
}
