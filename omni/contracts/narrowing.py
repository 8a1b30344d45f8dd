"""Finds where a newer schema refuses documents that an older one accepted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from omni.contracts.bounds import pointer

Node = dict[str, Any]
Schemas = dict[str, Node]
Place = tuple[str | int, ...]

ANNOTATIONS = frozenset(
    {"title", "description", "examples", "$comment", "$schema", "deprecated", "default"}
)
UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
# What no rule below can weigh must stay as it is, or go.
FIXED = ("pattern", "format", "uniqueItems", "not", "contains", "dependentRequired", "prefixItems")
NESTED = ("items", "propertyNames", "then", "else")
CHOICES = ("oneOf", "anyOf")
EVERY = "allOf"
UNDERSTOOD = frozenset(
    {*ANNOTATIONS, *UPPER, *LOWER, *FIXED, *NESTED, *CHOICES, EVERY}
    | {"type", "enum", "const", "required", "properties", "additionalProperties", "if"}
    | {"$id", "$ref", "$defs"}
)


class Comparison:
    """Old and new schemas by `$id`; `narrowings` yields one sentence per breaking change."""

    def __init__(self, old: Schemas, new: Schemas) -> None:
        self._old = old
        self._new = new
        self._open: set[tuple[str, str]] = set()

    def narrowings(self) -> Iterator[str]:
        for identity in sorted(self._old):
            if identity not in self._new:
                yield f"{identity}: the schema was removed."
                continue
            old, new = self._old[identity], self._new[identity]
            for place, reason in self._node(old, new, (), identity):
                yield f"{identity}#{pointer(place)}: {reason}"

    def _node(self, old: Any, new: Any, at: Place, base: str) -> Iterator[tuple[Place, str]]:
        old, new = _as_schema(old), _as_schema(new)
        if "$ref" in old or "$ref" in new:
            yield from self._references(old, new, at, base)
            return
        for keyword in sorted((set(new) | set(old)) - UNDERSTOOD):
            if not keyword.startswith("x-") and old.get(keyword) != new.get(keyword):
                yield at, f"nobody knows what a change of {keyword} means."
        yield from _values(old, new, at)
        yield from _bounds(old, new, at)
        yield from self._members(old, new, at, base)
        yield from self._inner(old, new, at, base)
        yield from self._definitions(old, new, at, base)

    def _references(
        self, old: Node, new: Node, at: Place, base: str
    ) -> Iterator[tuple[Place, str]]:
        """The same reference is compared where it leads to; others by what they lead to."""
        pair = (old.get("$ref", ""), new.get("$ref", ""))
        if pair[0] == pair[1] or pair in self._open:
            return
        self._open.add(pair)
        try:
            old, old_base = _resolve(old, self._old, base)
            new, new_base = _resolve(new, self._new, base)
            # References inside what was reached are relative to where it was found.
            yield from self._node(_absolute(old, old_base), _absolute(new, new_base), at, base)
        finally:
            self._open.discard(pair)

    def _members(self, old: Node, new: Node, at: Place, base: str) -> Iterator[tuple[Place, str]]:
        for name in sorted(set(new.get("required", ())) - set(old.get("required", ()))):
            yield at, f"“{name}” is now required."
        before, after = old.get("properties", {}), new.get("properties", {})
        for name in sorted(before):
            if name not in after:
                yield (*at, name), "the property was removed."
            else:
                yield from self._node(before[name], after[name], (*at, name), base)
        rest_before = old.get("additionalProperties", True)
        rest_after = new.get("additionalProperties", True)
        if rest_before is False:
            return
        for name in sorted(set(after) - set(before)):
            # Anything could stand there before.
            yield from self._node(rest_before, after[name], (*at, name), base)
        if rest_after is False:
            yield at, "further properties are no longer accepted."
        elif rest_after is not True:
            yield from self._node(rest_before, rest_after, (*at, "*"), base)

    def _inner(self, old: Node, new: Node, at: Place, base: str) -> Iterator[tuple[Place, str]]:
        if ("then" in new or "else" in new) and old.get("if") != new.get("if"):
            yield at, "a condition was added or changed."
            return
        for keyword in NESTED:
            if keyword in new:
                inner = old.get(keyword, True)
                yield from self._node(inner, new[keyword], (*at, keyword), base)
        if EVERY in new and old.get(EVERY) != new[EVERY]:
            yield at, "allOf was added or changed."
        for keyword in CHOICES:
            if keyword in new:
                yield from self._choice(keyword, old, new, at, base)

    def _choice(
        self, keyword: str, old: Node, new: Node, at: Place, base: str
    ) -> Iterator[tuple[Place, str]]:
        after = new[keyword]
        before = old.get(keyword, [{key: old[key] for key in old if key not in ANNOTATIONS}])
        taken: set[int] = set()
        for index, branch in enumerate(before):
            fits = [i for i, each in enumerate(after) if not [*self._node(branch, each, at, base)]]
            if not fits:
                yield (*at, keyword, index), "no branch accepts all that this one accepted."
            taken.update(fits[:1])
        if keyword == "oneOf":
            yield from self._overlaps(after, taken, at, base)

    def _overlaps(
        self, branches: list[Any], old: set[int], at: Place, base: str
    ) -> Iterator[tuple[Place, str]]:
        """A new branch of a oneOf that accepts what another accepts makes both refuse it."""
        resolved = [_resolve(_as_schema(each), self._new, base)[0] for each in branches]
        for index, branch in enumerate(resolved):
            others = [each for other, each in enumerate(resolved) if other != index]
            if index not in old and not all(_disjoint(branch, other) for other in others):
                yield (*at, "oneOf", index), "the new branch may overlap with another."

    def _definitions(
        self, old: Node, new: Node, at: Place, base: str
    ) -> Iterator[tuple[Place, str]]:
        """Others may refer to them, so they are compared on their own."""
        for name, definition in sorted(old.get("$defs", {}).items()):
            place = (*at, "$defs", name)
            if name not in new.get("$defs", {}):
                yield place, "the definition was removed."
            else:
                yield from self._node(definition, new["$defs"][name], place, base)


def _values(old: Node, new: Node, at: Place) -> Iterator[tuple[Place, str]]:
    lost = _types(old) - _types(new)
    if lost and not _has_values(old):
        yield at, f"the type {', '.join(sorted(lost))} is no longer accepted."
    if not _has_values(new):
        return
    accepted = _accepted(new)
    if not _has_values(old):
        yield at, "only listed values are accepted now."
        return
    for value in _accepted(old):
        if not any(value == each and type(value) is type(each) for each in accepted):
            yield at, f"the value {value!r} is no longer accepted."


def _bounds(old: Node, new: Node, at: Place) -> Iterator[tuple[Place, str]]:
    for keyword in UPPER:
        if keyword in new and not (keyword in old and new[keyword] >= old[keyword]):
            yield at, f"{keyword} was added or lowered to {new[keyword]}."
    for keyword in LOWER:
        if new.get(keyword) and not (keyword in old and new[keyword] <= old[keyword]):
            yield at, f"{keyword} was added or raised to {new[keyword]}."
    for keyword in FIXED:
        if keyword in new and new[keyword] is not False and old.get(keyword) != new[keyword]:
            yield at, f"{keyword} was added or changed."


def _has_values(node: Node) -> bool:
    return "enum" in node or "const" in node


def _accepted(node: Node) -> list[Any]:
    return [node["const"]] if "const" in node else list(node["enum"])


def _types(node: Node) -> set[str]:
    every = {"string", "integer", "number", "boolean", "null", "array", "object"}
    kinds = node.get("type")
    if kinds is None:
        return every
    found = {kinds} if isinstance(kinds, str) else set(kinds)
    return found | {"integer"} if "number" in found else found


def _as_schema(node: Any) -> Node:
    if node is True:
        return {}
    return {"not": {}} if node is False else dict(node)


def _resolve(node: Node, schemas: Schemas, base: str) -> tuple[Node, str]:
    while "$ref" in node:
        target, _, path = node["$ref"].partition("#")
        base = target or base
        node = schemas[base]
        for step in path.split("/")[1:]:
            node = node[step]
    return node, base


def _absolute(node: Any, base: str) -> Any:
    """The node with local references written out, so that they mean the same elsewhere."""
    if isinstance(node, list):
        return [_absolute(each, base) for each in node]
    if not isinstance(node, dict):
        return node
    made = {key: _absolute(value, base) for key, value in node.items()}
    if isinstance(made.get("$ref"), str) and made["$ref"].startswith("#"):
        made["$ref"] = base + made["$ref"]
    return made


def _disjoint(one: Node, other: Node) -> bool:
    """Visibly no value fits both: other types, or a required member with other constants."""
    if not _types(one) & _types(other):
        return True
    shared = set(one.get("required", ())) & set(other.get("required", ()))
    for name in shared:
        left, right = one["properties"].get(name, {}), other["properties"].get(name, {})
        if "const" in left and "const" in right and left["const"] != right["const"]:
            return True
    return False
