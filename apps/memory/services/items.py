"""Remembering and finding: the text itself, once, with where it comes from."""

from __future__ import annotations

import hashlib
import re
import uuid
from typing import Any

from django.contrib.postgres.search import SearchQuery, SearchRank, SearchVector
from django.db.models import F, QuerySet

from apps.memory.models import MemoryItem
from omni.contracts.errors import InvalidInput

MAX_TEXT = 8000
MAX_WORDS = 32
CONFIG = "english"


def remember(
    *,
    project_id: uuid.UUID,
    text: str,
    kind: str = "semantic",
    importance: float = 0.5,
    source_run: uuid.UUID | None = None,
    source_call: str = "",
) -> tuple[MemoryItem, bool]:
    """Keep a text; the same words again are the same item. The second value: is it new?"""
    text = text.strip()
    if not 0 < len(text) <= MAX_TEXT:
        raise InvalidInput.field("text", f"Between 1 and {MAX_TEXT} characters.")
    return MemoryItem.objects.get_or_create(
        project_id=project_id,
        text_hash=_hash(text),
        defaults={
            "text": text,
            "kind": kind,
            "importance": importance,
            "source_run": source_run,
            "source_call": source_call,
        },
    )


def search(*, project_id: uuid.UUID, query: str, most: int = 10) -> list[dict[str, Any]]:
    """Items of the project with any of the words, best first; each says which words it has.

    All words at once would miss most of what is meant, so any of them counts and the rank decides.
    """
    words = list(dict.fromkeys(re.findall(r"\w+", query.lower())))[:MAX_WORDS]
    if not words:
        return []
    wanted = SearchQuery(words[0], config=CONFIG)
    for word in words[1:]:
        wanted |= SearchQuery(word, config=CONFIG)
    vector = SearchVector("text", config=CONFIG)
    found: QuerySet[MemoryItem] = (
        MemoryItem.objects.filter(project_id=project_id)
        .annotate(found=vector, rank=SearchRank(vector, wanted))
        .filter(found=wanted)
        .order_by((F("rank") * (0.75 + 0.5 * F("importance"))).desc(), "-created_at", "id")
    )
    return [_shown(item, words) for item in found[:most]]


def _shown(item: MemoryItem, words: list[str]) -> dict[str, Any]:
    text = item.text.lower()
    return {
        "id": str(item.pk),
        "text": item.text,
        "kind": item.kind,
        "importance": item.importance,
        "why": [word for word in words if word[:4] in text],
        "remembered_at": item.created_at.isoformat(),
        "source_run": str(item.source_run) if item.source_run else None,
    }


def _hash(text: str) -> str:
    return hashlib.sha256(" ".join(text.lower().split()).encode()).hexdigest()
