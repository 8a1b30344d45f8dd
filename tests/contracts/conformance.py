"""Judges values by the typed twins alone, and by what the schemas say apart from limits."""

from __future__ import annotations

import types
from functools import cache
from typing import (
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import jsonschema_rs

from omni.contracts import catalogue
from omni.contracts import types as twins
from omni.contracts.twins import root_name

# What types cannot say: they tell the shape of a document, not the limits of its values.
BEYOND_TYPES = {
    *("pattern", "format", "minLength", "maxLength", "minimum", "maximum", "minItems"),
    *("maxItems", "uniqueItems", "maxProperties", "propertyNames", "if", "then", "else"),
}


def twin(name: str) -> Any:
    return getattr(twins, root_name(name))


@cache
def hints(twin: Any) -> dict[str, Any]:
    return get_type_hints(twin, include_extras=True)


def conforms(value: Any, annotation: Any) -> bool:
    """Whether a type checker would accept the value, if it could see it."""
    if annotation is Any:
        return True
    if is_typeddict(annotation):
        return _members_conform(value, annotation)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (NotRequired, Required):
        return conforms(value, arguments[0])
    if origin in (Union, types.UnionType):
        return any(conforms(value, each) for each in arguments)
    if origin is Literal:
        return any(value == each and _same_kind(value, each) for each in arguments)
    if origin is list:
        return isinstance(value, list) and all(conforms(each, arguments[0]) for each in value)
    if origin is dict:
        return isinstance(value, dict) and all(conforms(v, arguments[1]) for v in value.values())
    return _is_scalar(value, annotation)


def _members_conform(value: Any, twin: Any) -> bool:
    if not isinstance(value, dict) or not twin.__required_keys__ <= set(value):
        return False
    known = hints(twin)
    return all(key in known and conforms(each, known[key]) for key, each in value.items())


def _same_kind(value: Any, other: Any) -> bool:
    """JSON knows no difference between 1 and 1.0, Python none between 1 and True."""
    return isinstance(value, bool) == isinstance(other, bool)


def _is_scalar(value: Any, annotation: Any) -> bool:
    if annotation in (None, type(None)):
        return value is None
    if isinstance(value, bool):
        return annotation is bool
    if annotation is int:
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if annotation is float:
        return isinstance(value, int | float)
    return isinstance(value, annotation)


@cache
def shape(name: str) -> jsonschema_rs.Draft202012Validator:
    """The schema without what types cannot say."""
    return jsonschema_rs.Draft202012Validator(_shape(catalogue.bundle(name)))


def _shape(node: Any) -> Any:
    if isinstance(node, list):
        return [_shape(each) for each in node]
    if not isinstance(node, dict):
        return node
    kept: dict[str, Any] = {}
    for key, value in node.items():
        if key in ("properties", "$defs"):
            kept[key] = {name: _shape(each) for name, each in value.items()}
        elif key in ("enum", "const"):
            kept[key] = value
        elif key == "oneOf":
            kept["anyOf"] = _shape(value)
        elif key not in BEYOND_TYPES and key != "examples":
            kept[key] = _shape(value)
    return kept
