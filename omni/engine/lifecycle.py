"""The one table of legal changes of a run; the database holds the same one and enforces it."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """A run that waits for a timer or a child stays `running`; it holds no worker meanwhile."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING_PERMISSION = "waiting_permission"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


TERMINAL = frozenset({Status.DONE, Status.FAILED, Status.CANCELLED})

_ACTIVE = (Status.QUEUED, Status.RUNNING, Status.WAITING_PERMISSION)
LEGAL: frozenset[tuple[Status, Status]] = frozenset(
    {
        (Status.QUEUED, Status.RUNNING),
        (Status.RUNNING, Status.WAITING_PERMISSION),
        (Status.WAITING_PERMISSION, Status.RUNNING),
        (Status.RUNNING, Status.DONE),
        *((state, Status.FAILED) for state in _ACTIVE),
        *((state, Status.CANCELLED) for state in _ACTIVE),
    }
)


def is_legal(before: Status, after: Status) -> bool:
    return (before, after) in LEGAL
