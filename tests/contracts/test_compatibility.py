"""A change that refuses what was accepted before cannot slip in."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from omni.contracts import catalogue
from omni.contracts.compatibility import (
    breaking_changes,
    missing_migrations,
    present,
    released,
    released_file,
    render,
    strip,
)
from omni.contracts.upgrade import Shims

ID = "urn:omni:v1:sample"
BASE: dict[str, Any] = {
    "$id": ID,
    "type": "object",
    "additionalProperties": False,
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "minLength": 2, "maxLength": 10, "pattern": "^[a-z]+$"},
        "size": {"type": "integer", "minimum": 1, "maximum": 9},
        "colour": {"enum": ["red", "blue"]},
        "version": {"const": 1},
        "tags": {"type": "array", "minItems": 1, "maxItems": 5, "items": {"$ref": "#/$defs/tag"}},
        "shape": {"oneOf": [{"$ref": "#/$defs/circle"}, {"$ref": "#/$defs/square"}]},
        "either": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "notes": {"type": "object", "maxProperties": 5, "additionalProperties": {"type": "string"}},
        "free": {},
    },
    "if": {"properties": {"version": {"const": 1}}},
    "then": {"properties": {"size": {"maximum": 5}}},
    "$defs": {
        "tag": {"type": "string", "maxLength": 5},
        "circle": {
            "type": "object",
            "required": ["kind"],
            "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}},
            "additionalProperties": False,
        },
        "square": {
            "type": "object",
            "required": ["kind"],
            "properties": {"kind": {"const": "square"}},
            "additionalProperties": False,
        },
    },
}


def changed(path: str, value: Any = None, *, remove: bool = False) -> dict[str, Any]:
    document = copy.deepcopy(BASE)
    node: Any = document
    *steps, last = path.split("/")
    for step in steps:
        node = node[int(step)] if isinstance(node, list) else node[step]
    if remove:
        del node[last]
    else:
        node[last] = value
    return document


def compare(new: dict[str, Any]) -> list[str]:
    return breaking_changes({ID: BASE}, {ID: new})


BREAKING = {
    "property removed": changed("properties/size", remove=True),
    "property required": changed("required", ["name", "size"]),
    "type changed": changed("properties/size/type", "string"),
    "type narrowed": changed("$defs/circle/properties/radius/type", "integer"),
    "type added": changed("properties/free/type", "string"),
    "enum value removed": changed("properties/colour/enum", ["red"]),
    "enum added": changed("properties/name/enum", ["ab"]),
    "const changed": changed("properties/version/const", 2),
    "maximum lowered": changed("properties/size/maximum", 8),
    "minimum raised": changed("properties/size/minimum", 2),
    "longest text shortened": changed("properties/name/maxLength", 9),
    "shortest text lengthened": changed("properties/name/minLength", 3),
    "limit added": changed("properties/either/maxLength", 3),
    "pattern changed": changed("properties/name/pattern", "^[a-z0-9]+$"),
    "pattern added": changed("$defs/tag/pattern", "^a"),
    "format added": changed("properties/name/format", "uri"),
    "fewer items": changed("properties/tags/maxItems", 4),
    "more items needed": changed("properties/tags/minItems", 2),
    "items unique": changed("properties/tags/uniqueItems", True),
    "items narrowed": changed("$defs/tag/maxLength", 4),
    "items other": changed("properties/tags/items", {"type": "integer"}),
    "items constrained for the first time": changed("properties/free/items", {"type": "string"}),
    "map closed": changed("properties/notes/additionalProperties", False),
    "map values narrowed": changed("properties/notes/additionalProperties/maxLength", 5),
    "map gains a typed member": changed("properties/notes/properties", {"a": {"type": "null"}}),
    "map names narrowed": changed("properties/notes/propertyNames", {"maxLength": 3}),
    "branch removed": changed("properties/shape/oneOf", [{"$ref": "#/$defs/circle"}]),
    "branch of a choice removed": changed("properties/either/anyOf", [{"type": "string"}]),
    "overlapping branch added": changed(
        "properties/shape/oneOf",
        [{"$ref": "#/$defs/circle"}, {"$ref": "#/$defs/square"}, {"type": "object"}],
    ),
    "condition changed": changed("if/properties/version/const", 2),
    "consequence narrowed": changed("then/properties/size/maximum", 4),
    "alternative added": changed("else", {"required": ["size"]}),
    "definition removed": changed("$defs/square", remove=True)
    | {"properties": {**BASE["properties"], "shape": {}}},
    "allOf added": changed("properties/free/allOf", [{"type": "string"}]),
    "not added": changed("properties/free/not", {"type": "null"}),
    "unknown keyword": changed("properties/free/unevaluatedItems", False),
    "reference to something narrower": changed("properties/name/$ref", "#/$defs/tag"),
}
ADDITIVE = {
    "nothing": copy.deepcopy(BASE),
    "optional property": changed("properties/extra", {"type": "string"}),
    "no longer required": changed("required", []),
    "type widened": changed("properties/size/type", "number"),
    "types added": changed("properties/name/type", ["string", "null"]),
    "enum value added": changed("properties/colour/enum", ["red", "blue", "green"]),
    "enum dropped": changed("properties/colour", {}),
    "const becomes a list": changed("properties/version", {"enum": [1, 2]}),
    "maximum raised": changed("properties/size/maximum", 10),
    "minimum lowered": changed("properties/size/minimum", 0),
    "minimum dropped": changed("properties/size/minimum", remove=True),
    "longest text lengthened": changed("properties/name/maxLength", 11),
    "pattern dropped": changed("properties/name/pattern", remove=True),
    "object opened": changed("additionalProperties", True),
    "map values widened": changed("properties/notes/additionalProperties", True),
    "distinct branch added": changed(
        "properties/shape/oneOf",
        [
            {"$ref": "#/$defs/square"},
            {"type": "object", "required": ["kind"], "properties": {"kind": {"const": "dot"}}},
            {"$ref": "#/$defs/circle"},
        ],
    ),
    "branch of a choice added": changed(
        "properties/either/anyOf", [{"type": "null"}, {"type": "integer"}, {"type": "string"}]
    ),
    "single type becomes a choice": changed(
        "properties/size",
        {"anyOf": [{"type": "integer", "minimum": 1, "maximum": 9}, {"type": "null"}]},
    ),
    "consequence widened": changed("then/properties/size/maximum", 6),
    "definition written out": changed("properties/tags/items", {"type": "string", "maxLength": 5}),
    "definition added": changed("$defs/extra", {"type": "string"}),
    "described anew": changed("properties/name/description", "Other words."),
    "annotation of ours": changed("x-written", "Never."),
}


@pytest.mark.req("CON-2")
@pytest.mark.parametrize("name", BREAKING)
def test_breaking_change_is_found(name: str) -> None:
    assert compare(BREAKING[name])


@pytest.mark.req("CON-2")
@pytest.mark.parametrize("name", ADDITIVE)
def test_additive_change_is_welcome(name: str) -> None:
    assert compare(ADDITIVE[name]) == []


@pytest.mark.req("CON-2")
def test_a_change_is_reported_with_its_place_and_reason() -> None:
    assert compare(changed("properties/size/maximum", 8)) == [
        f"{ID}#/size: maximum was added or lowered to 8."
    ]


@pytest.mark.req("CON-2")
def test_removing_a_schema_is_breaking() -> None:
    assert breaking_changes({ID: BASE}, {}) == [f"{ID}: the schema was removed."]


@pytest.mark.req("CON-2")
def test_a_change_behind_a_reference_to_another_schema_is_found() -> None:
    user = {"$id": "urn:omni:v1:user", "properties": {"a": {"$ref": f"{ID}#/$defs/tag"}}}
    moved = {"$id": "urn:omni:v1:user", "properties": {"a": {"$ref": f"{ID}#/$defs/circle"}}}
    found = breaking_changes({ID: BASE, user["$id"]: user}, {ID: BASE, moved["$id"]: moved})
    assert found and found[0].startswith("urn:omni:v1:user#/a")


@pytest.mark.req("CON-2")
@pytest.mark.parametrize("version", catalogue.versions())
def test_the_schemas_accept_all_that_was_released(version: int) -> None:
    """If this fails: make a new version folder, a shim and a migration note instead."""
    assert breaking_changes(released(version), present(version)) == []


@pytest.mark.req("CON-2")
@pytest.mark.parametrize("version", catalogue.versions())
def test_every_change_is_recorded(version: int) -> None:
    """If this fails: `python -m omni.contracts.compatibility` records an additive change."""
    assert released_file(version).read_text() == render(present(version))


@pytest.mark.req("CON-2")
def test_every_later_version_has_shims_and_a_written_migration() -> None:
    changed_in = {version: catalogue.names_in(version) for version in catalogue.versions()}
    assert missing_migrations(changed_in) == []


@pytest.mark.req("CON-2")
def test_a_new_version_without_shim_or_note_is_refused(tmp_path: Path) -> None:
    shims = Shims(latest=lambda name: 2)
    changed_in = {1: ("policy", "workflow"), 2: ("policy", "novelty")}
    assert missing_migrations(changed_in, known=shims, notes=tmp_path) == [
        "policy: no shim lifts version 1 to 2.",
        "policy: docs/migrations/policy-v2.md is missing.",
    ]
    shims.shim("policy", 1)(lambda document: document)
    (tmp_path / "policy-v2.md").write_text("What changed.")
    assert missing_migrations(changed_in, known=shims, notes=tmp_path) == []


def test_only_what_people_read_is_left_out_of_the_record() -> None:
    node = {
        "title": "T",
        "x-written": "w",
        "properties": {"description": {"description": "d", "type": "string"}},
        "enum": [{"title": "kept"}],
    }
    assert strip(node) == {
        "properties": {"description": {"type": "string"}},
        "enum": [{"title": "kept"}],
    }
