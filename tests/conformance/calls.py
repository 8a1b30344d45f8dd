"""A document with every place and style, strict about each, and calls that follow it."""

from __future__ import annotations

import base64
from typing import Any

INTEGERS = {"type": "array", "items": {"type": "integer"}, "minItems": 2}
POINT = {
    "type": "object",
    "required": ["x", "y"],
    "properties": {"x": {"type": "integer"}, "y": {"type": "string", "enum": ["a b", "c"]}},
    "additionalProperties": False,
}
ANSWER = {
    "200": {
        "description": "Fine.",
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["ok"],
                    "properties": {"ok": {"type": "boolean"}},
                },
                "example": {"ok": True},
            }
        },
    }
}
BYTES = base64.b64encode(bytes(range(64))).decode()


def _get(key: str, place: str, style: str, explode: bool, schema: Any) -> dict[str, Any]:
    parameter = {
        "name": "v", "in": place, "required": True, "style": style, "explode": explode,
        "schema": schema,
    }  # fmt: skip
    return {"get": {"operationId": key, "parameters": [parameter], "responses": ANSWER}}


def _post(key: str, media_type: str, schema: Any, **offer: Any) -> dict[str, Any]:
    content = {media_type: {"schema": schema, **offer}}
    body = {"required": True, "content": content}
    return {"post": {"operationId": key, "requestBody": body, "responses": ANSWER}}


def _secured(key: str, scheme: str) -> dict[str, Any]:
    return {"get": {"operationId": key, "security": [{scheme: []}], "responses": ANSWER}}


def _paths() -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for style in ("simple", "label", "matrix"):
        key = f"path_{style}_one"
        paths[f"/{key}/{{v}}"] = _get(key, "path", style, False, {"type": "integer"})
    # Prism 5 itself breaks on a comma in a path, reads an exploded label as a list with commas,
    # splits space-delimited lists at an escaped `%20`, and knows no lists in forms; our own tests
    # cover these.
    for style, kind, schema in (
        ("label", "list", INTEGERS), ("matrix", "list", INTEGERS), ("matrix", "object", POINT),
    ):  # fmt: skip
        key = f"path_{style}_{kind}"
        paths[f"/{key}/{{v}}"] = _get(key, "path", style, True, schema)
    for style, explode in (("form", True), ("form", False), ("pipeDelimited", False)):
        key = f"query_{style}_list_{explode}".lower()
        paths[f"/{key}"] = _get(key, "query", style, explode, INTEGERS)
    paths["/query_deep"] = _get("query_deep", "query", "deepObject", True, POINT)
    paths["/query_one"] = _get(
        "query_one", "query", "form", True, {"type": "string", "minLength": 9}
    )
    paths["/header_list"] = _get("header_list", "header", "simple", False, INTEGERS)
    paths["/header_one"] = _get("header_one", "header", "simple", False, {"type": "integer"})
    paths["/body_json"] = _post("body_json", "application/json", POINT)
    paths["/body_form"] = _post("body_form", "application/x-www-form-urlencoded", POINT)
    paths["/body_multipart"] = _post(
        "body_multipart",
        "multipart/form-data",
        {
            "type": "object",
            "required": ["name", "file"],
            "properties": {
                "name": {"type": "string", "minLength": 3},
                "file": {"type": "string", "format": "binary"},
            },
        },
    )
    paths["/body_text"] = _post("body_text", "text/plain", {"type": "string", "minLength": 3})
    paths["/body_bytes"] = _post(
        "body_bytes", "application/octet-stream", {"type": "string", "format": "binary"}
    )
    for scheme in ("key", "login", "token"):
        paths[f"/secured_{scheme}"] = _secured(f"secured_{scheme}", scheme)
    return paths


DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Every style", "version": "1.0.0"},
    "paths": _paths(),
    "components": {
        "securitySchemes": {
            "key": {"type": "apiKey", "in": "query", "name": "api_key"},
            "login": {"type": "http", "scheme": "basic"},
            "token": {"type": "http", "scheme": "bearer"},
        }
    },
}


def _value(key: str) -> Any:
    if key.endswith("_one"):
        return "a&b=c d+e%" if key.startswith("query") else 5
    return {"x": 5, "y": "a b"} if "object" in key or "deep" in key else [3, 4]


CALLS: list[tuple[str, dict[str, Any]]] = [
    *(
        (path.split("/")[1], {"v": _value(path.split("/")[1])})
        for path, item in DOCUMENT["paths"].items()
        if "get" in item and "secured" not in path
    ),
    ("body_json", {"body": {"x": 5, "y": "a b"}}),
    ("body_form", {"body": {"x": 5, "y": "a b"}}),
    ("body_multipart", {"body": {"name": "a name", "file": BYTES}}),
    ("body_text", {"body": "some text"}),
    ("body_bytes", {"body": BYTES}),
    ("secured_key", {}),
    ("secured_login", {}),
    ("secured_token", {}),
]
