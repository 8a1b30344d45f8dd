"""What a sink is, and what it is given."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

Line = dict[str, Any]
"""One event in the shape of `run-event.schema.json`."""


class Recorded(Protocol):
    """An event that is in the log."""

    def as_json(self) -> Line: ...


class Sink(Protocol):
    """Called by one thread only. It may raise and it may take long; that harms nobody else."""

    name: str

    def write(self, batch: list[Line]) -> None:
        """Take these events, in the order in which this process recorded them."""
        ...

    def close(self) -> None:
        """Nothing more will come."""
        ...


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What the events of one process may not say: another one may have begun the run."""

    run_kind: str
    started: datetime
    project_id: uuid.UUID | None = None
    thread_id: uuid.UUID | None = None
    parent_id: uuid.UUID | None = None


FindRun = Callable[[str], RunFacts | None]
