"""Memory as a run's tools reach it; what is remembered says which run it comes from."""

from __future__ import annotations

import uuid
from typing import Any

from apps.memory.services import items


class RunMemory:
    """Implements the MemoryPort for one run."""

    def __init__(self, run_id: uuid.UUID) -> None:
        self._run_id = run_id

    def search(self, project_id: uuid.UUID, query: str, *, most: int) -> list[dict[str, Any]]:
        return items.search(project_id=project_id, query=query, most=most)

    def remember(
        self, project_id: uuid.UUID, text: str, *, kind: str, importance: float, call_id: str
    ) -> dict[str, Any]:
        item, is_new = items.remember(
            project_id=project_id,
            text=text,
            kind=kind,
            importance=importance,
            source_run=self._run_id,
            source_call=call_id,
        )
        return {"id": str(item.pk), "is_new": is_new}
