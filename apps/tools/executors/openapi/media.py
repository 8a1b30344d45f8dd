"""Kinds of documents that requests and answers carry."""

from __future__ import annotations

import re

from apps.tools.executors.openapi.document import Node


def preferred(content: Node) -> str | None:
    """Of several kinds of document the one that says most about its parts."""
    kinds = [str(kind) for kind in content if _is_media_type(str(kind))]
    return min(kinds, key=lambda kind: (_rank(kind), kinds.index(kind)), default=None)


def kind_of(media_type: str) -> str:
    """json, form, multipart, text or binary."""
    bare = media_type.partition(";")[0].strip().lower()
    if bare == "application/json" or bare.endswith("+json") or bare == "*/*":
        return "json"
    if bare == "application/x-www-form-urlencoded":
        return "form"
    if bare.startswith("multipart/"):
        return "multipart"
    xml = bare.endswith(("/xml", "+xml"))
    if bare.startswith("text/") or xml or bare.endswith(("/yaml", "/javascript", "/x-ndjson")):
        return "text"
    return "binary"


def _rank(media_type: str) -> int:
    if media_type.lower().startswith("application/json"):
        return -1
    return ("json", "form", "multipart", "text", "binary").index(kind_of(media_type))


def _is_media_type(text: str) -> bool:
    return bool(re.fullmatch(r"[A-Za-z0-9!#$&^_.+*-]+/[A-Za-z0-9!#$&^_.+*-]+(\s*;[ -~]*)?", text))
