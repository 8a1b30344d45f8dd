"""A server's answer as an outcome: text and structure as output, bytes as files."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any

from apps.tools.executors.base import Outcome, ProducedFile, ToolError
from apps.tools.mcp.text import plain

MAX_FILES = 64
MAX_BLOCKS = 1_000
MAX_ERROR = 2_000
# For tools that declare no output: what `outcome_of` makes of any answer.
OUTPUT_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "All text of the answer."},
        "content": {
            "type": "array",
            "description": "Other parts of the answer: files, links, resources.",
            "items": {"type": "object"},
        },
    },
    "required": ["text", "content"],
    "additionalProperties": False,
}


def outcome_of(result: dict[str, Any], *, structured: bool, server: str) -> Outcome:
    """Output and files of a result; one that reports an error becomes that error."""
    blocks = [each for each in result.get("content", []) if isinstance(each, dict)]
    if len(blocks) > MAX_BLOCKS:
        raise ToolError("limit_exceeded", f"The MCP server {server} sent too many parts.")
    text = "\n".join(str(each.get("text", "")) for each in blocks if each.get("type") == "text")
    if result.get("isError"):
        said = plain(text, MAX_ERROR) or "It does not say why."
        raise ToolError("tool_failed", f"The tool failed: {said}", data={"server": server})
    files = tuple(_files(blocks, server))
    if structured:
        if "structuredContent" not in result:
            raise ToolError(
                "invalid_output",
                f"The MCP server {server} declares structured output and sent none.",
            )
        return Outcome(result["structuredContent"], files)
    parts = [_part(each, index) for index, each in enumerate(blocks) if each.get("type") != "text"]
    return Outcome({"text": text, "content": parts}, files)


def _files(blocks: list[dict[str, Any]], server: str) -> Iterator[ProducedFile]:
    count = 0
    for index, block in enumerate(blocks):
        data = _bytes_in(block)
        if data is None:
            continue
        count += 1
        if count > MAX_FILES:
            raise ToolError("limit_exceeded", f"The MCP server {server} sent too many files.")
        try:
            raw = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            message = f"The MCP server {server} sent a file that is not base64."
            raise ToolError("invalid_output", message) from None
        yield ProducedFile(_file_name(block, index), raw, _media_type(block))


def _bytes_in(block: dict[str, Any]) -> str | None:
    if block.get("type") in ("image", "audio"):
        return str(block.get("data", ""))
    if block.get("type") == "resource" and "blob" in block.get("resource", {}):
        return str(block["resource"]["blob"])
    return None


def _part(block: dict[str, Any], index: int) -> dict[str, Any]:
    """What the output says of a part; bytes are in a file of the run, found by its name."""
    if _bytes_in(block) is not None:
        part = {"type": "file", "name": _file_name(block, index), "media_type": _media_type(block)}
        return part | ({"uri": block["resource"]["uri"]} if block["type"] == "resource" else {})
    if block.get("type") == "resource":
        held = block.get("resource", {})
        return {"type": "resource", "uri": held.get("uri", ""), "text": held.get("text", "")}
    shown = ("type", "uri", "name", "title", "description", "mimeType")
    return {key: block[key] for key in shown if isinstance(block.get(key), str)}


def _media_type(block: dict[str, Any]) -> str:
    given = block.get("mimeType") or block.get("resource", {}).get("mimeType") or ""
    kind, _, rest = str(given).partition("/")
    if kind.isalpha() and rest.replace("+", "").replace("-", "").replace(".", "").isalnum():
        return str(given).lower()
    return "application/octet-stream"


def _file_name(block: dict[str, Any], index: int) -> str:
    ending = _media_type(block).rpartition("/")[2].partition("+")[0]
    ending = ending if ending.isalnum() and len(ending) <= 8 else "bin"
    return f"{block.get('type')}-{index + 1}.{ending}"
