"""Histories of runs, appended as a worker would."""

from __future__ import annotations

import random
import uuid

from apps.runs import eventlog
from apps.runs.eventlog import Event, NewEvent, system
from apps.runs.models import Run


def step(number: int) -> NewEvent:
    return system("step_finished", {"step": f"s{number}", "output": {"number": number, "b": "é\n"}})


def write_steps(run: Run, count: int, *, batch: int = 1) -> None:
    for first in range(0, count, batch):
        eventlog.append(run.pk, [step(n) for n in range(first, min(first + batch, count))])


def change(run: Run, before: str, after: str, **about: str) -> None:
    eventlog.append(run.pk, [system("state_changed", {"from": before, "to": after, **about})])


def finish(run: Run) -> None:
    change(run, "queued", "running")
    change(run, "running", "done")


def ask(run: Run, title: str = "Delete the folder?") -> uuid.UUID:
    approval = uuid.uuid4()
    payload = {"approval_id": str(approval), "title": title, "options": ["allow", "deny"]}
    eventlog.append(run.pk, [system("approval_requested", payload)])
    return approval


def conversation(run: Run, chance: random.Random) -> list[Event]:
    """A recorded history with everything that AG-UI has a word for, and the untidy parts."""
    message, second, call = (str(uuid.UUID(int=chance.getrandbits(128), version=4)) for _ in "123")
    arguments = {"path": "/tmp/ü", "depth": 2}
    events = [
        system("state_changed", {"from": "queued", "to": "running"}),
        NewEvent("user_message", {"text": "Wie groß ist es?"}),
        system("step_started", {"step": "answer"}),
        NewEvent("assistant_message_delta", {"message_id": message, "index": 0, "text": "Let me "}),
        NewEvent("assistant_message_delta", {"message_id": message, "index": 1, "text": "look"}),
        NewEvent("assistant_message", {"message_id": message, "text": "Let me look."}),
        NewEvent(
            "tool_call",
            {
                "call_id": call,
                "tool": "files.size",
                "version": "1.0.0",
                "arguments": arguments,
                "idempotent": True,
            },
        ),
        NewEvent("tool_result", {"call_id": call, "output": {"bytes": 42}, "duration_ms": 3}),
        system("step_finished", {"step": "unannounced"}),
        NewEvent("assistant_message_delta", {"message_id": second, "index": 0, "text": "42 by"}),
        system("cancel_requested", {}),
        system("state_changed", {"from": "running", "to": "cancelled", "reason": "enough"}),
    ]
    eventlog.append(run.pk, events)
    return list(eventlog.read_all(run.pk))
