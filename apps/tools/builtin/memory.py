"""What the project remembers: searched and added to."""

from __future__ import annotations

from apps.tools.executors.base import Call, Outcome


def search(call: Call) -> Outcome:
    found = call.run.memory.search(
        call.project_id, call.arguments["query"], most=int(call.arguments.get("most", 10))
    )
    return Outcome({"items": found})


def remember(call: Call) -> Outcome:
    """The call id makes a repetition after a crash harmless, as do the same words."""
    if call.dry_run:
        return Outcome({"id": "", "is_new": False})
    item = call.run.memory.remember(
        call.project_id,
        call.arguments["text"],
        kind=call.arguments.get("kind", "semantic"),
        importance=float(call.arguments.get("importance", 0.5)),
        call_id=call.call_id,
    )
    return Outcome(item)
