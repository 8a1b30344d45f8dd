"""Builds strategies for valid documents from our schemas, and for damaging them."""

from __future__ import annotations

import copy
import re
from datetime import datetime
from functools import cache
from typing import Any

from hypothesis import strategies as st

from omni.contracts import catalogue
from omni.contracts.canonical import canonical

SAFE = st.characters(codec="utf-8", min_codepoint=0x20, max_codepoint=0x1F6FF)
LATIN = st.characters(codec="utf-8", min_codepoint=0x20, max_codepoint=0x17F)
FREE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(SAFE, max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(SAFE, max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
LONGEST_TEXT = 40
MOST_ITEMS = 3


@cache
def valid(name: str) -> st.SearchStrategy[Any]:
    """Documents that follow the schema of this name."""
    document = catalogue.schema(name)
    return _node(document, document)


def _node(node: dict[str, Any], root: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "$ref" in node:
        local = node["$ref"].startswith("#")
        return _reference(root["$id"] + node["$ref"] if local else node["$ref"])
    if "if" in node:
        return st.one_of(*(_node(each, root) for each in _cases(node)))
    for choice in ("oneOf", "anyOf"):
        if choice in node:
            return st.one_of(*(_node(each, root) for each in node[choice]))
    if "enum" in node:
        return st.sampled_from(node["enum"])
    if "const" in node:
        return st.just(node["const"])
    kinds = node.get("type")
    if isinstance(kinds, list):
        return st.one_of(*(_node({**node, "type": kind}, root) for kind in kinds))
    return FREE if kinds is None else _typed(kinds, node, root)


@cache
def _reference(target: str) -> st.SearchStrategy[Any]:
    base, _, path = target.partition("#/$defs/")
    document = catalogue.schema(*catalogue.from_uri(base))
    return _node(document["$defs"][path] if path else document, document)


def _cases(node: dict[str, Any]) -> list[dict[str, Any]]:
    """Our conditions look at one constant: one case with it, one for each other value."""
    ((member, condition),) = node["if"]["properties"].items()
    plain = {key: value for key, value in node.items() if key not in ("if", "then", "else")}
    values = catalogue.schema("run-event")["$defs"]["kind"]["enum"]
    cases = []
    for value in values:
        branch = node["then"] if value == condition["const"] else node["else"]
        fixed = {member: {"const": value}, **branch["properties"]}
        cases.append({**plain, "properties": {**node["properties"], **fixed}})
    return cases


def _typed(kind: str, node: dict[str, Any], root: dict[str, Any]) -> st.SearchStrategy[Any]:
    if kind == "string":
        return _text(node)
    if kind == "integer":
        return st.integers(node["minimum"], node["maximum"])
    if kind == "number":
        return st.floats(node["minimum"], node["maximum"])
    if kind == "array":
        return _array(node, root)
    if kind == "object":
        return _object(node, root)
    return {"boolean": st.booleans(), "null": st.none()}[kind]


def _text(node: dict[str, Any]) -> st.SearchStrategy[str]:
    if node.get("format") == "date-time":
        zone = st.datetimes(datetime(1970, 1, 1), datetime(9999, 1, 1))
        return zone.map(lambda each: each.strftime("%Y-%m-%dT%H:%M:%S.%fZ"))
    low, high = node.get("minLength", 0), node["maxLength"]
    if "pattern" not in node:
        return st.text(SAFE, min_size=low, max_size=min(high, max(low, LONGEST_TEXT)))
    made = st.from_regex(re.compile(node["pattern"]), fullmatch=True, alphabet=LATIN)
    return made.filter(lambda text: low <= len(text) <= high)


def _array(node: dict[str, Any], root: dict[str, Any]) -> st.SearchStrategy[list[Any]]:
    low = node.get("minItems", 0)
    unique = canonical if node.get("uniqueItems") else None
    most = min(node["maxItems"], max(low, MOST_ITEMS))
    return st.lists(_node(node["items"], root), min_size=low, max_size=most, unique_by=unique)


def _object(node: dict[str, Any], root: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    if "properties" in node:
        members = {key: _node(value, root) for key, value in node["properties"].items()}
        needed = {key: members.pop(key) for key in node.get("required", ())}
        return st.fixed_dictionaries(needed, optional=members)
    names = _node(node["propertyNames"], root) if "propertyNames" in node else None
    rest = node.get("additionalProperties")
    values = _node(rest, root) if isinstance(rest, dict) else FREE
    keys = st.text(SAFE, max_size=8) if names is None else names
    return st.dictionaries(keys, values, max_size=MOST_ITEMS)


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [at]
    if isinstance(value, dict):
        for key, each in value.items():
            found += places(each, (*at, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            found += places(each, (*at, index))
    return found


def at(value: Any, place: tuple[Any, ...]) -> Any:
    for step in place:
        value = value[step]
    return value


@st.composite
def damaged(draw: st.DrawFn, name: str) -> Any:
    """A valid document with one random change, which may happen to be valid as well."""
    document = copy.deepcopy(draw(valid(name)))
    place = draw(st.sampled_from(places(document)))
    if not place:
        if isinstance(document, dict) and draw(st.booleans()):
            document[draw(st.text(SAFE, max_size=6))] = draw(FREE)
            return document
        return draw(FREE)
    holder = at(document, place[:-1])
    if draw(st.booleans()):
        holder[place[-1]] = draw(FREE)
    else:
        del holder[place[-1]]
    return document
