"""Bodies of requests: JSON, forms, multipart, text and bytes."""

from __future__ import annotations

import base64
import binascii
import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote_plus

from apps.tools.executors.base import ToolError
from apps.tools.executors.openapi.document import Document, Node, Unusable, mapping
from apps.tools.executors.openapi.media import kind_of
from apps.tools.executors.openapi.operations import Body, Parameter
from apps.tools.executors.openapi.parameters import in_query, json_text, text_of

BYTES = "application/octet-stream"


def encode(document: Document, body: Body, value: Any) -> tuple[str, bytes]:
    """The media type to announce and the bytes to send."""
    kind = kind_of(body.media_type)
    if kind == "json":
        return _concrete(body.media_type, "application/json"), json_text(value).encode()
    if kind == "form":
        return body.media_type, _form(body, mapping(value)).encode()
    if kind == "multipart":
        return _multipart(document, body, mapping(value))
    if kind == "text":
        return _concrete(body.media_type, "text/plain"), text_of(value).encode()
    return _concrete(body.media_type, BYTES), unpacked_bytes(value, "body")


def unpacked_bytes(value: Any, where: str) -> bytes:
    """Bytes travel as base64 in arguments."""
    try:
        return base64.b64decode(value if isinstance(value, str) else "", validate=True)
    except (binascii.Error, ValueError):
        raise ToolError("invalid_input", f"The bytes of {where} are not base64.") from None


def _concrete(media_type: str, usual: str) -> str:
    return usual if "*" in media_type else media_type


def _form(body: Body, value: Node) -> str:
    pairs: list[str] = []
    for name, each in value.items():
        rule = mapping(body.encoding.get(name))
        styled = rule.get("style") in ("form", "spaceDelimited", "pipeDelimited", "deepObject")
        if styled or isinstance(each, list):
            style = str(rule["style"]) if styled else "form"
            explode = rule.get("explode")
            explode = explode if isinstance(explode, bool) else style == "form"
            parameter = Parameter(name, name, "query", style, explode, False, {})
            pairs += [f"{key}={text}" for key, text in in_query(parameter, each)]
        else:
            pairs.append(f"{quote_plus(name)}={quote_plus(text_of(each), errors='replace')}")
    return "&".join(pairs)


def _multipart(document: Document, body: Body, value: Node) -> tuple[str, bytes]:
    parts = list(_parts(document, body, value))
    boundary = uuid.uuid4().hex
    while any(boundary.encode() in data for _, _, data in parts):
        boundary = uuid.uuid4().hex
    lines: list[bytes] = []
    for disposition, media_type, data in parts:
        head = f"--{boundary}\r\nContent-Disposition: form-data; {disposition}\r\n"
        kind = f"Content-Type: {media_type}\r\n" if media_type else ""
        lines += [head.encode(), kind.encode(), b"\r\n", data, b"\r\n"]
    lines.append(f"--{boundary}--\r\n".encode())
    bare = _concrete(body.media_type.partition(";")[0].strip(), "multipart/form-data")
    return f"{bare}; boundary={boundary}", b"".join(lines)


def _parts(document: Document, body: Body, value: Node) -> Iterator[tuple[str, str, bytes]]:
    members = _members(document, body.schema)
    for name, each in value.items():
        stated = mapping(body.encoding.get(name)).get("contentType")
        media_type = str(stated).partition(",")[0].strip() if _plain(stated) else ""
        binary = _is_binary(document, members.get(name))
        for item in each if isinstance(each, list) else [each]:
            quoted = f'name="{_quoted(name)}"'
            if binary:
                disposition = f'{quoted}; filename="{_quoted(name)}"'
                data = unpacked_bytes(item, name)
                yield disposition, _concrete(media_type or BYTES, BYTES), data
            elif isinstance(item, dict | list):
                yield quoted, media_type or "application/json", json_text(item).encode()
            else:
                yield quoted, media_type, text_of(item).encode("utf-8", "replace")


def _plain(stated: Any) -> bool:
    return isinstance(stated, str) and stated.isascii() and stated.isprintable()


def _quoted(name: str) -> str:
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


def _members(document: Document, schema: Any) -> Node:
    """The properties of a form, also those that its parts add."""
    try:
        node = document.follow(schema, "the schema")
    except Unusable:
        return {}
    found = dict(mapping(node.get("properties")))
    for part in node.get("allOf") or ():
        if isinstance(part, dict) and part is not schema:
            found.update(mapping(_follow(document, part).get("properties")))
    return found


def _follow(document: Document, node: Any) -> Node:
    try:
        return document.follow(node, "the schema")
    except Unusable:
        return {}


def _is_binary(document: Document, schema: Any) -> bool:
    spec = _follow(document, schema)
    if spec.get("type") == "array" or (spec.get("type") is None and "items" in spec):
        spec = _follow(document, spec.get("items"))
    if spec.get("format") == "binary":
        return True
    # Version 3.1 says it with a media type and no encoding.
    return "contentMediaType" in spec and "contentEncoding" not in spec
