"""Answers: what a document promises, and what an answer is as the output of a tool."""

from __future__ import annotations

import json
from typing import Any

from apps.tools.executors.base import ProducedFile, ToolError
from apps.tools.executors.openapi.document import Node, mapping
from apps.tools.executors.openapi.media import kind_of, preferred
from apps.tools.executors.openapi.operations import Operation
from apps.tools.executors.openapi.schemas import SchemaWriter
from omni.contracts.errors import OmniError
from omni.contracts.types.shapes import ToolErrorCategory
from omni.sandbox.egress.client import Response

MAX_PROBLEM = 4000
HIDDEN = "[hidden]"
FILE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "The answer is a file, kept as an artifact of the run.",
    "required": ["file", "media_type", "bytes"],
    "properties": {
        "file": {"type": "string"},
        "media_type": {"type": "string"},
        "bytes": {"type": "integer", "minimum": 0},
    },
    "additionalProperties": False,
}
_CATEGORIES: dict[int, ToolErrorCategory] = {
    408: "timeout",
    429: "rate_limited",
    502: "unavailable",
    503: "unavailable",
    504: "unavailable",
}


def successes(operation: Operation) -> Node:
    """The answers that are not errors; `default` counts only where nothing else does."""
    found = {code: each for code, each in operation.responses.items() if code.startswith("2")}
    if not found and "default" in operation.responses:
        return {"default": operation.responses["default"]}
    return found


def promised(operation: Operation, status: int) -> Node | None:
    """What the document says about this good status."""
    known = successes(operation)
    for code in (str(status), f"{status // 100}XX", "default"):
        if code in known:
            found: Node = known[code]
            return found
    return None


def accepted(operation: Operation) -> str:
    """The Accept header: the kind of document that says most, for every good answer."""
    kinds = [preferred(mapping(each.get("content"))) for each in successes(operation).values()]
    listed = list(dict.fromkeys(kind for kind in kinds if kind and kind.isascii()))
    return ", ".join([*listed, "*/*;q=0.1"]) if listed else "*/*"


def schema_of_answer(writer: SchemaWriter, answer: Node) -> Any:
    """The shape of the output for one answer; anything where the document says nothing."""
    content = mapping(answer.get("content"))
    if not content:
        return {}
    shapes: list[Any] = []
    for media_type, offer in content.items():
        kind = kind_of(str(media_type))
        if kind == "json":
            shapes.append(writer.write(mapping(offer).get("schema", {})))
        else:
            shapes.append(FILE_SCHEMA if kind in ("binary", "multipart") else {"type": "string"})
    return union(shapes)


def union(shapes: list[Any]) -> Any:
    """A schema that accepts what any of these accepts."""
    distinct: list[Any] = []
    for shape in shapes:
        if shape in ({}, True):
            return {}
        if shape not in distinct:
            distinct.append(shape)
    return distinct[0] if len(distinct) == 1 else {"anyOf": distinct} if distinct else {}


def hide(body: bytes, spellings: set[str]) -> bytes:
    """Servers that repeat what they were sent must not hand out credentials."""
    for spelling in sorted(spellings, key=len, reverse=True):
        if len(spelling) > 3:
            body = body.replace(spelling.encode(), HIDDEN.encode())
    return body


def output_of(
    operation: Operation, response: Response, body: bytes
) -> tuple[Any, tuple[ProducedFile, ...]]:
    """The answer as a value, and as a file where it is no text."""
    if not body or response.status in (204, 205, 304):
        return None, ()
    declared = preferred(mapping((promised(operation, response.status) or {}).get("content")))
    kind = kind_of(response.media_type or declared or "application/octet-stream")
    if kind == "json":
        return _parsed(body), ()
    if kind in ("text", "form"):
        return _decoded(response, body), ()
    file = ProducedFile(
        file_name(operation, response), body, response.media_type or "application/octet-stream"
    )
    facts = {"file": file.name, "media_type": file.media_type, "bytes": len(body)}
    return facts, (file,)


def file_name(operation: Operation, response: Response) -> str:
    """From the operation, never from what the server says."""
    base = "".join(c if c.isalnum() else "-" for c in operation.key.lower()).strip("-")[:60]
    suffix = response.media_type.rpartition("/")[2].rpartition("+")[2].rpartition("-")[2]
    return f"{base or 'answer'}.{suffix}" if suffix.isalnum() and len(suffix) < 8 else base


def failure(response: Response, body: bytes, *, signed: bool) -> ToolError:
    """An answer of 400 and above as the error of a call."""
    kind = _CATEGORIES.get(response.status, "tool_failed")
    remedy = ""
    if response.status in (401, 403):
        remedy = "Check the credential." if signed else "The operation may need a credential."
    data: dict[str, Any] = {"status": response.status}
    if problem := _problem(response, body):
        data["problem"] = problem
    retry = response.header("retry-after")
    if retry.isdecimal() and len(retry) < 8:
        data["retry_after"] = int(retry)
    return ToolError(kind, f"The API answered {response.status}.", remedy=remedy, data=data)


def _problem(response: Response, body: bytes) -> Any:
    if not body:
        return None
    if len(body) <= MAX_PROBLEM and kind_of(response.media_type or "text/plain") == "json":
        try:
            return json.loads(body, parse_constant=_no_number)
        except (ValueError, RecursionError):
            pass
    if kind_of(response.media_type or "text/plain") == "binary":
        return None
    return _decoded(response, body[:MAX_PROBLEM])


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise ToolError(
            "invalid_output", "The API answered with something that is not JSON."
        ) from None


def _no_number(text: str) -> Any:
    raise ValueError(text)


def _decoded(response: Response, body: bytes) -> str:
    charset = response.header("content-type").lower().partition("charset=")[2]
    charset = charset.partition(";")[0].strip(" \"'") or "utf-8"
    try:
        text = body.decode(charset, "replace")
    except (LookupError, ValueError, TypeError):
        text = body.decode("utf-8", "replace")
    return text.replace("\x00", "�").encode("utf-8", "replace").decode()


def wrong_shape(error: OmniError) -> ToolError:
    """The answer differs from what the document promises."""
    return ToolError(
        "invalid_output",
        f"The API's answer is not what its document promises: {error.message}",
        data={"violations": error.data.get("violations", [])[:5]},
    )
