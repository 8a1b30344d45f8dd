"""An OpenAPI document: read, recognised, and its local references followed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from apps.tools.executors.openapi.reading import read
from omni.contracts.errors import InvalidInput

Node = dict[str, Any]
MAX_HOPS = 16


class Unusable(Exception):
    """A part of a document that cannot become a tool; its text says why."""


@dataclass(frozen=True, slots=True)
class Document:
    """One document; `sha256` is that of the text as it was given."""

    sha256: str
    root: Node
    is_30: bool
    """Schemas follow version 3.0's own dialect, not JSON Schema 2020-12."""

    @property
    def title(self) -> str:
        return _line(mapping(self.root.get("info")).get("title"))[:200] or "API"

    @property
    def version(self) -> str:
        return _line(mapping(self.root.get("info")).get("version"))[:60]

    @property
    def description(self) -> str:
        return str(mapping(self.root.get("info")).get("description") or "")[:2000]

    def find(self, reference: str) -> Any:
        """What a local reference points to."""
        if not reference.startswith("#/") and reference != "#":
            raise Unusable(f"it refers to another document, {reference[:120]}")
        found: Any = self.root
        for escaped in reference.split("/")[1:]:
            step = unquote(escaped).replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict) and step in found:
                found = found[step]
            elif isinstance(found, list) and step.isdecimal() and int(step[:6]) < len(found):
                found = found[int(step[:6])]
            else:
                raise Unusable(f"it refers to {reference[:120]}, which is not there")
        return found

    def follow(self, node: Any, what: str) -> Node:
        """An object, or the one that it refers to."""
        for _ in range(MAX_HOPS):
            if not isinstance(node, dict):
                raise Unusable(f"{what} is not an object")
            if not isinstance(node.get("$ref"), str):
                return node
            node = self.find(node["$ref"])
        raise Unusable(f"{what} refers to itself")


def open_document(text: str) -> Document:
    """Read a document and see that it is OpenAPI 3."""
    root = read(text)
    if not isinstance(root, dict):
        raise InvalidInput("The document is not an OpenAPI document.")
    if "swagger" in root:
        raise InvalidInput(
            "The document follows Swagger 2.0.", remedy="Convert it to OpenAPI 3 first."
        )
    version = str(root.get("openapi", ""))
    if not version.startswith("3."):
        raise InvalidInput(
            "The document is not an OpenAPI 3 document.",
            remedy="It must say `openapi: 3.0.x` or `3.1.x`.",
        )
    if not isinstance(root.get("paths"), dict):
        raise InvalidInput("The document describes no paths.")
    return Document(
        hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        root,
        version.startswith("3.0"),
    )


def mapping(value: Any) -> Node:
    """The value if it is an object, else an empty one: for parts that say nothing when wrong."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def _line(value: Any) -> str:
    text = value if isinstance(value, str) else str(value) if value is not None else ""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
